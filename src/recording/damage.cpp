#include "recording/damage.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/monotonic.h"

namespace pyrometer::recording {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// The end is written twice a second; what a process did last may come after it.
constexpr std::int64_t kSlack = 60 * kSecond;

}  // namespace

Damage::Damage(Database& database) : run_{0, base::kLatestMonotonicNs} {
  auto statement = database.prepare(
      "SELECT key, CAST(value AS INTEGER) FROM meta WHERE key IN "
      "('start_ns', 'end_ns') ORDER BY key");
  if (!statement) return;  // whoever reads the table says so
  model::Interval told{0, 0};
  while (statement->step()) {
    (statement->text(0) == "start_ns" ? told.start : told.end) = statement->integer(1);
  }
  const auto possible = [](std::int64_t time) {
    return time > 0 && time <= base::kLatestMonotonicNs;
  };
  if (possible(told.start)) run_.start = std::max<std::int64_t>(0, told.start - kSlack);
  if (possible(told.end) && told.end >= told.start) run_.end = told.end + kSlack;
}

void Damage::check_length(const std::string& path) {
  // https://www.sqlite.org/fileformat2.html#the_database_header
  std::array<unsigned char, 100> header{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(header.data()), header.size());
  std::error_code none;
  const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, none));
  if (!file || none || std::filesystem::exists(path + "-wal", none)) return;
  const auto number = [&header](std::size_t at, std::size_t bytes) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value * 256 + header.at(at + i);
    return value;
  };
  constexpr std::int64_t kLargestPage = 65536;  // written as 1
  const std::int64_t page = number(16, 2) == 1 ? kLargestPage : number(16, 2);
  const std::int64_t whole = page * number(28, 4);
  if (number(24, 4) != number(92, 4) || size >= whole) return;
  const std::string text = "the file is cut off: " + std::to_string(size) + " of " +
                           std::to_string(whole) + " bytes are there";
  if (first_.empty()) first_ = text;
  stats_.add("truncated_file", model::StatSeverity::kDataLoss, size, text);
}

void Damage::table(const Database& database, std::string_view table, std::string_view rest,
                   bool told) {
  const std::string name(table);
  std::string text = "the table " + name + " is damaged";
  text = (told ? database.last_error(text).message : text) + "; " + std::string(rest);
  if (first_.empty()) first_ = text;
  stats_.add("damaged_" + name, model::StatSeverity::kDataLoss, -1, text);
}

void Damage::row(std::string_view table) {
  const std::string name(table);
  const std::string text = "rows of the table " + name +
                           " that cannot be (a time outside of the run, a device that is not "
                           "there): left out";
  if (first_.empty()) first_ = text;
  stats_.add("impossible_" + name, model::StatSeverity::kDataLoss, -1, text);
}

}  // namespace pyrometer::recording
