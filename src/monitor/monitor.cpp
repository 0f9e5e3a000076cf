#include "monitor/monitor.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/version.h"
#include "monitor/allocator.h"
#include "monitor/metric_log.h"
#include "monitor/session.h"
#include "recording/writer.h"
#include "ring/layout.h"
#include "sources/gpu_presence.h"
#include "sources/poller.h"
#include "sources/source.h"

namespace pyrometer::monitor {
namespace {

using model::TimeNs;
using recording::Writer;

constexpr int kPollMs = 100;
constexpr TimeNs kAdvance = 500'000'000;  // ns: steps are finished and committed twice a second
constexpr TimeNs kStatus = 1'000'000'000;
constexpr std::chrono::milliseconds kLastSamples{300};

TimeNs realtime_offset() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec - sources::monotonic_ns();
}

TimeNs own_cpu() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& t) { return t.tv_sec * 1'000'000'000LL + t.tv_usec * 1000LL; };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

std::int64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024LL;
}

std::string program_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

std::vector<std::string> child_environment(const MonitorOptions& options,
                                           const std::string& session,
                                           std::vector<std::string>& notes) {
  std::vector<std::string> set{std::string(ring::kSessionVariable) + "=" + session};
  if (!options.library.empty()) {
    set.push_back("PYROMETER_LIBRARY=" + options.library);
    set.push_back("CUDA_INJECTION64_PATH=" + options.library);
    const char* other = variable("CUDA_INJECTION64_PATH");
    if (other != nullptr && options.library != other) {
      set.push_back(std::string("PYROMETER_CHAIN_INJECTION=") + other);
      notes.push_back(
          "CUDA_INJECTION64_PATH was set already: that tool keeps the GPU's tracing interface, and "
          "the GPU timeline is not recorded. Unset it to have one");
    }
  }
  if (options.count_flops) set.emplace_back("PYROMETER_COUNT_FLOPS=1");
  if (!options.hook_folder.empty()) {
    const char* other = variable("PYTHONPATH");
    set.push_back("PYTHONPATH=" + options.hook_folder + (other != nullptr ? ":" : "") +
                  (other != nullptr ? other : ""));
  }
  for (std::string& one : trial_environment(options.trial)) set.push_back(std::move(one));
  return set;
}

// Runs a part of the recording. False: it threw, which means that memory ran out.
template <typename Part>
bool survived(Part part) {
  try {
    part();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// The recording's side of a run: everything in here may fail without touching the command.
class Recorder {
 public:
  Recorder(const MonitorOptions& options, std::unique_ptr<Writer> writer, Session session)
      : options_(options),
        writer_(std::move(writer)),
        session_(std::move(session)),
        rings_(session_.folder(), *writer_, recorder_options(options)),
        start_(sources::monotonic_ns()) {
    write_start();
  }

  [[nodiscard]] const std::string& folder() const { return session_.folder(); }

  void watch(pid_t pid) {
    sources::SourceOptions which;
    which.root_pid = pid;
    poller_ = std::make_unique<sources::Poller>(
        sources::make_sources(which), [this](sources::Batch& batch) { metrics_.take(batch); });
    if (auto started = poller_->start(); !started) {
      writer_->add_note(sources::monotonic_ns(), "warning", started.error().to_string());
      poller_.reset();
    }
  }

  void tick() {
    (void)rings_.drain();
    const TimeNs now = sources::monotonic_ns();
    if (now - last_advance_ < kAdvance) return;
    last_advance_ = now;
    rings_.advance(now);
    metrics_.write(*writer_);
    writer_->set_meta("end_ns", std::to_string(now));
    writer_->commit();
  }

  void tell(StatusLine& line) {
    for (const std::string& warning : warnings_) {
      line.clear();
      if (options_.on_warning) options_.on_warning(warning);
    }
    warnings_.clear();
  }

  void show_status(StatusLine& line) {
    const TimeNs now = sources::monotonic_ns();
    if (now - last_status_ < kStatus) return;
    last_status_ = now;
    if (const ProcessRecorder* leading = rings_.leading(); leading != nullptr) {
      line.show(status_text(leading->live()));
    }
  }

  // Keeps what has been committed, and lets the processes go. Throws nothing.
  void give_up() {
    rings_.abandon();
    (void)survived([this] { writer_->finish(); });
  }

  void finish(const ChildEnd& end, Outcome& outcome) {
    if (poller_ != nullptr) {
      (void)poller_->sample_all(kLastSamples);
      write_health();
      (void)poller_->stop();
    }
    const TimeNs now = sources::monotonic_ns();
    rings_.finish(now);
    outcome.overrides = overrides_.statuses();
    for (std::string& note : warnings_) outcome.notes.push_back(std::move(note));
    for (std::string& note : overrides_.unapplied(options_.trial)) {
      outcome.notes.push_back(std::move(note));
    }
    if (const std::int64_t missing = rings_.processes_without_room(); missing > 0) {
      outcome.notes.push_back(std::to_string(missing) +
                              (missing == 1 ? " process was" : " processes were") +
                              " not recorded: no room for 4 MiB of shared memory each in " +
                              std::filesystem::path(session_.folder()).parent_path().string());
      outcome.processes_without_room = missing;
    }
    metrics_.write(*writer_);
    writer_->set_meta("end_ns", std::to_string(now));
    writer_->set_meta("ended", "1");
    writer_->set_meta("exit_code", std::to_string(end.exit_code));
    writer_->set_meta("exit_signal", std::to_string(end.signal));
    writer_->set_meta("monitor_cpu_ns", std::to_string(own_cpu()));
    writer_->set_meta("monitor_peak_memory_bytes", std::to_string(peak_memory_bytes()));
    for (const std::string& note : outcome.notes) writer_->add_note(now, "warning", note);
    writer_->commit();
    if (writer_->failed()) outcome.recording_error = writer_->error();
    writer_->finish();
    outcome.recorded = true;
    outcome.processes = rings_.processes_seen();
    outcome.processes_trained = rings_.processes_that_trained();
  }

 private:
  [[nodiscard]] RecorderOptions recorder_options(const MonitorOptions& options) {
    RecorderOptions recorder = options.recorder;
    recorder.on_override = [this](std::int64_t process, std::string_view id,
                                  std::string_view text) {
      std::string warning = overrides_.take(process, id, text);
      if (warning.empty()) return;
      writer_->add_note(sources::monotonic_ns(), "warning", warning);
      warnings_.push_back(std::move(warning));
    };
    return recorder;
  }

  void write_start() {
    writer_->set_meta("tool", "pyrometer " + std::string(base::version()));
    writer_->set_meta("start_ns", std::to_string(start_));
    writer_->set_meta("realtime_offset_ns", std::to_string(realtime_offset()));
    writer_->set_meta("program", program_name(options_.command.front()));
    if (options_.record_arguments) {
      std::string all;
      for (const std::string& word : options_.command) all += (all.empty() ? "" : " ") + word;
      writer_->set_meta("command", all);
    }
    utsname system{};
    if (::uname(&system) == 0) {
      writer_->set_meta("kernel", system.release);
      writer_->set_meta("machine", system.machine);
    }
    writer_->set_meta("cores", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)));
    sources::PresenceInputs inputs;
    if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
      inputs.cuda_visible_devices = visible;
      writer_->set_meta("cuda_visible_devices", visible);
    }
    const sources::GpuPresence gpu = sources::diagnose_gpu_presence(inputs);
    if (gpu.state != sources::PresenceState::kUsable) {
      writer_->set_meta("gpu_missing", gpu.text);
      writer_->set_meta("gpu_advice", gpu.advice);
      if (gpu.state == sources::PresenceState::kNoDevice) writer_->set_meta("gpu_none", "1");
    }
    for (const std::string& setting : trial_environment(options_.trial)) {
      const std::size_t equals = setting.find('=');
      std::string key = setting.substr(0, equals);
      std::transform(key.begin(), key.end(), key.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      constexpr std::size_t kPrefix = std::string_view("pyrometer_").size();
      writer_->set_meta("trial." + key.substr(kPrefix), setting.substr(equals + 1));
    }
    writer_->set_meta("overhead_budget", std::to_string(options_.recorder.overhead_budget));
    writer_->commit();
  }

  void write_health() {
    poller_->notice_stale();
    for (const sources::SourceHealth& source : poller_->health()) {
      if (source.reason.empty()) continue;
      writer_->add_note(sources::monotonic_ns(), "info",
                        std::string(source.name) + ": " + source.reason);
    }
  }

  const MonitorOptions& options_;
  std::unique_ptr<Writer> writer_;
  Session session_;
  MetricLog metrics_;
  OverrideLog overrides_;
  std::vector<std::string> warnings_;  // not told yet
  std::unique_ptr<sources::Poller> poller_;
  RingSet rings_;
  TimeNs start_;
  TimeNs last_advance_ = 0;
  TimeNs last_status_ = 0;
};

