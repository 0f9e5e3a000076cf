#include "recording/detail_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "recording/clipped.h"

namespace pyrometer::recording {
namespace {

using base::Result;
using model::Interval;

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostBytes = std::int64_t{1} << 46U;  // of one copy
constexpr std::int64_t kMostDevices = 1024;

RangeType range_type(std::string_view word) {
  for (std::size_t i = 0; i < kRangeTypes; ++i) {
    const auto type = static_cast<RangeType>(i);
    if (word == range_type_name(type)) return type;
  }
  return RangeType::kUser;
}

class DetailReader {
 public:
  DetailReader(Database& database, std::int64_t process, const std::vector<DeviceRow>& devices,
               Damage& damage)
      : database_(database), process_(process), damage_(damage) {
    for (const DeviceRow& device : devices) devices_.insert(device.ordinal);
  }

  Result<Detail> read() {
    if (auto ok = read_windows(); !ok) return base::fail(ok.error());
    if (auto ok = read_activities(); !ok) return base::fail(ok.error());
    if (auto ok = read_calls(); !ok) return base::fail(ok.error());
    if (auto ok = read_ranges(); !ok) return base::fail(ok.error());
    drop_windows();
    return std::move(out_);
  }

 private:
  Result<void> read_windows() {
    auto statement = database_.prepare(
        "SELECT start_ns, end_ns FROM kept_window WHERE process = ? AND why <> 'slowest'");
    if (!statement) return base::fail(statement.error());
    statement->bind(process_);
    while (statement->step()) {
      const Interval window{statement->integer(0), statement->integer(1)};
      if (damage_.is_span(window.start, window.end)) {
        out_.windows.push_back(window);
      } else {
        damage_.row("kept_window");
        out_.lost_all = true;  // unless others are left
      }
    }
    if (statement->failed()) {
      damage_.table(database_, "kept_window", "the later steps are left out");
      out_.lost_all = true;  // unless others are left
    }
    return {};
  }

  // The rows of a table in the order in which they were written: decode(statement, row) says
  // whether a row can be. Where a page is damaged, they are read from the end backwards too; what
  // lies between is lost, and so is the time of rows that cannot be.
  template <typename Row, typename Decode>
  Result<void> scan(const std::string& table, std::vector<Row>& rows, Decode decode) {
    const std::string query = "SELECT rowid, * FROM " + table + " ORDER BY rowid";
    auto forward = database_.prepare(query);
    if (!forward) return base::fail(forward.error());
    std::int64_t last = kFirst;
    bool sound = true;
    Gap gap;
    Row row;
    while (sound && forward->step()) {
      // Else pages point in circles, or what was cut off reads as zeros.
      sound = forward->integer(0) > last;
      if (!sound) break;
      last = forward->integer(0);
      if (forward->integer(1) != process_) continue;
      row = Row();
      if (!decode(*forward, row)) {
        damage_.row(table);
        gap.open = true;
        continue;
      }
      close(gap, row.start);
      rows.push_back(row);
    }
    if (sound && !forward->failed()) {
      close(gap, kLast);
      return {};
    }
    damage_.table(database_, table, "the steps that it touches are left out", sound);
    auto backward = database_.prepare(query + " DESC");
    if (!backward) return base::fail(backward.error());
    std::vector<Row> tail;
    std::int64_t next = kLast;
    Gap tail_gap{.at = kLast, .open = false};
    while (backward->step() && backward->integer(0) > last && backward->integer(0) < next) {
      next = backward->integer(0);
      if (backward->integer(1) != process_) continue;
      row = Row();
      if (!decode(*backward, row)) {
        damage_.row(table);
        tail_gap.open = true;
        continue;
      }
      close(tail_gap, row.start);
      tail.push_back(row);
    }
    // The rows beside the damage may be half of it.
    if (!rows.empty()) rows.pop_back();
    if (!tail.empty()) tail.pop_back();
    const std::int64_t before = rows.empty() ? kFirst : rows.back().start;
    const std::int64_t after = tail.empty() ? kLast : tail.back().start;
    lost_.push_back({std::min(before, after), std::max(before, after)});
    rows.insert(rows.end(), tail.rbegin(), tail.rend());
    return {};
  }

