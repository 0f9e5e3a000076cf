// What `pyrometer serve` costs, from outside: how long scrapes take at 50 a second with 16 GPUs and
// 128 processes, and processor time and memory with 8 GPUs and a scrape every 15 seconds. The GPUs
// are those of the simulated NVML (tests/stubs/nvml), whose calls return at once: what a driver
// takes for its calls comes on top, and is bench/live's subject.
//
// usage: serve_bench PYROMETER STUB_FOLDER [SECONDS]     30 s for each part
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// `pyrometer serve` on a simulated machine.
class Server {
 public:
  Server(const std::string& program, const std::string& stub, int gpus, int processes_each) {
    std::ofstream world(folder_ / "world");
    world << "gpus " << gpus << "\n";
    for (int gpu = 0; gpu < gpus; ++gpu) {
      for (int i = 0; i < processes_each; ++i) {
        const int pid = 10'000 + gpu * 100 + i;
        world << "gpu" << gpu << " process " << pid << " compute 1000 10\n";
        add_process(pid);
      }
    }
    world.close();
    std::filesystem::create_directories(folder_ / "proc/self/ns");
    std::filesystem::create_symlink("pid:[4026531836]", folder_ / "proc/self/ns/pid");
    const std::string log = folder_ / "log";
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setenv("LD_LIBRARY_PATH", stub.c_str(), 1);
      ::setenv("PYROMETER_STUB_NVML", (folder_ / "world").c_str(), 1);
      const int out = ::open(log.c_str(), O_WRONLY | O_CREAT, 0600);
      ::dup2(out, STDERR_FILENO);
      ::execl(program.c_str(), program.c_str(), "serve", "--listen", "127.0.0.1:0", "--root",
              folder_.c_str(), nullptr);
      ::_exit(127);
    }
    for (int i = 0; i < 200 && port_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      std::ifstream file(log);
      std::string line;
      std::getline(file, line);
      if (line.find("serving on") != std::string::npos) {
        port_ = std::atoi(line.substr(line.rfind(':') + 1).c_str());
      }
    }
    if (port_ == 0) {
      std::fputs("serve_bench: the server does not start\n", stderr);
      std::exit(1);
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
    std::filesystem::remove_all(folder_);
  }

  [[nodiscard]] int port() const { return port_; }
  // Of all threads so far, by the scheduler's own account: ticks are too coarse.
  [[nodiscard]] double cpu_seconds() const {
    double sum = 0;
    for (const auto& task :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid_) + "/task")) {
      double nanoseconds = 0;
      std::ifstream(task.path() / "schedstat") >> nanoseconds;
      sum += nanoseconds / 1e9;
    }
    return sum;
  }
  [[nodiscard]] double status_mib(const std::string& key) const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with(key + ":")) return std::atof(line.c_str() + key.size() + 1) / 1024;
    }
    return 0;
  }

 private:
  void add_process(int pid) const {
    const auto place = folder_ / "proc" / std::to_string(pid);
    std::filesystem::create_directories(place);
    std::ofstream(place / "status") << "Uid:\t1000\t1000\t1000\t1000\n";
    std::ofstream(place / "cmdline") << "python" << '\0' << "train.py" << '\0';
    std::ofstream(place / "cgroup") << "0::/slurm/uid_1000/job_" << pid / 100 << "/step_0\n";
  }

  std::filesystem::path folder_ = [] {
    std::string name = std::filesystem::temp_directory_path() / "serve_bench.XXXXXX";
    return std::filesystem::path(::mkdtemp(name.data()));
  }();
  pid_t pid_ = -1;
  int port_ = 0;
};

