// SPDX-License-Identifier: Apache-2.0
#include "report/page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/plot.hpp"
#include "smile/evaluation/metrics.hpp"

namespace smile::report {
namespace {

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--page:#fdfdfc;--card:#fff;--ink:#1d2126;--quiet:#5a626c;--rule:#e2e5e9;
--s1:#1f66b5;--s2:#c2541b;--s3:#2e7d4f;--s4:#8a4fa8;--s5:#b0812a;--s6:#4b5563;
--c0:#1f66b5;--c1:#c2541b;--c2:#2e7d4f;--c3:#8a4fa8;--c4:#b0812a;--c5:#0f8b8d;--c6:#c23b6f;--c7:#6b7a1e;--c8:#7a5c3e;--c9:#4b5563;
--bar:#a9c6e8;--band:#e6ebf1;--warn:#fff5dc;--warn-edge:#c98a00;--good:#e9f5ee;--good-edge:#2e7d4f;
--bad:#fdecea;--bad-edge:#c0392b}
@media screen and (prefers-color-scheme:dark){:root{--page:#15181b;--card:#1b1f23;--ink:#e6e8ea;--quiet:#a2aab3;--rule:#32383e;
--s1:#74b3f5;--s2:#f3a06a;--s3:#7cc79b;--s4:#c79ae0;--s5:#dcb566;--s6:#aab2bb;
--c0:#74b3f5;--c1:#f3a06a;--c2:#7cc79b;--c3:#c79ae0;--c4:#dcb566;--c5:#5fd0d1;--c6:#f08fb4;--c7:#bccb62;--c8:#c9a884;--c9:#aab2bb;
--bar:#335a86;--band:#2a3138;--warn:#382d12;--warn-edge:#d9a520;--good:#17301f;--good-edge:#7cc79b;
--bad:#3b1e1b;--bad-edge:#f08a7e}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:84rem;padding:1.25rem 1rem 4rem;background:var(--page);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",sans-serif}
h1{font-size:1.45rem;font-weight:650;line-height:1.25;margin:0 0 .15rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;font-weight:650;margin:2.75rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--rule)}
h3{font-size:.95rem;font-weight:650;margin:0 0 .3rem}
.figures+h3,.figures+.wide{margin-top:2rem}
details{margin:.6rem 0}
.figures+details{margin-top:1.5rem}
.wide+.figures{margin-top:1.75rem}
p{margin:.4rem 0;max-width:46rem}
.quiet,figcaption{color:var(--quiet);font-size:.85rem;line-height:1.45}
td .quiet{font-size:inherit}
.first{display:grid;grid-template-columns:minmax(0,1.15fr) minmax(0,1fr);gap:1.25rem 2rem;margin-top:1rem}
@media (max-width:52rem){.first{grid-template-columns:minmax(0,1fr)}}
.tiles{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:.75rem;margin-bottom:.9rem}
.tile{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:.6rem .8rem;min-width:0}
.tile .what{color:var(--quiet);font-size:.8rem}
.tile .value{font-size:1.7rem;font-weight:650;line-height:1.2;font-variant-numeric:tabular-nums}
.tile .than{color:var(--quiet);font-size:.85rem}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .65rem;text-align:right;border-bottom:1px solid var(--rule);white-space:nowrap}
th.text,td.text{text-align:left}
th:first-child,td:first-child{padding-left:0}
th{font-weight:600;color:var(--quiet);vertical-align:bottom}
td.text{white-space:normal}
td.text:not(:first-child){min-width:7rem}
tbody td:first-child{white-space:nowrap}
@media (max-width:34rem){table{font-size:.8rem}th,td{padding:.28rem .2rem}
th,tbody td:first-child{white-space:normal}}
.figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:2rem 1.75rem}
figure{margin:0;min-width:0}
svg{width:100%;height:auto;display:block}
.tick,.label{font-size:11px;fill:var(--quiet)}
.grid{stroke:var(--rule);fill:none}
.axis{stroke:var(--quiet);fill:none}
.line{fill:none;stroke-width:1.8;stroke-linejoin:round}
.series-1{stroke:var(--s1)}.series-2{stroke:var(--s2)}.series-3{stroke:var(--s3)}
.series-4{stroke:var(--s4)}.series-5{stroke:var(--s5)}.series-6{stroke:var(--s6)}
.dot{stroke:none;fill-opacity:.85}
.dot.series-1{fill:var(--s1)}.dot.series-2{fill:var(--s2)}
.dot.faint{fill:var(--s1);fill-opacity:.35}
.many{stroke:var(--s1);stroke-width:1;stroke-opacity:.45}
.many.odd{stroke:var(--s2);stroke-width:1.4;stroke-opacity:1}
.many.c0{stroke:var(--c0)}.many.c1{stroke:var(--c1)}.many.c2{stroke:var(--c2)}.many.c3{stroke:var(--c3)}
.many.c4{stroke:var(--c4)}.many.c5{stroke:var(--c5)}.many.c6{stroke:var(--c6)}.many.c7{stroke:var(--c7)}
.many.c8{stroke:var(--c8)}.many.c9{stroke:var(--c9)}
.many.one{stroke-width:1.2;stroke-opacity:.8}.many.one.odd{stroke-width:2.2;stroke-opacity:1}
.confusion td span.right,.confusion td span.wrong{display:block;padding:.1rem .35rem;border-radius:.2rem}
.confusion td span.right{background:color-mix(in srgb,var(--good-edge) calc(var(--share)*.45),transparent)}
.confusion td span.wrong{background:color-mix(in srgb,var(--bad-edge) calc(var(--share)*.9),transparent)}
.confusion td{padding:.1rem .15rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem 2.5rem;margin-top:2rem}
.pair>div{min-width:0}.pair>div:empty{display:none}.pair *+h3{margin-top:1.5rem}
.expert>summary{font-size:1.15rem;font-weight:650;color:var(--ink);margin:2.75rem 0 .6rem;padding-top:.9rem;
border-top:1px solid var(--rule)}
.thin{stroke-width:1.2}
.reference{stroke:var(--quiet);stroke-width:1.2;stroke-dasharray:5 4}
.dashed{stroke-dasharray:5 4;stroke-width:1.4}
.bar{fill:var(--bar)}
.band{fill:var(--band);stroke:none}
.key{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.8rem;color:var(--quiet);margin:.15rem 0 .25rem}
.key svg{display:inline-block;width:22px;height:10px;margin-right:.35rem;vertical-align:middle}
.verdict{font-size:1.06rem;line-height:1.55;max-width:80ch;margin:.2rem 0 .9rem}
.note{border-left:4px solid var(--rule);background:var(--card);padding:.45rem .75rem;margin:.5rem 0;max-width:none;
overflow-wrap:anywhere}
.note .try{color:var(--quiet)}
.note.warning{background:var(--warn);border-color:var(--warn-edge)}
.note.failure{background:var(--bad);border-color:var(--bad-edge)}
.note.good{background:var(--good);border-color:var(--good-edge)}
.badge{display:inline-block;border-radius:1rem;padding:0 .55rem;font-size:.8rem;background:var(--band);white-space:nowrap}
.badge.good{background:var(--good);color:var(--good-edge)}
.badge.warning{background:var(--warn)}
.badge.failure{background:var(--bad);color:var(--bad-edge)}
pre{overflow-x:auto;font-size:.78rem;line-height:1.4;max-width:100%}
summary{cursor:pointer;color:var(--quiet)}
a{color:var(--s1)}
@media print{:root{color-scheme:light;--page:#fff;font-size:11px}
body{max-width:none;padding:0;font-size:11px;-webkit-print-color-adjust:exact;print-color-adjust:exact}
.first,.figures{grid-template-columns:repeat(2,minmax(0,1fr))}
.figures{gap:1.5rem}
figure,tr,.tile,.note{break-inside:avoid}
h2,h3,.key,thead{break-after:avoid}
h2{margin-top:1.75rem}
p{orphans:3;widows:3}
.wide{overflow:visible}
details:not([open]),h2:has(+details:not([open])){display:none}
pre{white-space:pre-wrap;overflow-wrap:anywhere}}
)";

}  // namespace

