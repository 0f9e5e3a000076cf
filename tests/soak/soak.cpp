// Days of watching in minutes: the whole chain of `pyrometer serve` in one process, poller, board,
// snapshots and server, on 16 scripted GPUs whose clock runs faster, while everything goes wrong
// that a script can tell of. A client scrapes all the time and checks what it gets:
//   - nothing reads 0 that cannot be 0 (memory, clocks, power, temperature): missing is absent;
//   - a lost GPU tells no readings, and energy counters never go back;
//   - every answer is complete, and every page is there.
// Memory in use, resident memory, threads and open files are taken at the same point of each hour.
//
// usage: soak HOURS SPEED        hours to be played, and how many of them in one
// Exits with 1 where something was wrong or memory grew.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <malloc.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "readout/live.h"
#include "server/serve.h"
#include "sources/replay/scripted_source.h"

namespace {

using namespace std::chrono_literals;
using namespace pyrometer;

constexpr std::int64_t kSecond = 1'000'000'000;

// Every fault comes once an hour, so that each hour is like the one before.
constexpr std::string_view kScript = R"(
host = "soak"
[[gpu]]
name = "Soak GPU"
count = 12
memory_gib = 80
power_limit_w = 700
load = "training"
[[gpu.process]]
user = "ada"
program = "python"
memory_gib = 40
first_rank = 0
[[gpu]]
name = "Soak GPU"
count = 2
memory_gib = 80
load = "inference"
throttle = "thermal"
[[gpu.process]]
user = "bob"
program = "serve"
memory_gib = 2
count = 8
lives_s = 30
[[gpu]]
name = "Soak GPU"
count = 2
memory_gib = 80
load = "training"
mig = ["3g.40gb", "2g.20gb"]
[[gpu.process]]
user = "eve"
program = "python"
memory_gib = 5
count = 2
[[fault]]
kind = "lost"
gpu = 3
at_s = 300
for_s = 120
every_s = 3600
[[fault]]
kind = "lost"
gpu = 14
at_s = 340
for_s = 60
every_s = 3600
[[fault]]
kind = "reload"
at_s = 600
for_s = 45
every_s = 3600
[[fault]]
kind = "mig"
gpu = 15
at_s = 900
for_s = 300
every_s = 3600
mig = ["1g.10gb", "1g.10gb", "1g.10gb"]
[[fault]]
kind = "missing"
at_s = 1300
for_s = 120
every_s = 3600
share = 0.7
[[fault]]
kind = "processes"
gpu = 1
at_s = 1600
for_s = 180
every_s = 3600
count = 10000
[[fault]]
kind = "xid"
gpu = 5
at_s = 2000
for_s = 10
every_s = 3600
count = 79
)";

// The played clock, which stands still for nobody: twice a day the machine sleeps for ten minutes.
class PlayedClock {
 public:
  explicit PlayedClock(double speed) : speed_(speed), begin_(sources::monotonic_ns()) {}
  [[nodiscard]] std::int64_t now() const {
    const auto played =
        static_cast<std::int64_t>(static_cast<double>(sources::monotonic_ns() - begin_) * speed_);
    constexpr std::int64_t kHalfDay = 12 * 3600 * kSecond;
    return played + (played + kHalfDay / 2) / kHalfDay * 600 * kSecond;
  }
  [[nodiscard]] double hours() const { return static_cast<double>(now()) / (3600.0 * kSecond); }
  // The wall clock is set, forth and back, every hour.
  [[nodiscard]] std::int64_t unix_ms() const {
    constexpr std::int64_t kStart = 1'764'547'200'000;
    constexpr std::array<std::int64_t, 4> kSteps = {0, -86'400'000, 3'600'000, -1'000};
    return kStart + now() / 1'000'000 + kSteps[static_cast<std::size_t>(hours()) % kSteps.size()];
  }

 private:
  double speed_;
  std::int64_t begin_;
};

class Client {
 public:
  explicit Client(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    is_open_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(fd_); }

  // The body; nothing where the answer is cut short or another than one of these.
  std::string get(const std::string& path, const std::set<int>& expected) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
    if (!is_open_ || ::write(fd_, request.data(), request.size()) < 0) return {};
    std::string text;
    std::size_t head = std::string::npos;
    std::size_t length = 0;
    while (head == std::string::npos || text.size() < head + 4 + length) {
      std::array<char, 65536> buffer{};
      const ssize_t size = ::read(fd_, buffer.data(), buffer.size());
      if (size <= 0) return {};
      text.append(buffer.data(), static_cast<std::size_t>(size));
      if (head != std::string::npos) continue;
      head = text.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const std::size_t at = text.find("Content-Length: ");
      if (at == std::string::npos) return {};
      length = std::strtoull(text.c_str() + at + 16, nullptr, 10);
    }
    const int status = std::atoi(text.c_str() + 9);
    return expected.contains(status) ? text.substr(head + 4) : std::string();
  }

