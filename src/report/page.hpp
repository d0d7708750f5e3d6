// SPDX-License-Identifier: Apache-2.0
/// The frame of a report: head, style sheet, tables.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smile::report {

/// A whole page around `body`. Its content security policy forbids every request.
std::string page(std::string_view title, std::string_view body);

/// Text of a cell as it stands in the page, or HTML that is already escaped.
struct Cell {
  Cell(std::string text_) : text(std::move(text_)) {}
  Cell(const char* text_) : text(text_) {}
  static Cell html(std::string markup) {
    Cell cell(std::move(markup));
    cell.is_html = true;
    return cell;
  }
  std::string text;
  bool is_html = false;
};

/// A table that scrolls sideways on narrow screens. The first `text_columns` columns are left-aligned, the
/// others right-aligned.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                  std::size_t text_columns = 1);

/// Entries of a legend: style of the line or dot, its name.
using Key = std::vector<std::pair<std::string, std::string>>;

/// A picture with its heading, legend, and a sentence that says how to read it.
std::string figure(std::string_view heading, std::string_view svg, std::string_view caption,
                   const Key& key = {});

/// With a capital first letter.
std::string capitalised(std::string text);

/// Four significant digits with a true minus sign; "–" for what does not apply.
std::string number(double value);
/// 0.93018 as "93.0 %", wherever a share stands; "–" for what does not apply.
std::string percent(double share);
/// The value of a metric as all of a report writes it. @param label  of a row of metrics()
std::string metric_text(std::string_view label, double value);
/// 150000 as "150,000".
std::string grouped(double count);

}  // namespace smile::report
