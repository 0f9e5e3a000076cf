#include "tui/loop.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "sources/source.h"
#include "tui/history.h"
#include "tui/keys.h"
#include "tui/rescue.h"
#include "tui/screen.h"
#include "tui/target.h"

namespace pyrometer::tui {
namespace {

using namespace std::chrono_literals;

class Loop {
 public:
  Loop(Terminal& terminal, const Feeds& feeds, const LoopOptions& options)
      : terminal_(terminal), feeds_(feeds), options_(options) {
    sight_.interval_ns = options.interval.count();
    sight_.same_namespace = feeds.host.same_namespace();
  }

  void run() {
    const int signals = open_signal_pipe();
    take_news();
    show();
    int silent = 0;  // times that input was announced and none came
    while (!is_over_) {
      std::array<pollfd, 2> inputs = {{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                       {.fd = signals, .events = POLLIN, .revents = 0}}};
      ::poll(inputs.data(), inputs.size(), static_cast<int>(kLook.count()));
      if ((inputs[0].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0) return;
      bool is_due = inputs[1].revents != 0 && heed_signals();
      if ((inputs[0].revents & POLLIN) != 0) {
        const bool any = heed_keys();
        silent = any ? 0 : silent + 1;
        constexpr int kGone = 1000;
        if (silent > kGone) return;
        is_due = is_due || any;
      }
      is_due = take_news() || is_due;
      if (is_due && !is_over_) show();
    }
  }

 private:
  static constexpr auto kLook = 100ms;
  static constexpr std::int64_t kAnew = 1'000'000'000;  // age is shown in seconds

  // Whether there is something to show.
  bool take_news() {
    const std::int64_t now = sources::monotonic_ns();
    const bool is_newer = feeds_.live.wait_newer(taken_, 0ns);
    if (!is_newer && now - shown_ns_ < kAnew) return false;
    readout::LiveView view = feeds_.live.view();
    if (view.number > taken_) {
      history_.take(*view.snapshot);
      taken_ = view.number;
    }
    if (!ui_.is_paused || sight_.live.snapshot == nullptr) {
      sight_.live = std::move(view);
      sight_.host = feeds_.host.processes();
      sight_.trainings = feeds_.trainings();
      sight_.now_ns = now;
    }
    return true;
  }

  void show() {
    screen_ =
        compose(sight_, ui_, history_, terminal_.looks(), terminal_.width(), terminal_.height());
    terminal_.draw(screen_.grid);
    shown_ns_ = sources::monotonic_ns();
  }

  bool heed_signals() {
    const Told told = take_signals();
    if (told.stop) {
      terminal_.suspend();
      stop_here();
      terminal_.resume();
    }
    if (told.resized) terminal_.resize();
    return told.resized || told.stop;
  }

  // Whether there were keys.
  bool heed_keys() {
    constexpr int kAtOnce = 256;  // then the screen is shown, whatever comes in
    bool any = false;
    for (int i = 0; i < kAtOnce && !is_over_; ++i) {
      const Event event = terminal_.next_event();
      if (event.key == Key::kNone) break;
      any = true;
      act(handle(event, screen_, ui_));
    }
    return any;
  }

  void act(Action action) {
    switch (action) {
      case Action::kQuit:
        is_over_ = true;
        break;
      case Action::kRepaint:
        terminal_.repaint();
        break;
      case Action::kAim:
        aim();
        break;
      case Action::kSendSignal:
        send();
        break;
      case Action::kNone:
        break;
    }
  }

  void say(std::string text, Ink ink) {
    ui_.message = std::move(text);
    ui_.message_ink = ink;
  }

  std::string target_name() const {
    return std::to_string(ui_.target.pid) + " (" + ui_.target_name + ")";
  }

  void aim() {
    std::string wrong = options_.no_signals;
    const auto row = std::ranges::find(screen_.processes, ui_.target, &ProcessRow::id);
    const bool is_here = sight_.same_namespace || row == screen_.processes.end() ||
                         row->process == nullptr || row->process->is_local;
    if (wrong.empty() && !is_here) wrong = "its number is that of the host, outside this container";
    if (wrong.empty()) {
      const auto host = sight_.host->find(ui_.target.pid);
      wrong = target_.aim(ui_.target.pid,
                          host == sight_.host->end() ? 0 : host->second.usage.start_ticks);
    }
    if (wrong.empty()) return;
    ui_.overlay = Overlay::kNone;
    say("no signal can be sent to " + target_name() + ": " + wrong, Ink::kWarn);
  }

  void send() {
    const SignalChoice& choice = signal_choices()[static_cast<std::size_t>(ui_.signal_choice)];
    const std::string wrong = target_.send(choice.number);
    target_.let_go();
    const std::string what = std::string(choice.name) + " to " + target_name();
    if (wrong.empty()) {
      say("sent " + what, Ink::kGood);
    } else {
      say("could not send " + what + ": " + wrong, Ink::kBad);
    }
  }

  Terminal& terminal_;
  const Feeds& feeds_;
  const LoopOptions& options_;
  Sight sight_;
  History history_;
  Ui ui_;
  Screen screen_{.grid = Grid(0, 0, true)};
  Target target_;
  std::uint64_t taken_ = 0;
  std::int64_t shown_ns_ = 0;
  bool is_over_ = false;
};

}  // namespace

void run_screen(Terminal& terminal, const Feeds& feeds, const LoopOptions& options) {
  Loop(terminal, feeds, options).run();
}

}  // namespace pyrometer::tui
