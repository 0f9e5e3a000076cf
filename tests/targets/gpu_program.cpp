// A program that uses the simulated GPU (stubs/gpu/stub_gpu.h) as its script says.
//
//   gpu_program 'repeat 100; kernel gemm 20 0; end; sync'
//   gpu_program FILE, or PYROMETER_STUB_SCRIPT=FILE: one command per line, # comments
//
//   kernel NAME US STREAM · driver_kernel NAME US STREAM · graph NAME COUNT US STREAM
//   copy h2d|d2h|d2d|p2p BYTES pageable|pinned US · memset BYTES US · malloc BYTES · query
//   sync [STREAM]                        that stream, or the device
//   drop N · lost N                      see stub_gpu.h
//   repeat N … end · forever … end · thread … end (joined by `join`) · fork … end (waited for)
//   steps N SAMPLES … end                N training steps, told to the hook;
//   PYROMETER_TEST_TOLD=FILE
//                                        gets a line for each: its index, start and end
//   spawn … end                          the block in a new process by exec, waited for
//   run FILE                             another program, waited for
//   exec                                 replaces itself; the rest of the script runs there
//   noinit                               first: no cuInit · init: cuInit now
//   late                                 loads the library by hand and calls InitializeInjection
//   attach CODE · active CODE            the hook's function must return CODE
//   range NAME · counter NAME VALUE · name_range NAME N · yield · resume · retire
//   profiler_calls                       as torch.profiler does: all API calls on, then off
//   control BITS                         waits until the hook sees these bits
//   sleep MS · print TEXT · cat (stdin to stdout) · wait_for FILE (until it is there)
//   exit N · _exit N · quick_exit N · abort · segv · signal N    the ends of a process
#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "inject/hook_abi.h"
#include "tests/stubs/gpu/stub_gpu.h"

namespace {

struct Command {
  std::vector<std::string> words;
  std::vector<Command> block;
  std::size_t line = 0;
  std::size_t end_line = 0;  // of a block
};

struct Script {
  std::vector<std::string> lines;
  std::vector<Command> commands;
};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "gpu_program: %s\n", message.c_str());
  std::_Exit(99);
}

void* library(const char* variable, const char* name) {
  const char* path = std::getenv(variable);
  void* handle = ::dlopen(path != nullptr ? path : name, RTLD_NOW);
  if (handle == nullptr) fail(::dlerror());
  return handle;
}

// A function of the simulated driver, or of the injected library.
template <typename Function>
Function* gpu(const char* name) {
  static void* const handle = library("PYROMETER_TEST_CUDA", "libcuda.so.1");
  auto* function = reinterpret_cast<Function*>(::dlsym(handle, name));
  if (function == nullptr) fail(name);
  return function;
}
#define GPU(function) gpu<decltype(function)>(#function)

template <typename Function>
Function* hook(const char* name) {
  static void* const handle = library("PYROMETER_TEST_LIBRARY", "libpyrometer_inject.so");
  auto* function = reinterpret_cast<Function*>(::dlsym(handle, name));
  if (function == nullptr) fail(name);
  return function;
}
#define HOOK(function) hook<decltype(function)>(#function)

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
}

using Words = std::vector<std::string>;

std::uint64_t number(const Words& words, std::size_t i) {
  if (i >= words.size()) fail("too few words after " + words.front());
  return std::stoull(words[i]);
}
std::uint32_t number32(const Words& words, std::size_t i) {
  return static_cast<std::uint32_t>(number(words, i));
}
std::uint64_t us(const Words& words, std::size_t i) { return number(words, i) * 1000; }

bool opens_block(const std::string& word) {
  return word == "repeat" || word == "forever" || word == "thread" || word == "fork" ||
         word == "steps" || word == "spawn";
}

std::vector<Command> parse(const std::vector<std::string>& lines, std::size_t* at, bool nested) {
  std::vector<Command> commands;
  for (; *at < lines.size(); ++*at) {
    std::istringstream stream(lines[*at].substr(0, lines[*at].find('#')));
    Command command;
    command.line = *at;
    std::copy(std::istream_iterator<std::string>(stream), {}, std::back_inserter(command.words));
    if (command.words.empty()) continue;
    if (command.words[0] == "end") {
      if (!nested) fail("end without a beginning");
      return commands;
    }
    if (opens_block(command.words[0])) {
      ++*at;
      command.block = parse(lines, at, true);
      command.end_line = *at;
    }
    commands.push_back(std::move(command));
  }
  if (nested) fail("a block has no end");
  return commands;
}

class Program {
 public:
  Program(std::vector<std::string> lines, const char* self)
      : lines_(std::move(lines)), self_(self) {
    std::size_t at = 0;
    commands_ = parse(lines_, &at, false);
    add_gpu_commands();
    add_hook_commands();
    add_ends();
  }