 private:
  int fd_;
  bool is_open_ = false;
};

// What was wrong in the pages, and how much was looked at.
class Checks {
 public:
  void metrics(std::string_view page) {
    std::set<std::string, std::less<>> down;
    each_sample(page, [&](std::string_view name, std::string_view labels, double value) {
      if (name == "pyrometer_gpu_up" && value == 0) down.emplace(uuid_in(labels));
    });
    each_sample(page, [&](std::string_view name, std::string_view labels, double value) {
      ++samples_;
      static const std::set<std::string_view> kNeverZero = {"pyrometer_gpu_memory_total_bytes",
                                                            "DCGM_FI_DEV_MEM_CLOCK",
                                                            "pyrometer_gpu_power_watts",
                                                            "pyrometer_gpu_power_limit_watts",
                                                            "pyrometer_gpu_clock_sm_hertz",
                                                            "pyrometer_gpu_clock_memory_hertz",
                                                            "pyrometer_gpu_temperature_celsius",
                                                            "DCGM_FI_DEV_POWER_USAGE",
                                                            "DCGM_FI_DEV_SM_CLOCK",
                                                            "DCGM_FI_DEV_GPU_TEMP"};
      const std::string_view uuid = uuid_in(labels);
      if (kNeverZero.contains(name)) {
        if (value <= 0) wrong(name, labels, value, "cannot be 0");
        if (down.contains(uuid)) wrong(name, labels, value, "is of a GPU that is lost");
      }
      if (name == "pyrometer_gpu_energy_joules_total") {
        double& last = energy_[std::string(uuid)];
        if (value < last) wrong(name, labels, value, "has gone back");
        last = value;
      }
    });
    if (!page.ends_with('\n') || page.find("pyrometer_build_info") == std::string_view::npos) {
      wrong("/metrics", "", 0, "is not complete");
    }
  }
  void wrong(std::string_view what, std::string_view labels, double value, std::string_view why) {
    constexpr int kShown = 10;
    if (++wrong_ <= kShown) fmt::print(stderr, "soak: {}{{{}}} {} {}\n", what, labels, value, why);
  }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] std::int64_t count_wrong() const { return wrong_; }

 private:
  template <typename Visit>
  static void each_sample(std::string_view page, const Visit& visit) {
    while (!page.empty()) {
      const std::size_t end = page.find('\n');
      const std::string_view line = page.substr(0, end);
      page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
      if (line.empty() || line.front() == '#') continue;
      const std::size_t brace = line.find('{');
      const std::size_t close = line.rfind('}');
      if (brace == std::string_view::npos || close == std::string_view::npos) continue;
      visit(line.substr(0, brace), line.substr(brace + 1, close - brace - 1),
            std::strtod(std::string(line.substr(close + 1)).c_str(), nullptr));
    }
  }
  static std::string_view uuid_in(std::string_view labels) {
    for (const std::string_view key : {"uuid=\"", "UUID=\""}) {
      const std::size_t at = labels.find(key);
      if (at == std::string_view::npos) continue;
      const std::string_view rest = labels.substr(at + key.size());
      return rest.substr(0, rest.find('"'));
    }
    return {};
  }

  std::map<std::string, double> energy_;
  std::int64_t samples_ = 0;
  std::int64_t wrong_ = 0;
};

struct Mark {
  double hours = 0;
  double in_use_mib = 0;    // what malloc has given out
  double resident_mib = 0;  // of the whole process, this client included
  std::int64_t threads = 0, files = 0;
};

std::int64_t entries_of(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder),
                       std::filesystem::directory_iterator());
}

Mark take_mark(double hours) {
  constexpr double kMib = 1 << 20;
  Mark mark{.hours = hours};
  mark.in_use_mib = static_cast<double>(::mallinfo2().uordblks + ::mallinfo2().hblkhd) / kMib;
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> pages;
  mark.resident_mib = pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) / kMib;
  mark.threads = entries_of("/proc/self/task");
  mark.files = entries_of("/proc/self/fd");
  return mark;
}

// Least squares over the second half: MiB per played hour.
double slope(const std::vector<Mark>& marks, double Mark::*what) {
  const std::size_t from = marks.size() / 2;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t i = from; i < marks.size(); ++i) {
    ++n;
    x += marks[i].hours;
    y += marks[i].*what;
    xx += marks[i].hours * marks[i].hours;
    xy += marks[i].hours * marks[i].*what;
  }
  const double spread = n * xx - x * x;
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

struct Result {
  Checks checks;
  std::vector<Mark> marks;
  std::int64_t pages = 0;
};

