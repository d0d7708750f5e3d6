// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "config/schema.hpp"
#include "report/page.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile::report {
namespace {

/// Keys that say which repetition a run is and where its files go, not what it does.
bool is_of_repetition(std::string_view key) {
  return key == "rng" || key == "saving_dir" || key == "experiment_name" || key == "logging" ||
         key == "logging_level" || key == "training.warmstart.warmstart_exp_dir" || key == "evaluations" ||
         key.starts_with("evaluation_args.");
}

using Values = std::map<std::string, std::string>;  // key → value

Values values_of(const Config& config) {
  Values values;
  for (const auto& key : schema::keys())
    if (!is_of_repetition(key.path)) values[std::string(key.path)] = schema::value_text(key, config);
  return values;
}

std::string last_part(const std::string& key) {
  return key.substr(key.rfind('.') + 1);
}

/// The sampler's name, and the keys in which groups of that sampler on the same data differ.
void name_groups(std::vector<Group>& groups, const std::vector<Values>& values) {
  constexpr const char* kSampler = "training.sampler.name";
  std::vector<std::string> differing;
  for (const auto& [key, first] : values.front())
    if (key != kSampler && key != "data.path" &&
        std::any_of(values.begin(), values.end(),
                    [&key = key, &first = first](const Values& v) { return v.at(key) != first; }))
      differing.push_back(key);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    groups[g].name = values[g].at(kSampler);
    for (const std::string& key : differing) {
      bool tells = false;
      for (std::size_t h = 0; h < groups.size(); ++h)
        tells = tells || (values[h].at(kSampler) == values[g].at(kSampler) &&
                          groups[h].data == groups[g].data && values[h].at(key) != values[g].at(key));
      if (tells) groups[g].name += fmt::format(", {} {}", last_part(key), values[g].at(key));
    }
  }
}

void find_best(ComparisonTable& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const KnownMetric known = find_metric(table.columns[column].metric);
    if (!known.row || known.row->better == Better::neither) continue;
    const auto badness = [&](const Entry& e) {
      switch (known.row->better) {
        case Better::higher:
          return -e.mean;
        case Better::lower:
          return e.mean;
        default:
          return std::abs(e.mean - known.nominal);
      }
    };
    struct Range {
      double least, most;
    };
    std::map<std::string, Range> ranges;  // by data
    for (const Group& group : table.groups) {
      const Entry& e = group.entries[column];
      if (!std::isfinite(e.mean)) continue;
      Range& range = ranges.try_emplace(group.data, Range{badness(e), badness(e)}).first->second;
      range.least = std::min(range.least, badness(e)), range.most = std::max(range.most, badness(e));
    }
    for (Group& group : table.groups) {
      Entry& e = group.entries[column];
      if (!std::isfinite(e.mean)) continue;
      const Range& range = ranges.at(group.data);
      // Where all are equal, or there is but one, none is the best.
      e.best = range.least < range.most && badness(e) == range.least;
    }
  }
}

std::string latex_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '_' || c == '%' || c == '&' || c == '#' || c == '$' || c == '{' || c == '}') out += '\\';
    out += c;
  }
  return out;
}

std::string quoted(const std::string& text) {
  std::string out(1, '"');
  for (const char c : text) out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

std::string plain(double value) {
  return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value);
}

/// Decimals that show the sd's first two digits, or four significant digits of the mean where there is none.
int decimals_of(const Entry& e) {
  const double size = std::isfinite(e.sd) && e.sd > 0 ? e.sd * 100 : std::abs(e.mean);
  if (!(size > 0)) return 3;
  const int digits = 3 - int(std::floor(std::log10(size) + 1e-9));
  return std::clamp(digits, 0, 6);
}

}  // namespace

