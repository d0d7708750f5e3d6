#include "report/page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/plot.hpp"

namespace smile::report {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--page:#fff;--ink:#1c1f23;--quiet:#5b636d;--rule:#dfe3e8;--one:#0b62c4;--two:#c2410c;
--bar:#9dbfe6;--warn:#fff4d6;--warn-edge:#c98a00}
@media (prefers-color-scheme:dark){:root{--page:#14171a;--ink:#e8eaed;--quiet:#a0a8b1;--rule:#33393f;--one:#6db1ff;
--two:#ffa066;--bar:#31557f;--warn:#3a2f12;--warn-edge:#d9a520}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
h1{font-size:1.5rem;line-height:1.2;margin:.5rem 0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .5rem}
h3{font-size:1rem;margin:0 0 .25rem}
p{margin:.4rem 0}
.quiet,figcaption{color:var(--quiet);font-size:.875rem}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .6rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th:first-child,td:first-child{text-align:left;padding-left:0}
th{font-weight:600}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1.5rem}
figure{margin:0}
svg{width:100%;height:auto;display:block}
.tick,.label{font-size:11px;fill:var(--quiet)}
.grid{stroke:var(--rule);fill:none}
.axis{stroke:var(--quiet);fill:none}
.line{fill:none;stroke-width:1.8}
.series-1{stroke:var(--one)}.series-2{stroke:var(--two)}
.dot.series-1{fill:var(--one);stroke:none}
.many{stroke:var(--one);stroke-width:1;stroke-opacity:.45}
.reference{stroke:var(--quiet);stroke-width:1.2;stroke-dasharray:5 4}
.bar{fill:var(--bar)}
.warning{background:var(--warn);border-left:4px solid var(--warn-edge);padding:.4rem .7rem;margin:.4rem 0;
overflow-wrap:anywhere}
pre{overflow-x:auto;font-size:.8rem;line-height:1.35}
summary{cursor:pointer}
@media print{body{max-width:none}figure,tr{break-inside:avoid}}
)";

}  // namespace

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><style>{}</style></head>\n<body>\n{}</body></html>\n",
      escaped(title), kStyle, body);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (const auto& cell : head) out += fmt::format("<th scope=\"col\">{}</th>", escaped(cell));
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (const auto& cell : row) out += fmt::format("<td>{}</td>", escaped(cell));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figure(std::string_view heading, std::string_view svg, std::string_view caption) {
  return fmt::format("<figure><h3>{}</h3>{}<figcaption>{}</figcaption></figure>\n", escaped(heading), svg,
                     escaped(caption));
}

std::string number(double value) {
  if (std::isnan(value)) return "–";
  return fmt::format("{:.4g}", value);
}

}  // namespace smile::report
