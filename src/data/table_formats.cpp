// SPDX-License-Identifier: Apache-2.0
#include "smile/data/table_formats.hpp"

#include <algorithm>
#include <utility>

#include "smile/error.hpp"

namespace smile {
namespace {

bool has_ending(const TableFormat& format, const std::string& ending) {
  return std::find(format.endings.begin(), format.endings.end(), ending) != format.endings.end();
}

std::vector<TableFormat>& all_formats() {
  static std::vector<TableFormat> formats{
      {.endings = {".data"},
       .doc =
           "fields between blanks or tabs, or as .csv where data.delimiter is given; also all other endings",
       .open =
           [](const std::filesystem::path& path, const TableOptions& options) {
             return options.delimiter == Delimiter::detect ? open_data_table(path, options)
                                                           : open_csv_table(path, options);
           }},
      {.endings = {".csv"},
       .doc = "fields between commas, semicolons or tabs (RFC 4180)",
       .open = open_csv_table},
      {.endings = {".tsv"},
       .doc = "fields between tabs, or what data.delimiter names",
       .open =
           [](const std::filesystem::path& path, TableOptions options) {
             if (options.delimiter == Delimiter::detect) options.delimiter = Delimiter::tab;
             return open_csv_table(path, options);
           }},
      {.endings = {".npy"}, .doc = "a NumPy array of two dimensions", .open = open_npy_table},
  };
  return formats;
}

}  // namespace

std::span<const TableFormat> table_formats() {
  return all_formats();
}

void add_table_format(TableFormat format) {
  for (const TableFormat& known : all_formats())
    for (const std::string& ending : format.endings)
      if (has_ending(known, ending))
        throw Error("table format " + ending, "the ending has a reader already (" + known.doc + ")",
                    "choose another ending");
  all_formats().push_back(std::move(format));
}

const TableFormat& table_format_of(const std::filesystem::path& path) {
  std::string ending = path.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const TableFormat& format : all_formats())
    if (has_ending(format, ending)) return format;
  return all_formats().front();
}

}  // namespace smile
