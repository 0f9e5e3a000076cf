// PYROMETER_STUB_OPTIONS.
#include <cstdlib>
#include <map>
#include <string>

#include "stub_gpu.h"

namespace {

std::map<std::string, std::string> parse() {
  std::map<std::string, std::string> options;
  const char* text = std::getenv("PYROMETER_STUB_OPTIONS");
  std::string rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string item = rest.substr(0, comma);
    const std::size_t equal = item.find('=');
    options[item.substr(0, equal)] = equal == std::string::npos ? "" : item.substr(equal + 1);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  return options;
}

}  // namespace

const char* stub_option(const char* name) {
  // Not destroyed: threads ask while the process exits.
  static const auto& options = *new std::map<std::string, std::string>(parse());
  const auto found = options.find(name);
  return found == options.end() ? nullptr : found->second.c_str();
}

int stub_is_fast() {
  static const int fast = stub_option("fast") != nullptr ? 1 : 0;
  return fast;
}