  int run() {
    if (commands_.empty() || commands_[0].words[0] != "noinit") gpu<int(unsigned)>("cuInit")(0);
    run(commands_);
    return 0;
  }

 private:
  void run(const std::vector<Command>& commands) {
    for (const Command& command : commands) run(command);
  }

  void run(const Command& command) {
    const std::string& what = command.words[0];
    if (what == "repeat") {
      for (std::uint64_t n = number(command.words, 1); n > 0; --n) run(command.block);
    } else if (what == "forever") {
      for (;;) run(command.block);
    } else if (what == "thread") {
      threads_.emplace_back([this, &command] { run(command.block); });
    } else if (what == "fork") {
      run_forked(command.block);
    } else if (what == "steps") {
      run_steps(command);
    } else if (what == "spawn") {
      const std::string script = lines(command.line + 1, command.end_line);
      run_program({self_, script});
    } else if (what == "exec") {
      exec_rest(command.line);
    } else if (const auto found = verbs_.find(what); found != verbs_.end()) {
      found->second(command.words);
    } else {
      fail("no such command: " + what);
    }
  }

  void run_steps(const Command& command) {
    static const int told = [] {
      const char* path = std::getenv("PYROMETER_TEST_TOLD");
      return path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }();
    for (std::uint64_t n = number(command.words, 1); n > 0; --n) {
      const std::uint64_t start = now_ns();
      run(command.block);
      const std::uint64_t end = now_ns();
      constexpr std::uint32_t kStep = 1;
      HOOK(pyrometer_hook_range)
      (kStep, 0, 0, start, end, next_step_, static_cast<std::int64_t>(number(command.words, 2)));
      if (told >= 0) {
        const std::string line = std::to_string(next_step_) + " " + std::to_string(start) + " " +
                                 std::to_string(end) + "\n";
        [[maybe_unused]] const auto written = ::write(told, line.data(), line.size());
      }
      ++next_step_;
    }
  }

