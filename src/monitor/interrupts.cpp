#include "monitor/interrupts.h"

#include <atomic>
#include <csignal>

namespace pyrometer::monitor {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> first{0};
std::atomic<int> times{0};
struct sigaction before[3];

void on_signal(int signal) {
  int none = 0;
  first.compare_exchange_strong(none, signal);
  times.fetch_add(1);
}

}  // namespace

Interrupts::Interrupts() {
  first = 0;
  times = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;  // without SA_RESTART: sleeping ends
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 3; ++i) {
    ::sigaction(kSignals[i], nullptr, &before[i]);
    const bool ignored = (before[i].sa_flags & SA_SIGINFO) == 0 && before[i].sa_handler == SIG_IGN;
    if (!ignored) ::sigaction(kSignals[i], &action, nullptr);
  }
}

Interrupts::~Interrupts() {
  for (int i = 0; i < 3; ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

int Interrupts::signal() { return first.load(); }
int Interrupts::count() { return times.load(); }

}  // namespace pyrometer::monitor
