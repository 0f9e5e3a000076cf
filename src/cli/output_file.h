// The one way in which commands write their results.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/json_writer.h"
#include "cli/generated/exit_codes.h"

namespace pyrometer::cli {

// A file, or stdout where the path is empty or "-". Nothing is thrown and nothing printed until
// finish(). Expects that SIGPIPE does not end the process.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // False once anything could not be written; the rest may then be left out.
  bool write(std::string_view text);

  // Closes. kOk when every byte was accepted and the file closed without an error; else kOutput,
  // with a message on stderr that says what happened — except for a reader that closed the pipe,
  // who does not want to hear about it.
  [[nodiscard]] ExitCode finish();

 private:
  [[nodiscard]] bool to_stdout() const { return path_.empty() || path_ == "-"; }
  void close();

  std::string path_;
  int fd_ = -1;
  int error_ = 0;  // the first errno
  bool opened_ = false;
};

// Writes a file anew, in one move: until all of it is written, `path` holds what it held. What is
// no regular file, and stdout, is written as it comes.
[[nodiscard]] ExitCode replace_file(const std::string& path,
                                    const std::function<bool(const base::TextSink&)>& write);

// Writes one text to `path`, as above.
[[nodiscard]] ExitCode write_output(std::string_view text, const std::string& path = {});

}  // namespace pyrometer::cli
