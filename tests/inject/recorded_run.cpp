#include "tests/inject/recorded_run.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "ring/writer.h"

namespace pyrometer::tests {
namespace {

const std::string kBuild = PYROMETER_BUILD_DIR;

}  // namespace

std::string RecordedRun::library() { return kBuild + "/lib/pyrometer/libpyrometer_inject.so"; }

RecordedRun::RecordedRun(RunOptions options) : options_(std::move(options)) {
  std::string folder = std::filesystem::temp_directory_path() / "pyrometer-inject-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  scratch_ = folder + "/";
}

RecordedRun::~RecordedRun() {
  for (const pid_t pid : running_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(scratch_, ignored);
}

void RecordedRun::pause() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

pid_t RecordedRun::start(const std::string& script) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    child(script);
  }
  running_.push_back(pid);
  return pid;
}

void RecordedRun::child(const std::string& script) {
  std::map<std::string, std::string> environment = {
      {"LD_LIBRARY_PATH", kBuild + "/tests/" + options_.gpu},
      {"PYROMETER_TEST_LIBRARY", library()},
      {ring::kSessionVariable, folder_.path()},
      {"PYROMETER_STUB_LOG", scratch("log")},
      {"PYROMETER_STUB_OPTIONS", options_.stub_options},
      {"PYROMETER_FLUSH_MS", "3"},
      // In a child by fork the other threads' memory has no owner.
      {"ASAN_OPTIONS", "detect_leaks=0"},
  };
  if (options_.inject) {
    environment["CUDA_INJECTION64_PATH"] = library();
  }
  for (const auto& [name, value] : options_.environment) {
    environment[name] = value;
  }
  for (const auto& [name, value] : environment) {
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  const int out = ::open(scratch("out").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(out, 1);
  ::dup2(out, 2);
  if (options_.file_limit_bytes != 0) {
    const rlimit limit{options_.file_limit_bytes, options_.file_limit_bytes};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  const rlimit no_cores{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_cores);
  const std::string program = kBuild + "/tests/gpu_program";
  ::execl(program.c_str(), program.c_str(), script.c_str(), static_cast<char*>(nullptr));
  ::_exit(98);
}

void RecordedRun::poll() {
  for (const std::string& file : folder_.files()) {
    auto reader = ring::Reader::open(file);
    if (!reader) {
      throw std::runtime_error(reader.error().to_string());
    }
    reader->unlink();
    rings_.push_back(std::make_unique<RingSeen>(std::move(*reader)));
  }
  for (const auto& seen : rings_) {
    if (beating_) {
      seen->reader.beat(ring::monotonic_ns());
    }
    seen->reader.poll(seen->log);
  }
}

int RecordedRun::finish(pid_t pid, int limit_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
  int status = 0;
  bool killed = false;
  while (::waitpid(pid, &status, WNOHANG) == 0) {
    poll();
    pause();
    if (!killed && std::chrono::steady_clock::now() > deadline) {
      ::kill(pid, SIGKILL);
      killed = true;
    }
  }
  std::erase(running_, pid);
  poll();
  return killed ? -1 : status;
}

int RecordedRun::wait_unread(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::erase(running_, pid);
  return status;
}

std::vector<RingSeen*> RecordedRun::rings(pid_t pid) {
  std::vector<RingSeen*> found;
  for (const auto& seen : rings_) {
    if (seen->reader.pid() == static_cast<std::uint32_t>(pid)) {
      found.push_back(seen.get());
    }
  }
  return found;
}

RingSeen& RecordedRun::ring(pid_t pid) {
  const auto found = rings(pid);
  if (found.size() != 1) {
    throw std::runtime_error(std::to_string(found.size()) + " rings; output: " + output());
  }
  return *found.front();
}

std::vector<Truth> RecordedRun::truth(pid_t pid, const std::string& type) const {
  std::vector<Truth> lines;
  std::ifstream file(scratch("log"));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Truth t;
    words >> t.type >> t.name >> t.correlation >> t.stream_or_thread >> t.start >> t.end >>
        t.bytes >> t.pid;
    if (t.pid == static_cast<std::uint32_t>(pid) && (type.empty() || t.type == type)) {
      lines.push_back(t);
    }
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string RecordedRun::output() const {
  std::ifstream file(scratch("out"));
  return {std::istreambuf_iterator<char>(file), {}};
}

void PrintTo(const Truth& t, std::ostream* out) {
  *out << t.type << ' ' << t.name << " #" << t.correlation << " on " << t.stream_or_thread << ' '
       << t.start << '-' << t.end;
}

std::vector<Truth> as_truth(const RecordLog& log, pid_t pid) {
  const auto process = static_cast<std::uint32_t>(pid);
  std::vector<Truth> all;
  for (const ring::ActivityBody& k : log.kernels) {
    all.push_back(
        {"kernel", log.name(k.kernel.name), k.correlation, k.stream, k.start, k.end, 0, process});
  }
  const std::map<int, std::string> copies = {{1, "h2d"}, {2, "d2h"}, {8, "d2d"}, {10, "p2p"}};
  for (const ring::ActivityBody& c : log.copies) {
    const auto kind = copies.find(c.copy_kind);
    all.push_back({"copy", kind == copies.end() ? "?" : kind->second, c.correlation, c.stream,
                   c.start, c.end, c.bytes, process});
  }
  for (const ring::ActivityBody& m : log.memsets) {
    all.push_back({"memset", "memset", m.correlation, m.stream, m.start, m.end, m.bytes, process});
  }
  for (std::size_t i = 0; i < log.api_calls.size(); ++i) {
    const ring::ApiCallBody& c = log.api_calls[i];
    all.push_back(
        {"call", log.name(c.name), c.correlation, log.api_threads[i], c.start, c.end, 0, process});
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace pyrometer::tests