class Client {
 public:
  explicit Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      std::perror("serve_bench");
      std::exit(1);
    }
    const int on = 1;
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(fd_); }

  // Bytes of the body.
  std::size_t scrape(bool packed) {
    const std::string request = std::string("GET /metrics HTTP/1.1\r\nHost: localhost\r\n") +
                                (packed ? "Accept-Encoding: gzip\r\n" : "") + "\r\n";
    if (::write(fd_, request.data(), request.size()) < 0) std::exit(1);
    std::size_t head = std::string::npos;
    std::size_t length = 0;
    text_.clear();
    while (head == std::string::npos || text_.size() < head + 4 + length) {
      char buffer[65536];
      const ssize_t size = ::read(fd_, buffer, sizeof buffer);
      if (size <= 0) {
        std::fputs("serve_bench: the server hung up\n", stderr);
        std::exit(1);
      }
      text_.append(buffer, static_cast<std::size_t>(size));
      if (head == std::string::npos) {
        head = text_.find("\r\n\r\n");
        if (head != std::string::npos) {
          length = std::strtoull(text_.c_str() + text_.find("Content-Length: ") + 16, nullptr, 10);
        }
      }
    }
    return length;
  }

 private:
  int fd_;
  std::string text_;
};

void scrape_often(const std::string& program, const std::string& stub, bool packed, int seconds) {
  constexpr int kPerSecond = 50;
  const Server server(program, stub, 16, 8);
  std::this_thread::sleep_for(std::chrono::seconds(6));  // the second round of everything
  Client client(server.port());
  std::vector<double> times;
  std::size_t bytes = 0;
  const double cpu = server.cpu_seconds();
  const auto begin = Clock::now();
  for (int i = 0; i < seconds * kPerSecond; ++i) {
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(1000 / kPerSecond) * i);
    const auto asked = Clock::now();
    bytes = client.scrape(packed);
    times.push_back(seconds_since(asked) * 1e3);
  }
  const double wall = seconds_since(begin);
  const double used = server.cpu_seconds() - cpu;
  std::ranges::sort(times);
  const auto at = [&](double share) {
    return times[std::min(times.size() - 1,
                          static_cast<std::size_t>(share * static_cast<double>(times.size())))];
  };
  fmt::print(
      "16 GPUs, 128 processes, {} scrapes/s{}: page {:.0f} KB; p50 {:.2f} ms, p99 {:.2f} ms, "
      "max {:.2f} ms ({} scrapes)\n",
      kPerSecond, packed ? ", gzip" : "", static_cast<double>(bytes) / 1e3, at(0.5), at(0.99),
      times.back(), times.size());
  fmt::print("  server {:.2f}% of a core, {:.1f} MiB resident, peak {:.1f} MiB\n",
             100 * used / wall, server.status_mib("VmRSS"), server.status_mib("VmHWM"));
}

void run_quietly(const std::string& program, const std::string& stub, int seconds) {
  constexpr int kPeriod = 15;
  const Server server(program, stub, 8, 2);
  std::this_thread::sleep_for(std::chrono::seconds(6));
  const double cpu = server.cpu_seconds();
  const auto begin = Clock::now();
  for (int i = 0; i < seconds; ++i) {
    if (i % kPeriod == 0) Client(server.port()).scrape(true);
    std::this_thread::sleep_until(begin + std::chrono::seconds(i + 1));
  }
  const double used = server.cpu_seconds() - cpu;
  fmt::print(
      "8 GPUs, 16 processes, a scrape every {} s: {:.3f}% of a core, {:.1f} MiB resident, peak "
      "{:.1f} MiB ({} s)\n",
      kPeriod, 100 * used / seconds_since(begin), server.status_mib("VmRSS"),
      server.status_mib("VmHWM"), seconds);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 3 ? std::atoi(argv[3]) : 30;
  if (argc < 3 || seconds < 1) {
    std::fputs("usage: serve_bench PYROMETER STUB_FOLDER [SECONDS]\n", stderr);
    return 2;
  }
  scrape_often(argv[1], argv[2], false, seconds);
  scrape_often(argv[1], argv[2], true, seconds);
  run_quietly(argv[1], argv[2], std::max(seconds, 60));
  return 0;
}
