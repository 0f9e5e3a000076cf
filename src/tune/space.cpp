#include "tune/space.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

namespace pyrometer::tune {
namespace {

using base::Result;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<double> number_of(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool is_whole(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Whole numbers that a double holds exactly, with room for sums.
constexpr double kLargest = 1e15;

// Six digits: a hundredth of a range is told apart, and the text stays short.
std::string text_of_real(double number) {
  char buffer[64];
  constexpr int kDigits = 6;
  const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), number,
                                          std::chars_format::general, kDigits);
  return error == std::errc() ? std::string(std::begin(buffer), end) : "";
}

std::string text_of_whole(double number) {
  return std::to_string(static_cast<std::int64_t>(number));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Space> run() {
    Space space;
    std::size_t start = 0;
    while (start <= text_.size()) {
      const std::size_t end = end_of(start, ';');
      if (!trimmed(text_.substr(start, end - start)).empty()) {
        Result<Dimension> dimension = parse_dimension(start, end);
        if (!dimension) return base::fail(dimension.error());
        if (space.find(dimension->name) != nullptr) {
          return fail(dimension->position - 1, dimension->name + " is given twice",
                      "one list of values for each name");
        }
        if (space.dimensions.size() == kMostDimensions) {
          return fail(dimension->position - 1, "too many dimensions",
                      "at most " + std::to_string(kMostDimensions));
        }
        space.dimensions.push_back(std::move(*dimension));
      }
      start = end + 1;
    }
    if (space.dimensions.empty()) {
      return fail(0, "there is no dimension", "NAME=VALUES, such as batch=32,64,128");
    }
    return space;
  }

 private:
  struct Range {
    double low = 0, high = 0, step = 0;  // 0: none given
    bool whole = false;
    bool log = false;
  };

  [[nodiscard]] tl::unexpected<base::Error> fail(std::size_t at, std::string message,
                                                 std::string expected) const {
    return base::fail(
        {.kind = base::ErrorKind::kUsage,
         .message = "character " + std::to_string(at + 1) + " of the space: " + std::move(message),
         .file = "",
         .expected = std::move(expected)});
  }

  // The first `stop` from `start` on that is in no quotes; the end of the text where there is none.
  [[nodiscard]] std::size_t end_of(std::size_t start, char stop) const {
    char quote = 0;
    for (std::size_t i = start; i < text_.size(); ++i) {
      if (quote != 0) {
        if (text_[i] == quote) quote = 0;
      } else if (text_[i] == '\'' || text_[i] == '"') {
        quote = text_[i];
      } else if (text_[i] == stop) {
        return i;
      }
    }
    return text_.size();
  }

  [[nodiscard]] std::size_t skip_blanks(std::size_t at, std::size_t end) const {
    while (at < end && is_blank(text_[at])) ++at;
    return at;
  }

  Result<Dimension> parse_dimension(std::size_t start, std::size_t end) {
    std::size_t at = skip_blanks(start, end);
    Dimension out{.position = at + 1};
    seen_.clear();
    const std::size_t name = at;
    constexpr std::string_view kEnvironment = "env:";
    if (text_.substr(at, kEnvironment.size()) == kEnvironment) at += kEnvironment.size();
    if (at == end || !is_letter(text_[at])) {
      return fail(at, "no name", "a letter or _, as in batch=32,64 or env:OMP_NUM_THREADS=1,2");
    }
    const bool is_variable = at != name;
    while (at < end && (is_letter(text_[at]) || is_digit(text_[at]) ||
                        (!is_variable && (text_[at] == '.' || text_[at] == '-')))) {
      ++at;
    }
    out.name = text_.substr(name, at - name);
    at = skip_blanks(at, end);
    if (at == end || text_[at] != '=') {
      return fail(at, "no = after " + out.name, "= and values");
    }
    ++at;
    while (true) {
      const std::size_t stop = std::min(end, end_of(at, ','));
      if (auto item = parse_item(at, stop, out); !item) return base::fail(item.error());
      if (stop == end) break;
      at = stop + 1;
    }
    return arranged(std::move(out));
  }

  Result<void> add(std::size_t at, std::string value, Dimension& out) {
    if (out.values.size() == kMostValues) {
      return fail(at, out.name + " has too many values",
                  "at most " + std::to_string(kMostValues) + ": a larger step, or log");
    }
    if (!seen_.insert(value).second) {
      return fail(at, value + " is given twice for " + out.name, "each value once");
    }
    out.values.push_back(std::move(value));
    return {};
  }

  // A value or a range between two commas.
  Result<void> parse_item(std::size_t start, std::size_t end, Dimension& out) {
    const std::size_t at = skip_blanks(start, end);
    const std::string_view item = trimmed(text_.substr(at, end - at));
    if (item.empty()) return fail(at, "no value for " + out.name, "a value or a range");
    if (item.front() == '\'' || item.front() == '"') {
      if (item.size() < 2 || item.find(item.front(), 1) != item.size() - 1) {
        return fail(at, "a quoted value that does not end with its quote", "one quoted text");
      }
      return add(at, std::string(item.substr(1, item.size() - 2)), out);
    }
    const std::size_t dots = item.find("..");
    const std::optional<double> low =
        dots == item.npos ? std::nullopt : number_of(trimmed(item.substr(0, dots)));
    if (!low) return add(at, std::string(item), out);
    Result<Range> range = parse_range(at, item, dots, *low);
    if (!range) return base::fail(range.error());
    return expand(at, *range, out);
  }

  Result<Range> parse_range(std::size_t at, std::string_view item, std::size_t dots, double low) {
    Range range{.low = low};
    std::string_view rest = item.substr(dots + 2);
    constexpr std::string_view kLog = "log";
    if (rest.ends_with(kLog) && rest.size() > kLog.size() &&
        is_blank(rest[rest.size() - kLog.size() - 1])) {
      range.log = true;
      rest.remove_suffix(kLog.size());
    }
    const std::size_t colon = rest.find(':');
    const std::string_view high_text = trimmed(rest.substr(0, colon));
    const std::optional<double> high = number_of(high_text);
    if (!high) {
      return fail(at + dots + 2, "the end of a range is no number",
                  "LOW..HIGH, LOW..HIGH:STEP, or either with log behind it");
    }
    range.high = *high;
    range.whole = is_whole(trimmed(item.substr(0, dots))) && is_whole(high_text);
    if (colon != rest.npos) {
      const std::size_t where = at + dots + 3 + colon;
      const std::string_view step_text = trimmed(rest.substr(colon + 1));
      const std::optional<double> step = number_of(step_text);
      const double least = range.log ? 1 : 0;
      if (!step || *step <= least) {
        return fail(where, "a step that is no number above " + text_of_whole(least),
                    range.log ? "the factor from one value to the next" : "the distance of values");
      }
      range.step = *step;
      range.whole = range.whole && (is_whole(step_text) || range.log);
    }
    if (range.high < range.low) {
      return fail(at, "the range ends below its start", "LOW..HIGH");
    }
    if (range.log && range.low <= 0) {
      return fail(at, "a log range from 0 or less", "a start above 0");
    }
    if (std::max(std::abs(range.low), std::abs(range.high)) > kLargest) {
      return fail(at, "a range of numbers that are too large", "at most 1e15");
    }
    return range;
  }

  // Adds the values of a range, its end among them where the steps do not meet it.
  Result<void> expand(std::size_t at, const Range& range, Dimension& out) {
    std::vector<double> values;
    double step = range.step;
    if (range.log && step == 0) {
      step = range.whole ? 2 : std::pow(range.high / range.low, 1.0 / kRealParts);
    } else if (step == 0) {
      step = range.whole ? 1 : (range.high - range.low) / kRealParts;
    }
    // Rounding must not leave out the last value, nor add one beside it.
    const double slack = range.whole ? 0 : 1e-9;
    for (std::size_t i = 0;; ++i) {
      if (i > kMostValues) {
        return fail(at, out.name + " has too many values",
                    "at most " + std::to_string(kMostValues) + ": a larger step, or log");
      }
      const auto n = static_cast<double>(i);
      double value = range.log ? range.low * std::pow(step, n) : range.low + n * step;
      if (range.whole) value = std::round(value);
      const double reach = range.log ? range.high * (1 + slack) : range.high + slack * step;
      if (!(value <= reach)) break;
      if (values.empty() || value > values.back()) values.push_back(std::min(value, range.high));
      // A factor so close to 1 that it does not move, or a range of one value.
      if (range.low == range.high || step == 0 || (range.log && step <= 1)) break;
    }
    const bool closes = range.log && values.back() < range.high * (1 - slack);
    if (closes) values.push_back(range.high);
    for (const double value : values) {
      std::string text = range.whole ? text_of_whole(value) : text_of_real(value);
      const bool rounds_alike =
          value != values.front() && !out.values.empty() && out.values.back() == text;
      if (rounds_alike) continue;
      if (auto added = add(at, std::move(text), out); !added) return added;
    }
    return {};
  }

  // Numbers in ascending order, so that neighbours resemble each other.
  Result<Dimension> arranged(Dimension dimension) const {
    const std::string first = dimension.values.front();
    std::vector<double> numbers;
    for (const std::string& value : dimension.values) {
      if (const auto number = number_of(value)) numbers.push_back(*number);
    }
    if (numbers.size() != dimension.values.size()) return dimension;
    std::vector<std::size_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&numbers](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    std::vector<std::string> values;
    for (const std::size_t i : order) {
      if (!dimension.numbers.empty() && dimension.numbers.back() == numbers[i]) {
        return fail(dimension.position - 1,
                    values.back() + " and " + dimension.values[i] + " are the same number",
                    "each value once");
      }
      dimension.numbers.push_back(numbers[i]);
      values.push_back(dimension.values[i]);
    }
    dimension.values = std::move(values);
    dimension.first = static_cast<std::size_t>(
        std::find(dimension.values.begin(), dimension.values.end(), first) -
        dimension.values.begin());
    return dimension;
  }

  std::string_view text_;
  std::set<std::string> seen_;  // values of the present dimension
};

}  // namespace

std::uint64_t Space::size() const {
  std::uint64_t size = 1;
  for (const Dimension& dimension : dimensions) {
    if (__builtin_mul_overflow(size, dimension.values.size(), &size)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return size;
}

Point Space::first() const {
  Point point;
  for (const Dimension& dimension : dimensions) {
    point.push_back(static_cast<std::uint32_t>(dimension.first));
  }
  return point;
}

Point Space::point(std::uint64_t number) const {
  Point point(dimensions.size());
  for (std::size_t d = dimensions.size(); d-- > 0;) {
    const std::uint64_t count = dimensions[d].values.size();
    point[d] = static_cast<std::uint32_t>(number % count);
    number /= count;
  }
  return point;
}

std::string Space::text_of(const Point& point) const {
  std::string text;
  for (std::size_t d = 0; d < dimensions.size(); ++d) {
    text += (d == 0 ? "" : " ") + dimensions[d].name + "=" + value(point, d);
  }
  return text;
}

const Dimension* Space::find(std::string_view name) const {
  const auto at = std::find_if(dimensions.begin(), dimensions.end(),
                               [name](const Dimension& one) { return one.name == name; });
  return at == dimensions.end() ? nullptr : &*at;
}

Result<Space> parse_space(std::string_view text) { return Parser(text).run(); }

Result<Point> parse_point(std::string_view text, const Space& space) {
  const auto refuse = [](std::string message, std::string expected) {
    return base::fail({.kind = base::ErrorKind::kUsage,
                       .message = std::move(message),
                       .file = "",
                       .expected = std::move(expected)});
  };
  Result<Space> wanted = parse_space(text);
  if (!wanted) return base::fail(wanted.error());
  Point point = space.first();
  for (const Dimension& one : wanted->dimensions) {
    const Dimension* dimension = space.find(one.name);
    if (dimension == nullptr) return refuse(one.name + " is no dimension of the space", "");
    if (one.values.size() != 1) {
      return refuse(one.name + " has more than one value", "one value for each name");
    }
    const auto at =
        std::find(dimension->values.begin(), dimension->values.end(), one.values.front());
    if (at == dimension->values.end()) {
      return refuse(one.values.front() + " is no value of " + one.name + " in the space",
                    "one of its values, such as " + dimension->values.front());
    }
    point[static_cast<std::size_t>(dimension - space.dimensions.data())] =
        static_cast<std::uint32_t>(at - dimension->values.begin());
  }
  return point;
}

}  // namespace pyrometer::tune
