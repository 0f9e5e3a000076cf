// Keeps signals away from background threads.
#pragma once

#include <pthread.h>

#include <csignal>

namespace pyrometer::base {

// Threads that are started while this object lives take no signals: those are for the threads that
// wait for them. Signals of a crash still come, so that whoever has to tidy up after one can.
class SignalsHeldBack {
 public:
  SignalsHeldBack() {
    sigset_t held;
    sigfillset(&held);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigdelset(&held, number);
    pthread_sigmask(SIG_SETMASK, &held, &before_);
  }
  ~SignalsHeldBack() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeldBack(const SignalsHeldBack&) = delete;
  SignalsHeldBack& operator=(const SignalsHeldBack&) = delete;

 private:
  sigset_t before_;
};

}  // namespace pyrometer::base
