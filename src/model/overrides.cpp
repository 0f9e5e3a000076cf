#include "model/overrides.h"

#include <algorithm>
#include <charconv>

#include "model/allocator_settings.h"

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

std::string wrong_value(const OverrideInfo& info, std::string_view value) {
  switch (info.kind) {
    case OverrideKind::kChoice:
      if (is_word(info, value)) return {};
      break;
    case OverrideKind::kWhole:
      if (is_word(info, value) || is_whole(info, value)) return {};
      break;
    case OverrideKind::kSettings:
      return wrong_allocator_settings(value);
  }
  return "that is not " + values_of(info);
}

bool takes_value(const OverrideInfo& info, std::string_view value) {
  return wrong_value(info, value).empty();
}

std::string edit_for(const OverrideInfo& info, std::string_view value) {
  std::string text(info.edit);
  replace_all(text, "{value}", value == "auto" ? info.auto_code : value);
  replace_all(text, "{python}", value == "off" ? "False" : "True");
  replace_all(text, "{dtype}", dtype_of(value));
  return text;
}

}  // namespace pyrometer::model