std::string page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{}</title><style>{}</style></head>\n<body>\n{}</body></html>\n",
      escaped(title), kStyle, body);
}

std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                  std::size_t text_columns) {
  const auto kind = [&](std::size_t column) { return column < text_columns ? " class=\"text\"" : ""; };
  std::string out = "<div class=\"wide\"><table><thead><tr>";
  for (std::size_t j = 0; j < head.size(); ++j)
    out += fmt::format("<th scope=\"col\"{}>{}</th>", kind(j), escaped(head[j]));
  out += "</tr></thead><tbody>\n";
  for (const auto& row : rows) {
    out += "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j)
      out += fmt::format("<td{}>{}</td>", kind(j), row[j].is_html ? row[j].text : escaped(row[j].text));
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string figure(std::string_view heading, std::string_view svg, std::string_view caption, const Key& key) {
  std::string legend;
  for (const auto& [style, name] : key) {
    const bool dot = style.starts_with("dot");
    legend += fmt::format("<span><svg viewBox=\"0 0 22 10\" aria-hidden=\"true\">{}</svg>{}</span>",
                          dot ? fmt::format("<circle class=\"{}\" cx=\"11\" cy=\"5\" r=\"3.5\"/>", style)
                          : style.starts_with("bar") || style.starts_with("band")
                              ? fmt::format("<rect class=\"{}\" width=\"22\" height=\"10\"/>", style)
                              : fmt::format("<path class=\"line {}\" d=\"M0 5H22\"/>", style),
                          escaped(name));
  }
  if (!legend.empty()) legend = "<div class=\"key\">" + legend + "</div>";
  return fmt::format("<figure><h3>{}</h3>{}{}<figcaption>{}</figcaption></figure>\n", escaped(heading),
                     legend, svg, escaped(caption));
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

std::string number(double value) {
  if (std::isnan(value)) return "–";
  std::string text = fmt::format("{:.4g}", value);
  if (text[0] == '-') text.replace(0, 1, "−");
  return text;
}

std::string percent(double share) {
  return std::isnan(share) ? std::string("–") : fmt::format("{:.1f} %", 100 * share);
}

std::string metric_text(std::string_view label, double value) {
  const KnownMetric known = find_metric(label);
  return known.row != nullptr && known.row->is_share ? percent(value) : number(value);
}

std::string grouped(double count) {
  std::string digits = fmt::format("{:.0f}", count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

}  // namespace smile::report
