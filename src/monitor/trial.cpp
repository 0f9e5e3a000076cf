#include "monitor/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace pyrometer::monitor {
namespace {

std::string list_of(const std::vector<model::Override>& overrides) {
  std::string text;
  for (const model::Override& one : overrides) {
    text += (text.empty() ? "" : ";") + one.id + "=" + one.value;
  }
  return text;
}

}  // namespace

std::vector<std::string> trial_environment(const TrialOptions& trial) {
  std::vector<std::string> set;
  if (!trial.with.empty()) set.push_back("PYROMETER_WITH=" + list_of(trial.with));
  if (!trial.alternate.empty()) {
    set.push_back("PYROMETER_ALTERNATE=" + list_of(trial.alternate));
    set.push_back("PYROMETER_ALTERNATE_BLOCK=" + std::to_string(trial.block_steps));
  }
  std::string limits;
  if (trial.stop_after_seconds > 0) limits = fmt::format("seconds={}", trial.stop_after_seconds);
  if (trial.stop_after_steps > 0) {
    limits += fmt::format("{}steps={}", limits.empty() ? "" : ",", trial.stop_after_steps);
  }
  if (!limits.empty()) set.push_back("PYROMETER_STOP_AFTER=" + limits);
  if (trial.seed) set.push_back("PYROMETER_SEED=" + std::to_string(*trial.seed));
  if (trial.losses > 0) set.push_back("PYROMETER_LOSS=" + std::to_string(trial.losses));
  return set;
}

bool is_so_already(std::string_view id, std::string_view text) {
  if (!text.starts_with("cannot: because ") || !text.ends_with(" already")) return false;
  // In another mode, or by another way to update: not what was asked for.
  const bool other =
      id == "compile" || (id == "optimizer.foreach" && text.ends_with("it is fused already"));
  return !other;
}

std::string OverrideLog::take(std::int64_t process, std::string_view id, std::string_view text) {
  constexpr std::size_t kMost = 10'000;  // a ring is foreign
  const auto same = std::find_if(said_.begin(), said_.end(), [&](const Said& one) {
    return one.process == process && one.id == id;
  });
  if (same != said_.end()) {
    same->text = text;
  } else if (said_.size() < kMost) {
    said_.push_back({process, std::string(id), std::string(text)});
  }
  if (!text.starts_with("cannot")) return "";
  std::string sentence = fmt::format("override {} {}", id, text);
  if (std::find(told_.begin(), told_.end(), sentence) != told_.end() || told_.size() >= kMost) {
    return "";
  }
  told_.push_back(sentence);
  return sentence;
}

std::vector<OverrideStatus> OverrideLog::statuses() const {
  std::vector<OverrideStatus> all;
  for (const Said& one : said_) {
    const auto same = std::find_if(all.begin(), all.end(), [&one](const OverrideStatus& status) {
      return status.id == one.id && status.text == one.text;
    });
    if (same != all.end()) {
      ++same->processes;
    } else {
      all.push_back({one.id, one.text, 1});
    }
  }
  return all;
}

std::vector<std::string> OverrideLog::unapplied(const TrialOptions& trial) const {
  std::vector<std::string> sentences;
  const auto look_at = [&](const model::Override& wanted) {
    bool any = false;
    std::string waiting;
    for (const Said& one : said_) {
      if (one.id != wanted.id) continue;
      any = true;
      if (one.text.starts_with("waiting")) waiting = one.text;
    }
    if (!any) {
      sentences.push_back(fmt::format(
          "override {} was not applied: no process that trains with PyTorch loaded the hook",
          wanted.id));
    } else if (!waiting.empty()) {
      sentences.push_back(
          fmt::format("override {} was not applied in every process: {}", wanted.id, waiting));
    }
  };
  std::for_each(trial.with.begin(), trial.with.end(), look_at);
  std::for_each(trial.alternate.begin(), trial.alternate.end(), look_at);
  return sentences;
}

}  // namespace pyrometer::monitor
