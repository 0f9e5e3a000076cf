#include "readout/process_rows.h"

#include <algorithm>

#include "output/display.h"
#include "output/units.h"

namespace pyrometer::readout {
namespace {

using output::Ink;

constexpr int kIndent = 5;
constexpr std::size_t kShownOfId = 12;  // as docker ps does

std::string text_or_dash(const Value& value) {
  return value.text() != nullptr ? *value.text() : "–";
}

// Rank, job, pod or container, and whether it is being recorded: most processes have none of them,
// and no reason is needed then.
std::string place_of(const sources::ProcessOwner& owner) {
  std::string place;
  const auto add = [&place](const std::string& part) {
    place += (place.empty() ? "" : ", ") + part;
  };
  if (const double* rank = owner.rank.number()) {
    add("rank " + std::to_string(static_cast<long long>(*rank)));
  }
  if (const std::string* job = owner.slurm_job.text()) add("Slurm job " + *job);
  const std::string* pod = owner.pod.text();
  if (pod != nullptr) {
    const std::string* name_space = owner.pod_namespace.text();
    add("pod " + (name_space == nullptr ? *pod : *name_space + "/" + *pod));
  } else if (const std::string* id = owner.container.text()) {
    add("container " + id->substr(0, kShownOfId));
  }
  if (!owner.recording.is_missing()) add("recorded");
  return place;
}

std::vector<std::string> cells_of(const Process& process) {
  const sources::ProcessOwner& owner = process.owner;
  const double* bytes = process.memory.number();
  const std::string* arguments = owner.arguments.text();
  return {text_or_dash(owner.user), std::to_string(process.pid),
          bytes == nullptr ? "–" : output::format_bytes(*bytes),
          arguments != nullptr ? *arguments : text_or_dash(owner.program), place_of(owner)};
}

}  // namespace

ProcessRows::ProcessRows(const Snapshot& snapshot, int width, bool unicode) : unicode_(unicode) {
  using output::Align;
  using output::Shorten;
  table_.columns = {{"user", Align::kLeft, Shorten::kMiddle},
                    {"pid", Align::kRight},
                    {"GPU memory", Align::kRight},
                    {"program", Align::kLeft, Shorten::kMiddle},
                    {"", Align::kLeft, Shorten::kMiddle, 1}};
  for (const Device& device : snapshot.devices) {
    for (const Process& process : device.processes) {
      owners_.emplace_back(&device, table_.rows.size());
      table_.rows.push_back(cells_of(process));
    }
  }
  layout_ = output::lay_out(table_, std::clamp(width, 40, 160) - kIndent, unicode);
}

void ProcessRows::put_row(output::Page& page, const std::vector<std::string>& cells,
                          Ink ink) const {
  std::string row(kIndent, ' ');
  for (std::size_t k = 0; k < layout_.columns.size(); ++k) {
    const output::Column& column = table_.columns[layout_.columns[k]];
    const int width = layout_.widths[k];
    const std::string cell = output::fit_cell(cells[layout_.columns[k]], column, width, unicode_);
    row += column.align == output::Align::kRight ? output::pad_left(cell, width)
                                                 : output::pad_right(cell, width);
    row.append(output::kColumnGap, ' ');
  }
  while (row.ends_with(' ')) row.pop_back();
  page.line({{row, ink}});
}

void ProcessRows::put_titles(output::Page& page) const {
  std::vector<std::string> titles;
  for (const output::Column& column : table_.columns) titles.push_back(column.title);
  put_row(page, titles, Ink::kFaint);
}

void ProcessRows::put(output::Page& page, const Device& device) const {
  for (const auto& [owner, row] : owners_) {
    if (owner == &device) put_row(page, table_.rows[row], Ink::kPlain);
  }
}

std::vector<std::pair<std::string_view, const Value*>> shown_values(const Process& process) {
  return {{"user", &process.owner.user},
          {"program", &process.owner.program},
          {"GPU memory", &process.memory}};
}

}  // namespace pyrometer::readout
