#include "model/overrides.h"

#include <algorithm>
#include <charconv>

namespace pyrometer::model {
namespace {

bool is_word(const OverrideInfo& info, std::string_view word) {
  return std::find(info.words.begin(), info.words.end(), word) != info.words.end();
}

bool is_whole(const OverrideInfo& info, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= info.least &&
         number <= info.most;
}

// A setting's value goes into an environment variable that the allocator parses itself.
bool is_plain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_';
  });
}

bool are_settings(const OverrideInfo& info, std::string_view text) {
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view one = text.substr(0, comma);
    const std::size_t colon = one.find(':');
    if (colon == one.npos || !is_word(info, one.substr(0, colon)) ||
        !is_plain(one.substr(colon + 1))) {
      return false;
    }
    if (comma == text.npos) return true;
    text.remove_prefix(comma + 1);
  }
}

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string_view dtype_of(std::string_view value) {
  if (value == "bf16") return "bfloat16";
  if (value == "fp16") return "float16";
  return value;
}

}  // namespace

const OverrideInfo* find_override(std::string_view id) {
  const auto all = override_table();
  const auto at = std::find_if(all.begin(), all.end(),
                               [id](const OverrideInfo& info) { return info.id == id; });
  return at == all.end() ? nullptr : &*at;
}

std::string text_of(std::span<const Override> overrides) {
  std::string text;
  for (const Override& one : overrides) {
    text += (text.empty() ? "" : " + ") + one.id + "=" + one.value;
  }
  return text;
}

bool answers(const OverrideInfo& info, std::string_view finding) {
  return std::find(info.findings.begin(), info.findings.end(), finding) != info.findings.end();
}

std::vector<const OverrideInfo*> overrides_for(std::string_view finding) {
  std::vector<const OverrideInfo*> found;
  for (const OverrideInfo& info : override_table()) {
    if (answers(info, finding) && !info.default_value.empty()) found.push_back(&info);
  }
  return found;
}

std::string values_of(const OverrideInfo& info) {
  switch (info.kind) {
    case OverrideKind::kChoice:
      return joined(info.words);
    case OverrideKind::kWhole: {
      std::string text = info.least == info.most
                             ? std::to_string(info.least)
                             : "a whole number from " + std::to_string(info.least) + " to " +
                                   std::to_string(info.most);
      return info.words.empty() ? text : text + ", or " + joined(info.words);
    }
    case OverrideKind::kSettings:
      return "key:value,key:value with the keys " + joined(info.words);
  }
  return "";
}

bool takes_value(const OverrideInfo& info, std::string_view value) {
  switch (info.kind) {
    case OverrideKind::kChoice:
      return is_word(info, value);
    case OverrideKind::kWhole:
      return is_word(info, value) || is_whole(info, value);
    case OverrideKind::kSettings:
      return are_settings(info, value);
  }
  return false;
}

std::string edit_for(const OverrideInfo& info, std::string_view value) {
  std::string text(info.edit);
  replace_all(text, "{value}", value == "auto" ? info.auto_code : value);
  replace_all(text, "{python}", value == "off" ? "False" : "True");
  replace_all(text, "{dtype}", dtype_of(value));
  return text;
}

}  // namespace pyrometer::model
