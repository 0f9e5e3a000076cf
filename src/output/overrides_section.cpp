#include "output/overrides_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "output/section_tools.h"

namespace pyrometer::output {
namespace {

struct Row {
  OverrideWord word;
  std::int64_t ranks = 0;
};

}  // namespace

std::vector<OverrideWord> overrides_of(const model::RecordedRun& run) {
  constexpr std::string_view kPrefix = "override.";
  constexpr std::string_view kColon = ": ";
  std::vector<OverrideWord> words;
  for (const auto& [key, value] : run.info) {
    if (!key.starts_with(kPrefix)) continue;
    OverrideWord word{.id = std::string_view(key).substr(kPrefix.size()), .state = {}, .text = {}};
    const std::string_view all = value;
    const std::size_t colon = all.find(kColon);
    word.state = all.substr(0, colon);
    if (colon != all.npos) word.text = all.substr(colon + kColon.size());
    words.push_back(word);
  }
  return words;
}

Section overrides_section(const Report& report) {
  std::vector<Row> rows;
  std::int64_t ranks = 0;
  for (const model::RankTimeline& rank : report.timeline.ranks) {
    if (rank.run == nullptr) continue;
    ++ranks;
    for (const OverrideWord& word : overrides_of(*rank.run)) {
      const auto same = std::find_if(rows.begin(), rows.end(), [&word](const Row& row) {
        return row.word.id == word.id && row.word.state == word.state && row.word.text == word.text;
      });
      if (same != rows.end()) {
        ++same->ranks;
      } else {
        rows.push_back({word, 1});
      }
    }
  }
  Section section;
  if (rows.empty()) return section;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.word.id < b.word.id; });
  section.title = "Changed by --with";
  section.note = "These figures are of the training with these changes.";
  section.table.columns = {text_column("override"), text_column("state"), text_column("what")};
  for (const Row& row : rows) {
    std::string text(row.word.text);
    if (row.ranks < ranks) text += fmt::format(" ({} of {} ranks)", row.ranks, ranks);
    section.table.rows.push_back(
        {std::string(row.word.id), std::string(row.word.state), std::move(text)});
  }
  return section;
}

}  // namespace pyrometer::output
