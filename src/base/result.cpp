#include "base/result.h"

namespace pyrometer::base {

std::string Error::to_string() const {
  std::string text;
  if (!file.empty()) text += file + ": ";
  if (offset >= 0) text += "byte " + std::to_string(offset) + ": ";
  text += message;
  if (!expected.empty()) text += " (expected " + expected + ")";
  if (!advice.empty()) text += ". " + advice;
  return text;
}

}  // namespace pyrometer::base