  static void run_program(const std::vector<std::string>& words) {
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t child = 0;
    int status = -1;
    if (::posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) == 0) {
      ::waitpid(child, &status, 0);
    }
    if (status != 0) fail(words[0] + " ended with " + std::to_string(status));
  }

  void run_forked(const std::vector<Command>& block) {
    const pid_t child = ::fork();
    if (child == 0) {
      run(block);
      std::_Exit(0);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || status != 0) fail("the child failed");
  }

  void exec_rest(std::size_t line) {
    const std::string rest = lines(line + 1, lines_.size());
    ::execl(self_, self_, rest.c_str(), static_cast<char*>(nullptr));
    fail("exec failed");
  }

  std::string lines(std::size_t from, std::size_t to) const {
    std::string text;
    for (std::size_t i = from; i < to; ++i) text += lines_[i] + ";";
    return text;
  }

  void add_gpu_commands() {
    verbs_["noinit"] = [](const Words&) {};
    verbs_["init"] = [](const Words&) { gpu<int(unsigned)>("cuInit")(0); };
    verbs_["kernel"] = [](const Words& w) {
      GPU(stub_launch)(w[1].c_str(), us(w, 2), number32(w, 3));
    };
    verbs_["driver_kernel"] = [](const Words& w) {
      GPU(stub_driver_launch)(w[1].c_str(), us(w, 2), number32(w, 3));
    };
    verbs_["graph"] = [](const Words& w) {
      GPU(stub_graph_launch)(w[1].c_str(), number32(w, 2), us(w, 3), number32(w, 4));
    };
    verbs_["copy"] = [](const Words& w) {
      GPU(stub_copy)(w[1].c_str(), number(w, 2), w[3] == "pageable" ? 1 : 0, us(w, 4), 0);
    };
    verbs_["memset"] = [](const Words& w) { GPU(stub_memset)(number(w, 1), us(w, 2), 0); };
    verbs_["malloc"] = [](const Words& w) { GPU(stub_malloc)(number(w, 1)); };
    verbs_["query"] = [](const Words&) { GPU(stub_get_device)(); };
    verbs_["sync"] = [](const Words& w) {
      w.size() > 1 ? GPU(stub_stream_synchronize)(number32(w, 1)) : GPU(stub_device_synchronize)();
    };
    verbs_["drop"] = [](const Words& w) { GPU(stub_drop)(number32(w, 1)); };
    verbs_["lost"] = [](const Words& w) { GPU(stub_lose_times)(number32(w, 1)); };
  }

  void add_hook_commands() {
    verbs_["late"] = [](const Words&) { hook<int()>("InitializeInjection")(); };
    verbs_["attach"] = [](const Words& w) {
      const int code = HOOK(pyrometer_hook_attach)();
      if (code != static_cast<int>(number(w, 1))) fail("attach gave " + std::to_string(code));
    };
    verbs_["active"] = [](const Words& w) {
      const int code = HOOK(pyrometer_hook_active)();
      if (code != static_cast<int>(number(w, 1))) fail("active gave " + std::to_string(code));
    };
    verbs_["range"] = [](const Words& w) { put_range(w[1]); };
    verbs_["name_range"] = [](const Words& w) {
      for (std::uint64_t i = 0; i < number(w, 2); ++i) put_range(w[1] + std::to_string(i));
    };
    verbs_["counter"] = [](const Words& w) {
      const auto name =
          HOOK(pyrometer_hook_name)(w[1].data(), static_cast<std::uint32_t>(w[1].size()));
      HOOK(pyrometer_hook_counter)(name, now_ns(), std::stod(w[2]));
    };
    verbs_["profiler_calls"] = [](const Words&) {
      using Switch = int (*)(std::uint32_t);
      for (const char* name : {"cuptiActivityEnable", "cuptiActivityDisable"}) {
        const auto change = reinterpret_cast<Switch>(::dlsym(RTLD_DEFAULT, name));
        void* library = change == nullptr ? ::dlopen("libcupti.so.13", RTLD_NOW) : nullptr;
        const auto loaded =
            change != nullptr ? change : reinterpret_cast<Switch>(::dlsym(library, name));
        if (loaded == nullptr) fail("no libcupti");
        loaded(5);  // CUPTI_ACTIVITY_KIND_RUNTIME
        loaded(4);  // CUPTI_ACTIVITY_KIND_DRIVER
      }
    };
    verbs_["yield"] = [](const Words&) { HOOK(pyrometer_hook_yield)(); };
    verbs_["resume"] = [](const Words&) { HOOK(pyrometer_hook_resume)(); };
    verbs_["retire"] = [](const Words&) { HOOK(pyrometer_hook_retire)(); };
    verbs_["control"] = [](const Words& w) {
      while (HOOK(pyrometer_hook_control)() != number(w, 1)) ::usleep(1000);
    };
  }

  static void put_range(const std::string& name) {
    const std::uint64_t start = now_ns();
    const auto id = HOOK(pyrometer_hook_name)(name.data(), static_cast<std::uint32_t>(name.size()));
    HOOK(pyrometer_hook_range)(0, 0, id, start, now_ns(), 1, -1);
  }

  void add_ends() {
    verbs_["join"] = [this](const Words&) {
      for (std::thread& thread : threads_) thread.join();
      threads_.clear();
    };
    verbs_["sleep"] = [](const Words& w) {
      std::this_thread::sleep_for(std::chrono::milliseconds(number(w, 1)));
    };
    verbs_["print"] = [](const Words& w) { std::cout << w[1] << std::endl; };
    verbs_["cat"] = [](const Words&) { std::cout << std::cin.rdbuf() << std::flush; };
    verbs_["wait_for"] = [](const Words& w) {
      constexpr int kMostMs = 60'000;
      for (int ms = 0; ::access(w[1].c_str(), F_OK) != 0; ++ms) {
        if (ms >= kMostMs) fail("no " + w[1]);
        ::usleep(1000);
      }
    };
    verbs_["run"] = [](const Words& w) { run_program({w.begin() + 1, w.end()}); };
    verbs_["signal"] = [](const Words& w) {
      std::signal(static_cast<int>(number(w, 1)), SIG_DFL);
      ::raise(static_cast<int>(number(w, 1)));
    };
    verbs_["exit"] = [](const Words& w) { std::exit(static_cast<int>(number(w, 1))); };
    verbs_["_exit"] = [](const Words& w) { ::_exit(static_cast<int>(number(w, 1))); };
    verbs_["quick_exit"] = [](const Words& w) { std::quick_exit(static_cast<int>(number(w, 1))); };
    verbs_["abort"] = [](const Words&) { std::abort(); };
    verbs_["segv"] = [](const Words&) {
      std::signal(SIGSEGV, SIG_DFL);
      ::raise(SIGSEGV);
    };
  }

  std::vector<std::string> lines_;
  const char* self_;
  std::vector<Command> commands_;
  std::vector<std::thread> threads_;
  std::int64_t next_step_ = 0;
  std::map<std::string, std::function<void(const Words&)>> verbs_;
};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

}  // namespace

int main(int argc, char** argv) {
  const char* given = argc > 1 ? argv[1] : std::getenv("PYROMETER_STUB_SCRIPT");
  if (given == nullptr) fail("no script");
  std::ifstream file(given);
  std::string text = given;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  // Never destroyed: threads may run it until the process is gone.
  static Program* program = new Program(split(text, file ? '\n' : ';'), argv[0]);
  return program->run();
}
