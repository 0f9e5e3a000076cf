#include "tui/keys.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tui/tui_testing.h"

namespace pyrometer::tui {
namespace {

class Keys : public ::testing::Test {
 protected:
  Keys() : seen_(3) {
    seen_.snapshot->devices[0].processes = {test_process(10, "bob", "train", 1),
                                            test_process(11, "ada", "serve", 2)};
    show();
  }
  void show() { screen_ = compose(seen_.sight, ui_, history_, {}, 100, 30); }
  Action press(const Event& event) {
    const Action action = handle(event, screen_, ui_);
    show();
    return action;
  }
  Action press(char32_t letter) { return press({.key = Key::kLetter, .letter = letter}); }
  // The first place that a click on means this.
  Event click_on(Hit::Kind kind, const std::function<bool(const Hit&)>& holds) {
    for (const Hit& hit : screen_.hits) {
      if (hit.kind == kind && holds(hit)) return {.key = Key::kClick, .y = hit.y, .x = hit.x};
    }
    ADD_FAILURE() << "no such place";
    return {};
  }

  TestSight seen_;
  History history_;
  Ui ui_;
  Screen screen_{.grid = Grid(0, 0, true)};
};

TEST_F(Keys, QuitsByQ) { EXPECT_EQ(press(U'q'), Action::kQuit); }

TEST_F(Keys, MovesAmongGpusAndOpensOne) {
  press({.key = Key::kDown});
  EXPECT_EQ(ui_.device, "GPU-1");
  press(U'j');
  press(U'j');
  EXPECT_EQ(ui_.device, "GPU-2");
  press(U'k');
  press({.key = Key::kEnter});
  EXPECT_EQ(ui_.view, View::kDevice);
  EXPECT_EQ(ui_.device, "GPU-1");
  press(U'n');
  EXPECT_EQ(ui_.device, "GPU-2");
  press({.key = Key::kEscape});
  EXPECT_EQ(ui_.view, View::kOverview);
}

TEST_F(Keys, FiltersWhileOneTypes) {
  press(U'/');
  press(U'q');  // a letter like any other
  press({.key = Key::kBackspace});
  press(U'a');
  press(U'ü');
  press({.key = Key::kBackspace});
  EXPECT_EQ(ui_.filter, "a");
  press(U'd');
  ASSERT_EQ(screen_.processes.size(), 1U);
  press({.key = Key::kEnter});
  EXPECT_FALSE(ui_.is_filtering);
  EXPECT_EQ(ui_.filter, "ad");
  press({.key = Key::kEscape});
  EXPECT_EQ(ui_.filter, "");
}

TEST_F(Keys, AsksBeforeASignal) {
  EXPECT_EQ(press(U'x'), Action::kNone);  // no process is selected
  press({.key = Key::kTab});
  press(U'j');
  EXPECT_EQ(press(U'x'), Action::kAim);
  EXPECT_EQ(ui_.target.pid, 11);
  press(U'3');
  EXPECT_EQ(ui_.overlay, Overlay::kConfirm);
  EXPECT_EQ(signal_choices()[static_cast<std::size_t>(ui_.signal_choice)].name, "SIGKILL");
  EXPECT_EQ(press({.key = Key::kEnter}), Action::kNone);  // only y is yes
  press(U'x');
  press({.key = Key::kEnter});
  EXPECT_EQ(press(U'y'), Action::kSendSignal);
}

TEST_F(Keys, TakesClicks) {
  press(click_on(Hit::Kind::kDevice, [](const Hit& h) { return h.device == "GPU-2"; }));
  EXPECT_EQ(ui_.device, "GPU-2");
  press(click_on(Hit::Kind::kProcess, [](const Hit& h) { return h.process.pid == 11; }));
  EXPECT_EQ(ui_.focus, Focus::kProcesses);
  EXPECT_EQ(ui_.process.pid, 11);
  const auto title =
      click_on(Hit::Kind::kColumn, [](const Hit& h) { return h.column == SortKey::kMemory; });
  press(title);
  EXPECT_EQ(ui_.sort, SortKey::kMemory);
  EXPECT_TRUE(ui_.descending);
  EXPECT_EQ(screen_.processes[0].id.pid, 11);
  press(title);
  EXPECT_FALSE(ui_.descending);
}

TEST_F(Keys, ShowsHelpAndComesBack) {
  press(U'p');
  press(U'?');
  EXPECT_EQ(ui_.view, View::kHelp);
  press({.key = Key::kEscape});
  EXPECT_EQ(ui_.view, View::kProcesses);
}

}  // namespace
}  // namespace pyrometer::tui
