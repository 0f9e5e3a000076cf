// Keeps an eye on the recordings that are being written.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cost/settings.h"
#include "rules/rule.h"
#include "server/recording_status.h"

namespace pyrometer::server {

struct RecordingWatchOptions {
  // Where recordings lie; empty: those that a running `pyrometer run` has open, as far as one's
  // rights reach.
  std::vector<std::string> folders;
  std::string root;    // put before /proc
  std::string played;  // not empty: this recording alone, as if it were being written
  cost::Settings cost;
  rules::Settings rules;
  std::chrono::nanoseconds period = std::chrono::seconds(30);
};

// What is known, ordered by name. Never changes once it is handed out.
using RecordingList = std::shared_ptr<const std::vector<RecordingStatus>>;

// Looks for recordings once a period and reads those that have changed, one after the other, on a
// thread of the lowest priority that takes a small part of a core: after reading for a second it
// rests for at least 20. A recording stays listed for an hour after its last change.
class RecordingWatch {
 public:
  static constexpr std::size_t kMostRecordings = 32;

  explicit RecordingWatch(RecordingWatchOptions options);
  RecordingWatch(const RecordingWatch&) = delete;
  RecordingWatch& operator=(const RecordingWatch&) = delete;
  // Does not wait for a recording that is being read: the thread ends by itself afterwards, and
  // touches nothing of the caller's.
  ~RecordingWatch();

  // Without a thread (the system has none left) the list stays empty.
  void start();
  [[nodiscard]] RecordingList list() const;  // any thread; never null

 private:
  struct State;
  std::shared_ptr<State> state_;  // the thread may outlive this object
};

}  // namespace pyrometer::server
