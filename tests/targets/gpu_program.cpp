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
//   exec                                 replaces itself; the rest of the script runs there
//   noinit                               first: no cuInit · init: cuInit now
//   late                                 loads the library by hand and calls InitializeInjection
//   attach CODE · active CODE            the hook's function must return CODE
//   range NAME · counter NAME VALUE · name_range NAME N · yield · resume · retire
//   control BITS                         waits until the hook sees these bits
//   sleep MS · print TEXT
//   exit N · _exit N · quick_exit N · abort · segv    the ends of a process
#include <dlfcn.h>
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
  return word == "repeat" || word == "forever" || word == "thread" || word == "fork";
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
    } else if (what == "exec") {
      exec_rest(command.line);
    } else if (const auto found = verbs_.find(what); found != verbs_.end()) {
      found->second(command.words);
    } else {
      fail("no such command: " + what);
    }
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
    std::string rest;
    for (std::size_t i = line + 1; i < lines_.size(); ++i) rest += lines_[i] + ";";
    ::execl(self_, self_, rest.c_str(), static_cast<char*>(nullptr));
    fail("exec failed");
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