ComparisonTable compare(std::span<const RunFiles> runs) {
  ComparisonTable table;
  std::vector<Values> values;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Values own = values_of(runs[i].config);
    const auto known = std::find(values.begin(), values.end(), own);
    if (known != values.end()) {
      table.groups[std::size_t(known - values.begin())].runs.push_back(i);
      continue;
    }
    table.groups.push_back({std::filesystem::path(runs[i].config.data.path).stem().string(), {}, {i}, {}});
    values.push_back(std::move(own));
  }
  name_groups(table.groups, values);
  for (const RunFiles& run : runs)
    for (const MetricRow& row : run.metrics.metrics)
      for (const Alternative<Phase>& phase : Named<Phase>::all) {
        const Column column{row.name, phase.value};
        const bool known =
            std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end();
        if (!known && std::isfinite(run.metric(column.metric, column.phase))) table.columns.push_back(column);
      }
  for (Group& group : table.groups)
    for (const Column& column : table.columns) {
      RunningMoments moments;
      Entry entry;
      for (const std::size_t i : group.runs)
        if (const double v = runs[i].metric(column.metric, column.phase); std::isfinite(v))
          moments.add(v), ++entry.runs;
      if (entry.runs > 0) entry.mean = moments.mean();
      if (entry.runs > 1) entry.sd = std::sqrt(moments.sample_variance());
      group.entries.push_back(entry);
    }
  std::stable_sort(table.groups.begin(), table.groups.end(),
                   [](const Group& a, const Group& b) { return a.data < b.data; });
  find_best(table);
  return table;
}

std::string text_of(const Entry& e) {
  if (e.runs == 0) return "–";
  const int decimals = decimals_of(e);
  std::string text = fmt::format("{:.{}f}", e.mean, decimals);
  if (text[0] == '-') text.replace(0, 1, "−");
  if (std::isfinite(e.sd)) text += fmt::format(" ± {:.{}f}", e.sd, decimals);
  return text;
}

std::string csv_of(const ComparisonTable& table) {
  std::string text = "data,method,runs";
  for (const auto& column : table.columns)
    text += "," + quoted(column.label() + " mean") + "," + quoted(column.label() + " sd");
  text += "\n";
  for (const Group& group : table.groups) {
    text += fmt::format("{},{},{}", quoted(group.data), quoted(group.name), group.runs.size());
    for (const Entry& e : group.entries) text += fmt::format(",{},{}", plain(e.mean), plain(e.sd));
    text += "\n";
  }
  return text;
}

std::string latex_of(const ComparisonTable& table) {
  std::string text = "% \\usepackage{booktabs}\n% Mean and standard deviation over runs; the best in bold.\n";
  for (std::size_t first = 0; first < table.groups.size();) {
    std::size_t last = first;
    while (last < table.groups.size() && table.groups[last].data == table.groups[first].data) ++last;
    // Only columns that a group of this data has.
    std::vector<std::size_t> shown;
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      for (std::size_t g = first; g < last; ++g)
        if (table.groups[g].entries[c].runs > 0) {
          shown.push_back(c);
          break;
        }
    text += fmt::format("% data: {}\n\\begin{{tabular}}{{l{}}}\n\\toprule\nmethod", table.groups[first].data,
                        std::string(shown.size(), 'r'));
    for (const std::size_t c : shown) text += " & " + latex_escaped(table.columns[c].label());
    text += " \\\\\n\\midrule\n";
    for (std::size_t g = first; g < last; ++g) {
      text += latex_escaped(table.groups[g].name);
      for (const std::size_t c : shown) {
        const Entry& e = table.groups[g].entries[c];
        if (e.runs == 0) {
          text += " & --";
          continue;
        }
        const int decimals = decimals_of(e);
        std::string cell = fmt::format("{:.{}f}", e.mean, decimals);
        if (e.best) cell = "\\mathbf{" + cell + "}";
        if (std::isfinite(e.sd)) cell += fmt::format(" \\pm {:.{}f}", e.sd, decimals);
        text += " & $" + cell + "$";
      }
      text += " \\\\\n";
    }
    text += "\\bottomrule\n\\end{tabular}\n";
    first = last;
  }
  return text;
}

}  // namespace smile::report