// Scrapes until the time is over.
void scrape(std::uint16_t port, const PlayedClock& clock, double hours, Result& result) {
  const std::array<std::string, 6> kPaths = {"/metrics",       "/api/v1/gpus", "/metrics",
                                             "/api/v1/events", "/metrics",     "/healthz"};
  std::size_t turn = 0;
  double next_mark = 0.95;  // of each hour: after all of its faults
  while (clock.hours() < hours) {
    Client client(port);  // a connection now and then
    for (int i = 0; i < 50 && clock.hours() < hours; ++i, ++turn) {
      const std::string& path = turn % 40 == 0 ? "/api/v1/processes" : kPaths[turn % kPaths.size()];
      const std::string page = client.get(path, {200, 503});
      ++result.pages;
      if (page.empty()) {
        result.checks.wrong(path, "", 0, "has no complete answer");
        break;
      }
      if (path == "/metrics") result.checks.metrics(page);
      if (clock.hours() >= next_mark) {
        result.marks.push_back(take_mark(clock.hours()));
        while (next_mark <= clock.hours()) ++next_mark;
      }
      std::this_thread::sleep_for(5ms);
    }
  }
}

bool run(double hours, double speed, Result& result) {
  auto script = sources::replay::parse_script(kScript, "soak");
  if (!script) {
    fmt::print(stderr, "soak: {}\n", script.error().to_string());
    return false;
  }
  // Shared: a sampling thread that does not end in time is left behind.
  const auto clock = std::make_shared<const PlayedClock>(speed);
  std::vector<std::unique_ptr<sources::Source>> all;
  all.push_back(std::make_unique<sources::replay::ScriptedSource>(sources::replay::ScriptedOptions{
      .script = *script, .clock = [clock] { return clock->now(); }}));
  readout::Live live(
      std::move(all),
      {.host = "soak",
       .made_up = sources::replay::made_up_owners(*script),
       .unix_ms = [clock] { return clock->unix_ms(); },
       .poller = {.period_scale = 1 / speed, .first_retry = 2ms, .last_retry = 2ms}});
  server::ServeOptions options;
  static_cast<void>(server::parse_address("127.0.0.1:0", options.listen.emplace_back()));
  options.recordings.folders = {"/nonexistent"};
  server::block_ending_signals();
  auto opened = server::Server::open(options);
  if (!opened) {
    fmt::print(stderr, "soak: {}\n", opened.error().to_string());
    return false;
  }
  const std::string url = (*opened)->urls().front();
  const auto port = static_cast<std::uint16_t>(std::atoi(url.c_str() + url.rfind(':') + 1));
  std::thread client([&] {
    scrape(port, *clock, hours, result);
    ::kill(::getpid(), SIGTERM);
  });
  const auto served = (*opened)->run(live, [] {});
  client.join();
  if (!served) fmt::print(stderr, "soak: {}\n", served.error().to_string());
  return served.has_value();
}

}  // namespace

int main(int argc, char** argv) {
  const double hours = argc == 3 ? std::atof(argv[1]) : 0;
  const double speed = argc == 3 ? std::atof(argv[2]) : 0;
  if (hours <= 0 || speed < 1) {
    std::fputs("usage: soak HOURS SPEED\n", stderr);
    return 2;
  }
  Result result;
  if (!run(hours, speed, result)) return 1;
  fmt::print(
      "| hour | in use MiB | resident MiB | threads | open files |\n|---:|---:|---:|---:|---:|\n");
  for (const Mark& mark : result.marks) {
    fmt::print("| {:.1f} | {:.2f} | {:.1f} | {} | {} |\n", mark.hours, mark.in_use_mib,
               mark.resident_mib, mark.threads, mark.files);
  }
  const double grows = slope(result.marks, &Mark::in_use_mib);
  fmt::print(
      "{} pages, {} samples looked at, {} wrong; {:+.3f} MiB in use and {:+.3f} MiB resident "
      "per hour over the second half\n",
      result.pages, result.checks.samples(), result.checks.count_wrong(), grows,
      slope(result.marks, &Mark::resident_mib));
  // One leaked snapshot an hour would be about 50 KiB; the marks of a short run say nothing.
  constexpr double kMostGrowth = 0.05;
  constexpr std::size_t kTelling = 8;
  const bool leaks = result.marks.size() >= kTelling && grows > kMostGrowth;
  const bool spreads =
      result.marks.size() >= 2 && (result.marks.back().threads > result.marks.front().threads ||
                                   result.marks.back().files > result.marks.front().files + 1);
  if (leaks) std::fputs("soak: memory in use grows\n", stderr);
  if (spreads) std::fputs("soak: threads or open files grow\n", stderr);
  return result.checks.count_wrong() > 0 || leaks || spreads || result.pages == 0 ? 1 : 0;
}
