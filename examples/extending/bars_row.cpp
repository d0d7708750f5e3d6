// One row: the data of an experiment, of predictions and of `ood` may be tables of fields between bars.
#include "smile/data/table_formats.hpp"

smile::TableFormat bars_row() {
  return {.endings = {".psv"},
          .doc = "fields between vertical bars",
          .open = [](const std::filesystem::path& path, smile::TableOptions options) {
            options.delimiter = smile::Delimiter{'|'};
            return smile::open_csv_table(path, options);
          }};
}
