#include "verify/gate_limits.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

namespace pyrometer::verify {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

// A number and what follows it.
std::optional<std::pair<double, std::string>> split_number(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || !std::isfinite(number)) return std::nullopt;
  std::string unit(stop, end);
  unit.erase(0,
             unit.find_first_not_of(' ') == unit.npos ? unit.size() : unit.find_first_not_of(' '));
  return std::pair{number, unit};
}

struct Unit {
  std::string_view name;
  double factor;
};

std::optional<double> in_unit(double number, std::string_view unit, std::span<const Unit> units) {
  if (unit.empty()) return number;
  for (const Unit& one : units) {
    if (one.name == unit) return number * one.factor;
  }
  return std::nullopt;
}

constexpr std::array<Unit, 9> kByteUnits = {{{"B", 1},
                                             {"KiB", 1024},
                                             {"MiB", 1024.0 * 1024},
                                             {"GiB", kGiB},
                                             {"TiB", kGiB * 1024},
                                             {"kB", 1e3},
                                             {"MB", 1e6},
                                             {"GB", 1e9},
                                             {"TB", 1e12}}};
constexpr std::array<Unit, 5> kTimeUnits = {
    {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}}};
constexpr std::array<Unit, 1> kShareUnits = {{{"%", 0.01}}};

std::optional<double> value_in(std::string_view text, std::string_view fact_unit) {
  const auto parts = split_number(text);
  if (!parts) return std::nullopt;
  const auto& [number, unit] = *parts;
  if (fact_unit == "fraction") {
    if (unit.empty() && number > 1) return std::nullopt;  // 5 where 5% is meant
    return in_unit(number, unit, kShareUnits);
  }
  if (fact_unit == "ns") return in_unit(number, unit, kTimeUnits);
  if (fact_unit == "bytes") return in_unit(number, unit, kByteUnits);
  if (unit.empty() || unit == fact_unit) return number;
  return std::nullopt;
}

std::optional<model::FactId> fact_named(std::string_view name) {
  for (std::size_t i = 0; i < model::kFactCount; ++i) {
    const auto id = static_cast<model::FactId>(i);
    if (model::fact_info(id).id == name) return id;
  }
  return std::nullopt;
}

auto wrong(std::string what) {
  return base::fail(base::Error{.kind = base::ErrorKind::kUsage, .message = std::move(what)});
}

}  // namespace

base::Result<double> parse_share(std::string_view text) {
  const auto parts = split_number(text);
  const auto share = parts ? in_unit(parts->first, parts->second, kShareUnits) : std::nullopt;
  if (!share || *share < 0) return wrong("is no share such as 3% or 0.03");
  if (parts->second.empty() && *share >= 1) {
    return wrong(fmt::format("is {:g}% in writing: did you mean {:g}%?", *share * 100, *share));
  }
  return *share;
}

base::Result<double> parse_bytes(std::string_view text) {
  const auto parts = split_number(text);
  const auto bytes = parts ? in_unit(parts->first, parts->second, kByteUnits) : std::nullopt;
  if (!bytes || *bytes <= 0) return wrong("is no size above 0 such as 70GiB");
  if (parts->second.empty()) {
    return wrong(fmt::format("has no unit: did you mean {:g}GiB?", parts->first));
  }
  return *bytes;
}

base::Result<Requirement> parse_requirement(std::string_view text) {
  constexpr std::pair<std::string_view, Relation> kSigns[] = {
      {">=", Relation::kAtLeast}, {"<=", Relation::kAtMost}, {"==", Relation::kEqual},
      {"!=", Relation::kUnequal}, {">", Relation::kAbove},   {"<", Relation::kBelow}};
  for (const auto& [sign, relation] : kSigns) {
    const std::size_t at = text.find(sign);
    if (at == text.npos) continue;
    std::string_view name = text.substr(0, at);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    const std::optional<model::FactId> fact = fact_named(name);
    if (!fact) {
      return base::fail(base::Error{.kind = base::ErrorKind::kNotFound,
                                    .message = "names no fact of docs/reference/facts.md"});
    }
    const model::FactInfo& info = model::fact_info(*fact);
    const std::string_view value_text = text.substr(at + sign.size());
    if (info.unit == "text") {
      return wrong("names a fact that is a text, not a number: it cannot be required");
    }
    const std::optional<double> value = value_in(value_text, info.unit);
    if (!value) {
      return wrong("has no number in the fact's unit (" + std::string(info.unit) +
                   (info.unit == "fraction" ? ": 5% or 0.05" : "") + ") behind " +
                   std::string(sign));
    }
    return Requirement{
        .text = std::string(text), .fact = *fact, .relation = relation, .value = *value};
  }
  return wrong("has none of >=, <=, >, <, ==, !=");
}

}  // namespace pyrometer::verify