base::Error out_of_memory() {
  return {.kind = base::ErrorKind::kResource, .message = "out of memory"};
}

std::unique_ptr<Recorder> make_recorder(const MonitorOptions& options, Outcome& outcome) {
  auto writer = Writer::create(options.output);
  if (!writer) {
    outcome.recording_error = writer.error();
    if (options.on_problem) options.on_problem(writer.error());
    return nullptr;
  }
  auto session = Session::create();
  if (!session) {
    outcome.recording_error = session.error();
    if (options.on_problem) options.on_problem(session.error());
    writer->reset();
    (void)::unlink(options.output.c_str());
    return nullptr;
  }
  return std::make_unique<Recorder>(options, std::move(*writer), std::move(*session));
}

}  // namespace

base::Result<Outcome> record(const MonitorOptions& options) {
  keep_freed_memory();
  Outcome outcome;
  std::unique_ptr<Recorder> recorder;
  std::vector<std::string> environment;
  const bool prepared = survived([&] {
    recorder = make_recorder(options, outcome);
    if (recorder == nullptr) return;
    environment = child_environment(options, recorder->folder(), outcome.notes);
  });
  if (!prepared) {
    recorder.reset();
    environment.clear();
    if (options.on_problem) options.on_problem(out_of_memory());
  }
  auto child = Child::start(options.command, environment);
  if (!child) {
    if (recorder != nullptr) {
      recorder.reset();
      (void)::unlink(options.output.c_str());
    }
    return base::fail(child.error());
  }
  const auto give_up = [&] {
    recorder->give_up();
    recorder.reset();
    outcome.recorded = true;
    outcome.recording_error = out_of_memory();
  };
  if (recorder != nullptr && !survived([&] { recorder->watch(child->pid()); })) give_up();
  std::optional<ChildEnd> end;
  {
    StatusLine line(recorder != nullptr ? options.status : StatusLine::Place::kNowhere);
    while (!end) {
      end = child->wait(kPollMs);
      if (recorder == nullptr) continue;
      const bool ok = survived([&] {
        recorder->tick();
        recorder->tell(line);
        recorder->show_status(line);
      });
      if (!ok) give_up();
    }
  }
  outcome.end = *end;
  if (recorder != nullptr && !survived([&] { recorder->finish(*end, outcome); })) give_up();
  return outcome;
}

}  // namespace pyrometer::monitor
