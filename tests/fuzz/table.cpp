// SPDX-License-Identifier: Apache-2.0
/// Tables of text: the first byte chooses among the options.
#include "fuzz.hpp"
#include "smile/data/dataset.hpp"

SMILE_FUZZ(input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input[0]);
  smile::TableOptions options;
  if (choice & 1) options.header = (choice & 2) != 0;
  options.decimal_comma = (choice & 4) != 0;
  options.missing = (choice & 8) ? smile::MissingPolicy::mean : smile::MissingPolicy::error;
  const auto path = smile::fuzz::file_of(input.substr(1), "table.csv");
  smile::fuzz::read_or_refuse([&] {
    const smile::Table table = smile::read_table(path, options);
    static_cast<void>(smile::table_remarks(table));
    smile::DatasetOptions how;
    if (choice & 16) how.task = smile::Task::classification;
    static_cast<void>(smile::assemble_dataset(table, how));
  });
}
