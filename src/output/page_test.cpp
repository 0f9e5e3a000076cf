#include "output/page.h"

#include <gtest/gtest.h>

#include "output/bars.h"
#include "output/display.h"

namespace pyrometer::output {
namespace {

TextStyle plain(int width) { return {.width = width}; }

TEST(Page, WrapsBetweenWordsAndHangs) {
  Page page(plain(40));
  page.paragraph(2, 4, {{"one two three four five six seven eight nine ten"}});
  EXPECT_EQ(page.take(), "  one two three four five six seven\n    eight nine ten\n");
}

TEST(Page, KeepsNumbersWithTheirUnits) {
  Page page(plain(40));
  page.paragraph(0, 0, {{"it takes the whole of a long step: 36.6 ms, then more"}});
  EXPECT_EQ(page.take(), "it takes the whole of a long step:\n36.6 ms, then more\n");
}

TEST(Page, BreaksWordsThatAreLongerThanALine) {
  Page page(plain(40));
  page.paragraph(2, 2, {{"see " + std::string(90, 'w')}});
  const std::string text = page.take();
  EXPECT_EQ(text, "  see\n  " + std::string(38, 'w') + "\n  " + std::string(38, 'w') + "\n  " +
                      std::string(14, 'w') + "\n");
}

TEST(Page, ColoursOnlyWhenAskedAndNeverFromTheText) {
  Page off(plain(80));
  off.line({{"\x1b[31mx", Ink::kBad}});
  EXPECT_EQ(off.take(), "\uFFFD[31mx\n");
  Page on(TextStyle{.color = true, .width = 80});
  on.line({{"x\x1b", Ink::kBad}});
  EXPECT_EQ(on.take(), "\x1b[1;31mx\uFFFD\x1b[0m\n");
}

TEST(Page, CodeStaysAsItIsWhereItFits) {
  Page page(plain(40));
  page.code(14, 3, "for x in y:\n\tf(x)");
  EXPECT_EQ(page.take(), "              for x in y:\n                  f(x)\n");
}

TEST(Page, CodeThatIsTooWideMovesToTheLeftAndBreaks) {
  Page page(plain(40));
  page.code(14, 3, "with torch.inference_mode():\n    f(x)");
  EXPECT_EQ(page.take(), "   with torch.inference_mode():\n       f(x)\n");
  page.code(14, 3, "batch = batch.to(device, non_blocking=True)");
  EXPECT_EQ(page.take(), "   batch = batch.to(device,\n       non_blocking=True)\n");
}

Table sample_table() {
  Table table;
  table.columns = {{"name", Align::kLeft, Shorten::kSymbol},
                   {"a", Align::kRight},
                   {"bbbbbbbb", Align::kRight, Shorten::kNever, 1},
                   {"cccccccc", Align::kRight, Shorten::kNever, 2}};
  table.rows = {{"short", "1", "2", "3"}, {std::string(60, 'n'), "1000", "2", "3"}};
  return table;
}

TEST(Page, TablesAlignAndFit) {
  for (const int width : {40, 50, 60, 80, 120}) {
    Page page(plain(width));
    page.table(2, sample_table());
    std::string text = page.take();
    std::size_t first = std::string::npos;
    while (!text.empty()) {
      const std::string line = text.substr(0, text.find('\n'));
      text.erase(0, line.size() + 1);
      EXPECT_LE(display_width(line), width);
      if (line.starts_with("  No room at this width for:")) break;  // behind the rows
      if (first == std::string::npos) first = static_cast<std::size_t>(display_width(line));
      EXPECT_EQ(display_width(line), static_cast<int>(first));  // right-aligned to the same edge
    }
  }
}

TEST(Table, ColumnsGoByRankWhereRoomIsShort) {
  EXPECT_EQ(lay_out(sample_table(), 120, true).columns.size(), 4U);
  EXPECT_EQ(lay_out(sample_table(), 40, true).columns, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(lay_out(sample_table(), 20, true).columns, (std::vector<std::size_t>{0, 1}));
}

TEST(Bars, GrowWithTheValueAndShowTheSmallest) {
  EXPECT_EQ(bar(0, 10, true), "");
  EXPECT_EQ(bar(1e-9, 10, true), "▏");
  EXPECT_EQ(bar(0.5, 10, true), "█████");
  EXPECT_EQ(bar(0.55, 10, true), "█████▌");
  EXPECT_EQ(bar(2, 10, true), "██████████");
  EXPECT_EQ(bar(0.5, 10, false), "#####");
}

TEST(Bars, SparklinesKeepPeaksWhenThinned) {
  const double values[] = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(values, 7, 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(values, 7, 4, true), "▂▄▆█");
  EXPECT_EQ(sparkline(values, 0, 8, false), "________");
  EXPECT_EQ(sparkline({}, 1, 8, true), "");
}

}  // namespace
}  // namespace pyrometer::output
