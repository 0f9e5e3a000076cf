#include "importers/rank_assignment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

namespace pyrometer::importers {
namespace {

constexpr std::size_t kMaxDigits = 6;  // longer numbers are times or process ids

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/:");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::optional<std::int32_t> number_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  std::int32_t value = 0;
  while (end < text.size() && is_digit(text[end]) && end - at <= kMaxDigits) {
    value = value * 10 + (text[end++] - '0');
  }
  if (end == at || end - at > kMaxDigits) return std::nullopt;
  return value;
}

// "rank", then at most one separator, then the number.
std::optional<std::int32_t> number_after(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    std::size_t number = at + word.size();
    if (number < text.size() &&
        std::string_view("-_.=").find(text[number]) != std::string_view::npos)
      ++number;
    if (const auto value = number_at(text, number)) return value;
  }
  return std::nullopt;
}

// "host_3.pt.trace.json", "trace_3.json": a number between an underscore and the ending.
std::optional<std::int32_t> number_before_ending(std::string_view text) {
  constexpr std::array<std::string_view, 3> kEndings = {".pt.trace", ".trace", ".json"};
  for (const std::string_view ending : kEndings) {
    const std::size_t end = text.find(ending);
    if (end == std::string_view::npos) continue;
    std::size_t begin = end;
    while (begin > 0 && is_digit(text[begin - 1])) --begin;
    const bool set_off = begin == 0 || text[begin - 1] == '_' || text[begin - 1] == '-';
    if (begin < end && set_off) return number_at(text, begin);
    return std::nullopt;
  }
  return std::nullopt;
}

// Ids depend on which thread met a name first, so they are not compared.
bool same_names(const base::StringPool& a, const base::StringPool& b) {
  if (a.size() != b.size()) return false;
  const auto sorted = [](const base::StringPool& pool) {
    std::vector<std::string_view> names;
    for (std::uint32_t id = 0; id < pool.size(); ++id) names.push_back(pool.view(id));
    std::sort(names.begin(), names.end());
    return names;
  };
  return sorted(a) == sorted(b);
}

bool same_content(const model::RankTimeline& a, const model::RankTimeline& b) {
  return a.info.event_count == b.info.event_count && a.info.trace_id == b.info.trace_id &&
         a.activities.start == b.activities.start && a.activities.end == b.activities.end &&
         a.api_calls.start == b.api_calls.start && a.host_ops.start == b.host_ops.start &&
         a.host_ops.end == b.host_ops.end && same_names(a.names, b.names);
}

std::string plural(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

class Assigner {
 public:
  explicit Assigner(std::vector<Candidate> candidates) : candidates_(std::move(candidates)) {}

  model::Timeline run() {
    for (Candidate& c : candidates_) {
      if (c.claim) claim(c, *c.claim, model::RankSource::kDistributedInfo);
    }
    for (Candidate& c : candidates_) {
      if (c.claim) continue;
      if (const auto rank = rank_in_name(c.timeline.info.file)) {
        claim(c, *rank, model::RankSource::kFileName);
      } else {
        unclaimed_.push_back(&c);
      }
    }
    drop_copies();
    const bool single = taken_.size() + unclaimed_.size() == 1;
    for (Candidate* c : unclaimed_) {
      take(*c, free_number(), single ? model::RankSource::kSingle : model::RankSource::kOrder);
    }
    for (auto& [rank, c] : taken_) out_.ranks.push_back(std::move(c->timeline));
    explain();
    return std::move(out_);
  }

 private:
  void claim(Candidate& c, std::int32_t rank, model::RankSource source) {
    const auto at = taken_.find(rank);
    if (at == taken_.end()) return take(c, rank, source);
    const std::string& file = c.timeline.info.file;
    const std::string& other = at->second->timeline.info.file;
    if (same_content(c.timeline, at->second->timeline)) {
      out_.notes.push_back(file + ": left out, it holds the same as " + other);
      return;
    }
    out_.notes.push_back(file + ": says it is rank " + std::to_string(rank) + " as " + other +
                         " does; numbered by order instead");
    unclaimed_.push_back(&c);
  }

  // The same file given twice is one rank, also where nothing names it.
  void drop_copies() {
    std::vector<Candidate*> kept;
    for (Candidate* c : unclaimed_) {
      const Candidate* same = nullptr;
      for (const auto& [rank, other] : taken_) {
        if (same_content(c->timeline, other->timeline)) same = other;
      }
      for (const Candidate* other : kept) {
        if (same_content(c->timeline, other->timeline)) same = other;
      }
      if (same == nullptr) {
        kept.push_back(c);
        continue;
      }
      out_.notes.push_back(c->timeline.info.file + ": left out, it holds the same as " +
                           same->timeline.info.file);
    }
    unclaimed_ = std::move(kept);
  }

  void take(Candidate& c, std::int32_t rank, model::RankSource source) {
    c.timeline.info.rank = rank;
    c.timeline.info.source = source;
    taken_[rank] = &c;
  }

  [[nodiscard]] std::int32_t free_number() const {
    std::int32_t rank = 0;
    while (taken_.contains(rank)) ++rank;
    return rank;
  }

  // Ranks are compared with each other; those of different jobs cannot be.
  void tell_other_job() {
    const model::RankInfo* first = nullptr;
    for (const model::RankTimeline& t : out_.ranks) {
      if (t.info.world_size <= 0) continue;
      if (first == nullptr) first = &t.info;
      if (t.info.world_size == first->world_size) continue;
      out_.notes.push_back(t.info.file + ": of a job of " + plural(t.info.world_size, "rank") +
                           ", but " + first->file + " of one of " +
                           std::to_string(first->world_size) +
                           ": where these are different jobs, what is said of their ranks together "
                           "is wrong. Analyse them one by one");
      return;
    }
  }

  void explain() {
    std::map<model::RankSource, std::size_t> counts;
    for (const model::RankTimeline& t : out_.ranks) ++counts[t.info.source];
    const auto say = [&](model::RankSource source, const std::string& how) {
      const auto at = counts.find(source);
      if (at != counts.end()) out_.notes.push_back(plural(at->second, "rank") + " " + how);
    };
    tell_other_job();
    say(model::RankSource::kDistributedInfo, "known from the trace itself (distributedInfo)");
    say(model::RankSource::kFileName, "known from the file name");
    say(model::RankSource::kOrder, "numbered by the order of the files: nothing names their rank");
  }

  std::vector<Candidate> candidates_;
  std::vector<Candidate*> unclaimed_;
  std::map<std::int32_t, Candidate*> taken_;
  model::Timeline out_;
};

}  // namespace

std::optional<std::int32_t> rank_in_name(std::string_view path) {
  std::string name(base_name(path));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (const auto rank = number_after(name, "rank")) return rank;
  if (const auto rank = number_after(name, "worker")) return rank;
  return number_before_ending(name);
}

model::Timeline assign_ranks(std::vector<Candidate> candidates) {
  return Assigner(std::move(candidates)).run();
}

}  // namespace pyrometer::importers
