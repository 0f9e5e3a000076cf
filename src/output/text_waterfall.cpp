#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

#include "cost/price.h"
#include "output/bars.h"
#include "output/display.h"
#include "output/summary.h"
#include "output/text_parts.h"
#include "output/units.h"
#include "output/waterfall_view.h"

namespace pyrometer::output {
namespace {

constexpr int kIndent = 2;
constexpr int kNesting = 2;  // of causes under their half
constexpr int kGap = 2;
constexpr int kWidestLabel = 36;
constexpr int kNarrowestLabel = 18;
constexpr int kWidestBar = 40;
constexpr int kNarrowestBar = 8;

Ink ink_of(const WaterfallRow& row) {
  if (row.avoidable) return Ink::kWarn;
  switch (row.group) {
    case model::CauseGroup::kCompute:
      return Ink::kGood;
    case model::CauseGroup::kComm:
    case model::CauseGroup::kCopy:
      return Ink::kInfo;
    case model::CauseGroup::kIdle:
    case model::CauseGroup::kUnattributed:
      break;
  }
  return Ink::kPlain;
}

// A column of numbers to the right of the bars.
struct Numbers {
  std::string title;
  std::function<std::string(const WaterfallRow&)> text;
  int width = 0;
};

// Time per step, or in the whole window where there are no steps; then money, where priced.
std::vector<Numbers> number_columns(const Report& report, model::DurationNs total) {
  const cost::Usage usage = cost::usage_of(report.job);
  std::vector<Numbers> columns;
  const std::optional<double> step = usage.step_ns();
  DurationUnit unit = duration_unit(step.value_or(static_cast<double>(total)));
  if (unit.ns > 1) ++unit.decimals;  // the parts are smaller than the whole
  const auto steps = usage.gpu_steps;
  columns.push_back({std::string(unit.name) + (step ? "/step" : ""), [=](const WaterfallRow& row) {
                       return unit.format(step ? static_cast<double>(row.step_time) / steps
                                               : static_cast<double>(row.time));
                     }});
  if (report.price) {
    const double day = cost::usd_per_day(1, usage.gpus, *report.price);
    const auto whole = static_cast<double>(total);
    columns.push_back({"$/day", [=](const WaterfallRow& row) {
                         return format_usd_part(day * static_cast<double>(row.time) / whole, day);
                       }});
  }
  return columns;
}

// The line of a half.
WaterfallRow row_of(const WaterfallHalf& half, bool idle) {
  return {.label = idle ? "GPU idle" : "GPU busy",
          .time = half.time,
          .step_time = half.step_time,
          .tenths = half.tenths};
}

struct Columns {
  int label = 0;
  int bar = 0;  // 0: no room for bars
  std::vector<Numbers> numbers;
  std::string left_out;  // the title of a column that there is no room for
};

int label_width(const WaterfallView& view) {
  int width = 0;
  for (const WaterfallHalf* half : {&view.busy, &view.idle}) {
    for (const WaterfallRow& row : half->rows) {
      width = std::max(width, kNesting + display_width(row.label));
      for (const WaterfallPart& part : row.parts) {
        width = std::max(width, 2 * kNesting + display_width(part.label));
      }
    }
  }
  return std::min(width, kWidestLabel);
}

// Where room is short, bars go first, then the label gives way, then money (times stay).
Columns arrange(const WaterfallView& view, const Report& report, int page_width) {
  Columns columns;
  columns.numbers = number_columns(report, view.total);
  for (Numbers& numbers : columns.numbers) {
    numbers.width = display_width(numbers.title);
    for (const WaterfallHalf* half : {&view.busy, &view.idle}) {
      numbers.width = std::max(numbers.width, display_width(numbers.text(row_of(*half, false))));
      for (const WaterfallRow& row : half->rows) {
        numbers.width = std::max(numbers.width, display_width(numbers.text(row)));
      }
    }
  }
  constexpr int kShareWidth = 6;  // "100.0%"
  const auto room = [&] {
    int left = page_width - kIndent - kGap - kShareWidth;
    for (const Numbers& numbers : columns.numbers) left -= kGap + numbers.width;
    return left;
  };
  if (room() < kNarrowestLabel && columns.numbers.size() > 1) {
    columns.left_out = columns.numbers.back().title;
    columns.numbers.pop_back();
  }
  columns.label = std::min(label_width(view), room());
  const int bar = std::min(kWidestBar, room() - columns.label - kGap);
  columns.bar = bar >= kNarrowestBar ? bar : 0;
  return columns;
}

enum class Level : std::uint8_t { kHalf, kRow, kPart };

void write_row(Page& page, const Columns& columns, double fraction, const WaterfallRow& row,
               Level level) {
  const Ink ink = level == Level::kPart ? Ink::kFaint : ink_of(row);
  const Ink text = level == Level::kHalf   ? Ink::kStrong
                   : level == Level::kPart ? Ink::kFaint
                                           : Ink::kPlain;
  const int nesting = static_cast<int>(level) * kNesting;
  const std::string label = shorten_middle(row.label, columns.label - nesting, page.unicode());
  std::vector<Span> spans;
  spans.push_back({std::string(static_cast<std::size_t>(kIndent + nesting), ' ')});
  spans.push_back({pad_right(label, columns.label - nesting + kGap), text});
  spans.push_back({pad_left(format_tenths_of_percent(row.tenths), 6), text});
  if (columns.bar > 0) {
    const std::string drawn =
        level == Level::kRow ? bar(fraction, columns.bar, page.unicode()) : std::string();
    spans.push_back({std::string(kGap, ' ')});
    spans.push_back({pad_right(drawn, columns.bar), ink});
  }
  for (const Numbers& numbers : columns.numbers) {
    spans.push_back({std::string(kGap, ' ') + pad_left(numbers.text(row), numbers.width), text});
  }
  page.line(spans);
}

// The parts of a row say how much of it is likely something else than its name.
void write_parts(Page& page, const Columns& columns, const WaterfallRow& row,
                 model::DurationNs total) {
  for (const WaterfallPart& part : row.parts) {
    const double fraction = static_cast<double>(part.time) / static_cast<double>(total);
    write_row(page, columns, fraction,
              {.label = part.label,
               .group = row.group,
               .avoidable = row.avoidable,
               .time = part.time,
               .step_time = part.time,
               .tenths = std::min<std::int64_t>(row.tenths, std::llround(fraction * 1000))},
              Level::kPart);
  }
}

}  // namespace

void write_waterfall(Page& page, const Report& report) {
  const WaterfallView view = view_of(report.job, cost::usage_of(report.job).step_causes);
  page.heading("Where the GPU time goes");
  if (view.total == 0) {
    page.paragraph(kIndent, kIndent, {{"No GPU work was recorded."}});
    return;
  }
  const Columns columns = arrange(view, report, page.width());
  std::string titles(static_cast<std::size_t>(kIndent + columns.label + kGap), ' ');
  titles += pad_left("share", 6);
  if (columns.bar > 0) titles.append(static_cast<std::size_t>(kGap + columns.bar), ' ');
  for (const Numbers& numbers : columns.numbers) {
    titles += std::string(kGap, ' ') + pad_left(numbers.title, numbers.width);
  }
  page.line({{titles, Ink::kFaint}});

  for (const WaterfallHalf* half : {&view.busy, &view.idle}) {
    const bool idle = half == &view.idle;
    write_row(page, columns, 0, row_of(*half, idle), Level::kHalf);
    for (const WaterfallRow& row : half->rows) {
      const double fraction = static_cast<double>(row.time) / static_cast<double>(view.total);
      write_row(page, columns, fraction, row, Level::kRow);
      write_parts(page, columns, row, view.total);
    }
  }
  if (!columns.left_out.empty()) {
    page.paragraph(kIndent, kIndent,
                   {{"No room at this width for: " + columns.left_out + ".", Ink::kFaint}});
  }
  for (const std::string& note : waterfall_notes(report)) {
    page.paragraph(kIndent, kIndent, {{note, Ink::kFaint}});
  }
}

}  // namespace pyrometer::output
