#include "cli/input_guard.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "importers/input_list.h"

namespace pyrometer::cli {
namespace {

namespace fs = std::filesystem;

bool is_file_name(const std::string& path) { return !path.empty() && path != "-"; }

// Whether `path` is one of the files that are read where the folder is named. Others in it, such as
// the report of the last time, may be written again.
bool is_read_from(const std::string& folder, const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error) || !fs::is_directory(folder, error)) return false;
  const auto inputs = importers::list_inputs({folder});
  return inputs && std::any_of(inputs->files.begin(), inputs->files.end(),
                               [&](const std::string& file) { return same_file(file, path); });
}

}  // namespace

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  if (fs::exists(a, error) && fs::exists(b, error)) {
    const bool holds_data = fs::is_regular_file(a, error) || fs::is_directory(a, error);
    return holds_data && fs::equivalent(a, b, error) && !error;
  }
  if (fs::exists(a, error) || fs::exists(b, error)) return false;
  return fs::absolute(a, error).lexically_normal() == fs::absolute(b, error).lexically_normal();
}

std::string given_twice(const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!same_file(paths[i], paths[j])) continue;
      return paths[i] + (paths[i] == paths[j] ? " is given twice" : " is the same as " + paths[j]) +
             ": each run counts once";
    }
  }
  return {};
}

std::string overwrites(const std::vector<Output>& outputs, const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = outputs[i];
    if (!is_file_name(output.path)) continue;
    for (const std::string& input : inputs) {
      if (!is_file_name(input)) continue;
      if (same_file(output.path, input) || is_read_from(input, output.path)) {
        return output.option + " " + output.path + " would overwrite an input (" + input + ")";
      }
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (is_file_name(outputs[j].path) && same_file(output.path, outputs[j].path)) {
        return output.option + " and " + outputs[j].option + " name the same file, " + output.path;
      }
    }
  }
  return {};
}

}  // namespace pyrometer::cli
