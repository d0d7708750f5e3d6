// SPDX-License-Identifier: Apache-2.0
/// Debian's Chromium, without a window, as a judge of pages.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "support/temporary_folder.hpp"

namespace smile::test {

inline bool has_browser() {
  return std::filesystem::exists("/usr/bin/chromium");
}

/// What the browser made of a page: its DOM after the scripts ran, and what it said on stderr.
struct Visit {
  int status = -1;
  std::string dom, said;
};

/// Opens a file and lets it settle. One launch takes a second or two.
inline Visit visit(const std::filesystem::path& page) {
  TemporaryFolder folder;
  const std::string command =
      "timeout 100 /usr/bin/chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--disable-background-networking --disable-component-update --no-first-run --host-resolver-rules='MAP "
      "* "
      "~NOTFOUND' --enable-logging=stderr --v=0 --virtual-time-budget=4000 --user-data-dir='" +
      (folder / "profile").string() + "' --dump-dom 'file://" + page.string() + "' > '" +
      (folder / "dom").string() + "' 2> '" + (folder / "said").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content_of(folder / "dom"),
          content_of(folder / "said")};
}

/// Pages that a file takes on paper.
inline int printed_pages(const std::filesystem::path& page) {
  TemporaryFolder folder;
  const std::string command =
      "timeout 100 /usr/bin/chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage "
      "--disable-background-networking --no-first-run --user-data-dir='" +
      (folder / "profile").string() + "' --print-to-pdf='" + (folder / "pdf").string() + "' 'file://" +
      page.string() + "' > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  const std::string pdf = content_of(folder / "pdf"), mark = "/Type /Page\n";
  int pages = 0;
  for (auto at = pdf.find(mark); at != std::string::npos; at = pdf.find(mark, at + 1)) ++pages;
  return pages;
}

/// Text for an attribute in double quotes.
inline std::string for_attribute(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// Looks at a page at several widths in one launch: each in a frame of that width.
/// @return one object a width: its width, the tables cut there, the width its content wants, its figures and
/// what is wrong with them,
///         and the requests it made
inline nlohmann::json look_at(const std::string& html, const std::vector<int>& widths) {
  std::string frames;
  for (const int width : widths)
    frames += "<iframe style=\"border:0;height:900px;width:" + std::to_string(width) + "px\" srcdoc=\"" +
              for_attribute(html) + "\"></iframe>\n";
  TemporaryFolder folder;
  const auto page =
      folder.write("look.html", "<!doctype html><meta charset=utf-8><body>" + frames + R"(<pre id=out></pre>
<script>
addEventListener('load', () => {
  const seen = [...document.querySelectorAll('iframe')].map(frame => {
    const d = frame.contentDocument, w = frame.contentWindow;
    d.querySelectorAll('details.expert').forEach(e => e.open = true);
    const wide = [...d.querySelectorAll('body *')].filter(e => {
      if (e.closest('.wide, pre, details:not([open])')) return false;
      const box = e.getBoundingClientRect();
      return box.width > 0 && (box.right > w.innerWidth + 1 || box.left < -1);
    }).map(e => e.tagName + '.' + (e.className.baseVal ?? e.className));
    const figures = [...d.querySelectorAll('figure')].map(f => {
      const svg = f.querySelector(':scope > svg'), box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
      const marks = svg ? [...svg.querySelectorAll('.line:not(.reference), .dot, .bar')].filter(m => {
        const b = m.getBBox(); return b.width + b.height > 0; }).length : 0;
      const outside = svg ? [...svg.querySelectorAll('text')].filter(t => {
        const b = t.getBoundingClientRect(); return b.left < box.left - 1 || b.right > box.right + 1; }).length : 0;
      return {heading: f.querySelector('h3')?.textContent, width: box.width, height: box.height, marks, outside};
    });
    const cut = [...d.querySelectorAll('.wide')].filter(e => !e.closest('details:not([open])') &&
      e.scrollWidth > e.clientWidth + 1).map(e => e.innerText.slice(0, 40));
    return {cut, width: w.innerWidth, wants: d.documentElement.scrollWidth, wide, figures,
            requests: w.performance.getEntriesByType('resource').map(r => r.name),
            text: d.body.innerText.length, calibration: d.querySelector('.first figure')?.getBoundingClientRect().top,
            lppd: d.querySelector('.tile')?.getBoundingClientRect().top,
            warning: d.querySelector('.note')?.getBoundingClientRect().top};
  });
  document.getElementById('out').textContent = 'SEEN' + JSON.stringify(seen) + 'END';
});
</script>)");
  const Visit seen = visit(page);
  EXPECT_EQ(seen.status, 0) << seen.said;
  const auto first = seen.dom.find(">SEEN"), last = seen.dom.rfind("END<");
  if (first == std::string::npos || last == std::string::npos) {
    ADD_FAILURE() << "the page did not answer: " << seen.said;
    return nlohmann::json::array();
  }
  std::string text = seen.dom.substr(first + 5, last - first - 5);
  for (const auto& [entity, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    for (auto at = text.find(entity); at != std::string::npos; at = text.find(entity, at + 1))
      text.replace(at, std::string(entity).size(), sign);
  return nlohmann::json::parse(text);
}

}  // namespace smile::test