  // Between two rows that can be, by time; rows of one window need not be in order.
  struct Gap {
    std::int64_t at = kFirst;
    bool open = false;
  };

  void close(Gap& gap, std::int64_t time) {
    if (gap.open) lost_.push_back({std::min(gap.at, time), std::max(gap.at, time)});
    gap = {.at = time, .open = false};
  }

  void drop_windows() {
    if (out_.windows.empty()) return;
    out_.lost_all = false;
    if (lost_.empty()) return;
    std::sort(lost_.begin(), lost_.end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    std::vector<Interval> joined;
    for (const Interval& gap : lost_) {
      if (!joined.empty() && gap.start <= joined.back().end) {
        joined.back().end = std::max(joined.back().end, gap.end);
      } else {
        joined.push_back(gap);
      }
    }
    std::erase_if(out_.windows, [&joined](const Interval& window) {
      const auto gap =
          std::lower_bound(joined.begin(), joined.end(), window.start,
                           [](const Interval& g, std::int64_t start) { return g.end < start; });
      return gap != joined.end() && gap->start <= window.end;
    });
    out_.lost_all = out_.windows.empty();
  }

  [[nodiscard]] bool is_device(std::int64_t device) const {
    if (devices_.empty()) return device >= 0 && device < kMostDevices;
    return devices_.contains(device);
  }

  Result<void> read_activities() {
    return scan("activity", out_.rows.activities, [this](const Statement& s, ActivityRow& row) {
      row.type = static_cast<ActivityType>(std::clamp<std::int64_t>(s.integer(2), 0, 2));
      row.start = s.integer(3);
      row.end = s.integer(4);
      row.name = clipped<NameId>(s.integer(5));
      row.device = clipped<std::uint16_t>(s.integer(6));
      row.stream = clipped<std::uint32_t>(s.integer(7));
      row.correlation = clipped<std::uint32_t>(s.integer(8));
      row.config = clipped<std::uint32_t>(s.integer(9));
      row.bytes = clipped<std::uint64_t>(s.integer(10));
      row.copy_kind = clipped<std::uint8_t>(s.integer(11));
      row.memory_kinds = clipped<std::uint8_t>(s.integer(12));
      row.graph = clipped<std::uint32_t>(s.integer(13));
      return damage_.is_span(row.start, row.end) && is_device(s.integer(6)) && s.integer(10) >= 0 &&
             s.integer(10) <= kMostBytes;
    });
  }

  Result<void> read_calls() {
    return scan("api_call", out_.rows.api_calls, [this](const Statement& s, ApiCallRow& row) {
      row.start = s.integer(2);
      row.end = s.integer(3);
      row.name = clipped<NameId>(s.integer(4));
      row.thread = clipped<std::uint32_t>(s.integer(5));
      row.correlation = clipped<std::uint32_t>(s.integer(6));
      row.result = clipped<std::uint32_t>(s.integer(7));
      return damage_.is_span(row.start, row.end);
    });
  }

  Result<void> read_ranges() {
    auto ok = scan("host_range", out_.rows.ranges, [this](const Statement& s, RangeRow& row) {
      row.type = range_type(s.text(2));
      row.start = s.integer(3);
      row.end = s.integer(4);
      row.name = clipped<NameId>(s.integer(5));
      row.thread = clipped<std::uint32_t>(s.integer(6));
      row.a = s.integer(7);
      row.b = s.integer(8);
      row.flags = clipped<std::uint16_t>(s.integer(9));
      return damage_.is_span(row.start, row.end);
    });
    // A pause that is long and lies in a kept window is there as both.
    std::set<std::tuple<RangeType, std::int64_t, std::int64_t, std::uint32_t>> pauses;
    std::erase_if(out_.rows.ranges, [&pauses](const RangeRow& row) {
      return is_pause(row.type) &&
             !pauses.insert({row.type, row.start, row.end, row.thread}).second;
    });
    return ok;
  }

  Database& database_;
  std::int64_t process_;
  Damage& damage_;
  std::set<std::int64_t> devices_;
  std::vector<Interval> lost_;
  Detail out_;
};

}  // namespace

Result<Detail> read_detail(Database& database, std::int64_t process,
                           const std::vector<DeviceRow>& devices, Damage& damage) {
  return DetailReader(database, process, devices, damage).read();
}

}  // namespace pyrometer::recording
