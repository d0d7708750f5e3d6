/// The frame of a report: head, style sheet, tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smile::report {

/// A whole page around `body`.
std::string page(std::string_view title, std::string_view body);

/// A table that scrolls sideways on narrow screens; cells are text and are escaped. The first column is
/// left-aligned, the others right-aligned.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

/// A picture with its heading and a sentence that says how to read it.
std::string figure(std::string_view heading, std::string_view svg, std::string_view caption);

/// Four significant digits; "–" for what does not apply.
std::string number(double value);

}  // namespace smile::report
