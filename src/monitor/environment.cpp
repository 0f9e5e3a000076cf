#include "monitor/environment.h"

#include <string_view>

extern char** environ;

namespace pyrometer::monitor {

std::vector<std::string> merged_environment(const std::vector<std::string>& added) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view existing(*entry);
    const std::string_view name = existing.substr(0, existing.find('='));
    bool replaced = false;
    for (const std::string& one : added) {
      replaced = replaced || std::string_view(one).substr(0, one.find('=')) == name;
    }
    if (!replaced) all.emplace_back(existing);
  }
  for (const std::string& one : added) {
    if (one.find('=') != one.npos) all.push_back(one);
  }
  return all;
}

std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

}  // namespace pyrometer::monitor
