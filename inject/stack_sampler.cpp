#include "stack_sampler.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "process.h"
#include "thread_id.h"

namespace pyrometer::inject {
namespace {

// Twenty samples a second on average, never in step with anything.
constexpr std::uint32_t kPeriodMs = 50;
constexpr std::uint64_t kTell = 1'000'000'000;  // ns
constexpr std::uint32_t kStopMs = 200;
constexpr std::size_t kMostFrames = 96;         // from the innermost outwards
constexpr std::uint32_t kMostTexts = 4000;      // of a process, with their innermost lines …
constexpr std::uint32_t kMostNames = 8000;      // … and at all
constexpr std::uint32_t kMostUnreadable = 100;  // in a row

// By pyrometer_hook_phase.
constexpr std::string_view kPhases[] = {"host",      "input",      "forward", "backward",
                                        "optimizer", "checkpoint", "logging"};

constinit StackSampler the_sampler;

std::uint32_t period_ms() {
  const char* wanted = ::secure_getenv("PYROMETER_SAMPLER_MS");  // for tests
  const unsigned long ms = wanted == nullptr ? 0 : std::strtoul(wanted, nullptr, 10);
  return ms < 1 || ms > kPeriodMs ? kPeriodMs : static_cast<std::uint32_t>(ms);
}

}  // namespace

StackSampler& stack_sampler() { return the_sampler; }

const char* StackSampler::prepare(std::uint32_t version, const char* folders) {
  if (worker_.running()) {
    return "it runs";
  }
  prepared_.store(false, std::memory_order_relaxed);
  if (!places_.set(folders == nullptr ? std::string_view{} : std::string_view{folders})) {
    return "too many folders of libraries";
  }
  const char* problem = stack_.prepare(version);
  prepared_.store(problem == nullptr, std::memory_order_release);
  return problem;
}

std::uint32_t StackSampler::look(char* text, std::uint32_t size) const {
  if (size == 0) {
    return 0;
  }
  Text lines{text, size - 1};
  std::size_t whole = 0;
  PythonStack::Frame frame;
  std::size_t seen = 0;
  for (bool more = stack_.innermost(&frame); more && seen < kMostFrames;
       more = stack_.outer(&frame), ++seen) {
    PythonStack::Code code;
    PythonText file;
    if (!stack_.code(frame, &code) || !stack_.text(code.file, &file) ||
        !add_place(frame, code, {file.bytes, file.length}, &lines) || !lines.add("\n")) {
      break;
    }
    whole = lines.length;
  }
  text[whole] = '\0';
  return static_cast<std::uint32_t>(whole);
}

bool StackSampler::start() {
  if (!prepared_.load(std::memory_order_acquire)) {
    return false;
  }
  if (worker_.running()) {
    return true;
  }
  told_ = ring::monotonic_ns();
  random_ = told_ | 1U;
  period_ms_ = period_ms();
  unreadable_in_a_row_ = 0;
  return worker_.start(this, next_period_ms());
}

void StackSampler::stop() {
  const std::uint64_t deadline = ring::monotonic_ns() + kStopMs * 1'000'000U;
  (void)worker_.request(kFinish, kStopMs);
  // The thread has said its last word and is about to end: Python counts it until it has.
  const std::uint32_t thread = thread_.exchange(0, std::memory_order_relaxed);
  while (thread != 0 && ring::monotonic_ns() < deadline &&
         ::syscall(SYS_tgkill, ::getpid(), thread, 0) == 0) {
    constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 50'000};
    ::nanosleep(&kPause, nullptr);
  }
}

void StackSampler::forget_after_fork() {
  prepared_.store(false, std::memory_order_relaxed);
  stack_.forget();
  thread_.store(0, std::memory_order_relaxed);
  worker_.forget_after_fork();
}

std::uint32_t StackSampler::next_period_ms() {
  random_ ^= random_ << 13U;
  random_ ^= random_ >> 7U;
  random_ ^= random_ << 17U;
  return period_ms_ / 2 + static_cast<std::uint32_t>(random_ % (period_ms_ + 1));
}

bool StackSampler::run(std::uint32_t requests) {
  thread_.store(thread_id(), std::memory_order_relaxed);
  ring::Writer* writer = process().writer();
  if (writer == nullptr) {
    return false;
  }
  const std::uint64_t now = ring::monotonic_ns();
  const std::uint32_t control = writer->header().control.load(std::memory_order_acquire);
  const bool over = requests != 0 || (control & ring::kControlEnd) != 0;
  const bool wanted = (control & ring::kControlStackSampler) != 0;
  // What wakes the thread early is no random moment.
  if (wanted && !over) {
    sample(*writer);
  }
  const bool blind = unreadable_in_a_row_ >= kMostUnreadable;
  if (over || blind || !wanted || now - told_ >= kTell) {
    tell(*writer, now);
  }
  if (blind) {
    const std::uint32_t key = writer->intern_name("hook.sampler");
    const std::uint32_t value = writer->intern_name("off: the thread's stack cannot be read");
    writer->write(ring::RecordType::kInfo, 0,
                  ring::InfoBody{.time = now, .key = key, .value = value});
    prepared_.store(false, std::memory_order_relaxed);
  }
  worker_.set_period(next_period_ms());
  return !over && !blind;
}

// "stack <phase> <the user's innermost line> | <the innermost line>".
bool StackSampler::describe(Text* text, std::size_t* without_innermost) const {
  const std::uint8_t phase = __atomic_load_n(&phase_, __ATOMIC_RELAXED);
  text->length = 0;
  (void)text->add("stack ");
  (void)text->add(kPhases[phase < std::size(kPhases) ? phase : 0]);
  (void)text->add(" ");
  PythonStack::Frame frame;
  PythonStack::Code code;
  PythonText file;
  if (!stack_.innermost(&frame) || !stack_.code(frame, &code) || !stack_.text(code.file, &file)) {
    return false;
  }
  char bytes[SourcePlaces::kMostName + PythonText::kMost + 32];
  Text innermost{bytes, sizeof bytes};
  if (!add_place(frame, code, {file.bytes, file.length}, &innermost)) {
    return false;
  }
  bool users = places_.shorten({file.bytes, file.length}).users;
  if (users) {
    (void)text->add({bytes, innermost.length});
  }
  for (std::size_t seen = 1; !users && seen < kMostFrames && stack_.outer(&frame); ++seen) {
    if (!stack_.code(frame, &code) || !stack_.text(code.file, &file)) {
      return false;
    }
    const std::string_view name(file.bytes, file.length);
    users = places_.shorten(name).users;
    if (users && !add_place(frame, code, name, text)) {
      return false;
    }
  }
  if (!users) {
    (void)text->add("-");
  }
  *without_innermost = text->length;
  return text->add(" | ") && text->add({bytes, innermost.length}) &&
         phase == __atomic_load_n(&phase_, __ATOMIC_RELAXED);
}

void StackSampler::sample(ring::Writer& writer) {
  // Again if this thread was kept waiting, or what it read changed: all is to be of one moment.
  constexpr std::uint64_t kMoment = 500'000;  // ns
  char bytes[2 * SourcePlaces::kMostName + 2 * PythonText::kMost + 128];
  Text text{bytes, sizeof bytes};
  std::size_t without_innermost = 0;
  bool readable = false;
  std::uint64_t took = kMoment;
  for (int attempt = 0; attempt < 3 && (!readable || took >= kMoment); ++attempt) {
    const std::uint64_t before = ring::monotonic_ns();
    readable = describe(&text, &without_innermost);
    took = ring::monotonic_ns() - before;
  }
  if (!readable) {
    ++unreadable_;
    ++unreadable_in_a_row_;
    return;
  }
  unreadable_in_a_row_ = 0;
  count(writer, {bytes, text.length}, {bytes, without_innermost});
}

bool StackSampler::Text::add(std::string_view part) {
  if (part.size() > room - length) {
    return false;
  }
  std::memcpy(bytes + length, part.data(), part.size());
  length += part.size();
  return true;
}

// "file:line function"
bool StackSampler::add_place(const PythonStack::Frame& frame, const PythonStack::Code& code,
                             std::string_view file, Text* text) const {
  PythonText function;
  if (!stack_.text(code.function, &function)) {
    return false;
  }
  char line[16];
  const int digits = std::snprintf(line, sizeof line, ":%d ", stack_.line(frame, code));
  return text->add(places_.shorten(file).name) &&
         text->add({line, static_cast<std::size_t>(digits)}) &&
         text->add({function.bytes, function.length});
}

void StackSampler::count(ring::Writer& writer, std::string_view text,
                         std::string_view without_innermost) {
  // A program with ever new lines: then their innermost ones are left out, and in the end all.
  char shorter[SourcePlaces::kMostName + PythonText::kMost + 128];
  if (known_count_ >= kMostTexts) {
    constexpr std::string_view kNone = " | -";
    std::memcpy(shorter, without_innermost.data(), without_innermost.size());
    std::memcpy(shorter + without_innermost.size(), kNone.data(), kNone.size());
    text = {shorter, without_innermost.size() + kNone.size()};
  }
  const std::uint32_t id = known_count_ < kMostNames ? writer.intern_name(text) : 0;
  if (id == 0) {
    writer.count_drop(ring::RecordType::kCounter);
    return;
  }
  if (id < 64 * std::size(known_)) {
    const std::uint64_t bit = std::uint64_t{1} << (id % 64);
    known_count_ += (known_[id / 64] & bit) == 0 ? 1 : 0;
    known_[id / 64] |= bit;
  }
  for (Line& line : lines_) {
    if (line.name == id || line.name == 0) {
      line.name = id;
      ++line.samples;
      return;
    }
  }
  writer.count_drop(ring::RecordType::kCounter);
}

void StackSampler::tell(ring::Writer& writer, std::uint64_t now) {
  told_ = now;
  for (Line& line : lines_) {
    if (line.name == 0) {
      break;
    }
    writer.write(ring::RecordType::kCounter, 0,
                 ring::CounterBody{
                     .time = now, .value = static_cast<double>(line.samples), .name = line.name});
    line = {};
  }
  if (unreadable_ > 0) {
    if (const std::uint32_t name = writer.intern_name("sampler.unreadable"); name != 0) {
      writer.write(
          ring::RecordType::kCounter, 0,
          ring::CounterBody{.time = now, .value = static_cast<double>(unreadable_), .name = name});
    }
    unreadable_ = 0;
  }
}

}  // namespace pyrometer::inject
