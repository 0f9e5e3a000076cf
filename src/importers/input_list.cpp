#include "importers/input_list.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <unordered_set>

namespace pyrometer::importers {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr std::array<std::string_view, 18> kEndings = {
    ".json", ".json.gz", ".json.zst", ".json.xz",  ".json.bz2",  ".json.lz4",
    ".tar",  ".tar.gz",  ".tgz",      ".tar.zst",  ".tar.xz",    ".tar.bz2",
    ".zip",  ".7z",      ".pt.trace", ".trace.gz", ".json.zstd", ".tzst"};

bool is_wanted(std::string_view name) {
  if (name.ends_with(".tmp")) name.remove_suffix(4);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [name](std::string_view ending) { return name.ends_with(ending); });
}

base::Error system_error(const std::error_code& code, const std::string& path) {
  base::Error error;
  error.file = path;
  if (code == std::errc::no_such_file_or_directory || code == std::errc::not_a_directory) {
    error.kind = base::ErrorKind::kNotFound;
    error.message = "no such file or folder";
    error.advice = "Check the path";
  } else if (code == std::errc::permission_denied || code == std::errc::operation_not_permitted) {
    error.kind = base::ErrorKind::kPermission;
    error.message = "no permission to read it";
    error.advice = "Run as a user who may read it, or change its mode";
  } else {
    error.message = code.message();
  }
  return error;
}

base::Result<void> list_folder(const std::string& folder, InputList& out) {
  std::error_code code;
  std::vector<std::string> found;
  std::int64_t passed_over = 0;
  std::int64_t recordings = 0;
  std::string example, recording;
  fs::recursive_directory_iterator at(folder, code);
  if (code) return base::fail(system_error(code, folder));
  for (const fs::recursive_directory_iterator end; at != end;) {
    std::error_code ignored;
    if (at->is_regular_file(ignored)) {
      const std::string path = at->path().string();
      if (is_wanted(path)) {
        found.push_back(path);
      } else {
        if (path.ends_with(".pyro")) {
          ++recordings;
          if (recording.empty() || natural_less(path, recording)) recording = path;
        }
        ++passed_over;
        const std::string name = at->path().filename().string();
        if (example.empty() || natural_less(name, example)) example = name;
      }
    }
    // A subfolder that may not be read is passed over, with a note.
    const std::string here = at->path().string();
    at.increment(code);
    if (code) {
      out.notes.push_back(here + ": passed over (" + code.message() + ")");
      code.clear();
      if (at == fs::recursive_directory_iterator()) break;
      at.disable_recursion_pending();
    }
  }
  std::sort(found.begin(), found.end(), natural_less);
  const std::unordered_set<std::string> names(found.begin(), found.end());
  for (const std::string& path : found) {
    // A .tmp whose final file exists was not left behind by a crash: the final one counts.
    if (path.ends_with(".tmp") && names.contains(path.substr(0, path.size() - 4))) {
      out.notes.push_back(path + ": passed over, the finished file lies beside it");
      continue;
    }
    out.files.push_back(path);
  }
  if (passed_over > 0) {
    out.notes.push_back(folder + ": " + std::to_string(passed_over) +
                        (passed_over == 1 ? " file" : " files") + " passed over by name (" +
                        example + (passed_over == 1 ? ")" : ", …)"));
  }
  if (found.empty()) {
    base::Error error;
    error.kind = base::ErrorKind::kEmpty;
    error.file = folder;
    if (recordings > 0) {
      error.message = recordings == 1 ? "the folder holds a recording, and no trace"
                                      : "the folder holds " + std::to_string(recordings) +
                                            " recordings, and no trace";
      error.expected = "one run: a recording by its own name, or a folder with its ranks' traces";
      error.advice = "Name the recording: " + recording;
      return base::fail(std::move(error));
    }
    error.message = "the folder holds no trace";
    error.expected = "files that end in .json, .json.gz, .json.zst, .tar, .tgz or .zip";
    error.advice = "Name the folder given to tensorboard_trace_handler(), or a file";
    return base::fail(std::move(error));
  }
  return {};
}

base::Result<void> list_path(const std::string& path, InputList& out) {
  std::error_code code;
  const fs::file_status status = path == "-" ? fs::file_status() : fs::status(path, code);
  if (path != "-" && status.type() == fs::file_type::not_found) {
    return base::fail(
        system_error(std::make_error_code(std::errc::no_such_file_or_directory), path));
  }
  if (code) return base::fail(system_error(code, path));
  if (status.type() == fs::file_type::directory) return list_folder(path, out);
  out.files.push_back(path);
  out.is_named.resize(out.files.size(), true);
  return {};
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      std::size_t a_end = i;
      std::size_t b_end = j;
      while (a_end < a.size() && is_digit(a[a_end])) ++a_end;
      while (b_end < b.size() && is_digit(b[b_end])) ++b_end;
      std::string_view x = a.substr(i, a_end - i);
      std::string_view y = b.substr(j, b_end - j);
      x.remove_prefix(std::min(x.find_first_not_of('0'), x.size()));
      y.remove_prefix(std::min(y.find_first_not_of('0'), y.size()));
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      i = a_end;
      j = b_end;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  if (a.size() - i != b.size() - j) return a.size() - i < b.size() - j;
  return a < b;  // equal but for leading zeros
}

base::Result<InputList> list_inputs(const std::vector<std::string>& paths) {
  InputList out;
  if (paths.empty()) {
    return base::fail({.kind = base::ErrorKind::kUsage, .message = "no trace named"});
  }
  for (const std::string& path : paths) {
    if (path == "-" && std::find(out.files.begin(), out.files.end(), path) != out.files.end()) {
      return base::fail(
          {.kind = base::ErrorKind::kUsage, .message = "stdin can be read only once"});
    }
    auto listed = list_path(path, out);
    if (!listed) out.errors.push_back(listed.error());
    out.is_named.resize(out.files.size(), false);
  }
  if (out.files.empty()) return base::fail(out.errors.front());
  return out;
}

}  // namespace pyrometer::importers
