#include "importers/kineto/readable_text.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/utf8.h"

namespace pyrometer::importers::kineto {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6));
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

// Replaces what is not UTF-8 by U+FFFD; false when there was nothing to replace.
bool mend_utf8(std::string& text) {
  std::string out;
  bool broken = false;
  for (std::size_t i = 0; i < text.size();) {
    const base::CodePoint point = base::decode_utf8(std::string_view(text).substr(i));
    if (point.valid) {
      out.append(text, i, point.length);
    } else {
      out += "\xEF\xBF\xBD";
      broken = true;
    }
    i += point.length;
  }
  if (broken) text = std::move(out);
  return broken;
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Four hexadecimal digits at `at`, or -1.
int unicode_escape(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    const int digit = hex_value(raw[i]);
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

std::string unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    const char c = raw[++i];
    if (c == 'u') {
      auto code = static_cast<std::uint32_t>(unicode_escape(raw, i + 1));
      i += 4;
      // Two surrogate halves make one character; a half alone is mended with the invalid UTF-8.
      if (code >= 0xD800 && code < 0xDC00 && i + 2 < raw.size() && raw[i + 1] == '\\' &&
          raw[i + 2] == 'u') {
        const int low = unicode_escape(raw, i + 3);
        if (low >= 0xDC00 && low < 0xE000) {
          code = 0x10000 + ((code - 0xD800) << 10) + (static_cast<std::uint32_t>(low) - 0xDC00);
          i += 6;
        }
      }
      append_utf8(out, code);
      continue;
    }
    switch (c) {
      case 'b':
      case 'f':
      case 'n':
      case 'r':
      case 't':
        out += ' ';
        break;
      default:
        out += c;
    }
  }
  return out;
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

}  // namespace

bool has_invalid_escape(std::string_view raw) {
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') continue;
    if (++i == raw.size()) return true;
    if (raw[i] == 'u') {
      if (unicode_escape(raw, i + 1) < 0) return true;
    } else if (std::string_view("\"\\/bfnrt").find(raw[i]) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

std::string readable_text(std::string_view raw, TextFlaws& flaws) {
  std::string text;
  flaws.control_characters = std::any_of(raw.begin(), raw.end(), is_control);
  if (raw.find('\\') != std::string_view::npos) {
    flaws.invalid_escape = has_invalid_escape(raw);
    text = flaws.invalid_escape ? std::string(raw) : unescape(raw);
  } else {
    text = std::string(raw);
  }
  flaws.invalid_utf8 = mend_utf8(text);
  // Escaped control characters are sound JSON, but no report may print them to a terminal either.
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  return text;
}

}  // namespace pyrometer::importers::kineto
