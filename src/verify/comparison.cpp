#include "verify/comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/confidence.h"

namespace pyrometer::verify {
namespace {

using Runs = std::span<const RunSummary>;

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance_of(std::span<const double> values) {
  const double mean = mean_of(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return sum / static_cast<double>(values.size() - 1);
}

// Welch's interval of the difference of means. A side with one run has no spread of its own.
Interval difference_of_runs(std::span<const double> a, std::span<const double> b, double level) {
  Interval out{.value = mean_of(b) - mean_of(a)};
  if (a.size() < 2 && b.size() < 2) return out;
  const auto na = static_cast<double>(a.size());
  const auto nb = static_cast<double>(b.size());
  double error = 0;
  double degrees = 0;
  if (a.size() < 2 || b.size() < 2) {
    const double variance = variance_of(a.size() < 2 ? b : a);
    error = variance * (1 / na + 1 / nb);
    degrees = std::max(na, nb) - 1;
  } else {
    const double ea = variance_of(a) / na;
    const double eb = variance_of(b) / nb;
    error = ea + eb;
    degrees = error > 0 ? error * error / (ea * ea / (na - 1) + eb * eb / (nb - 1)) : na + nb - 2;
  }
  const double reach = std::sqrt(error) * analysis::student_t_quantile((1 + level) / 2, degrees);
  out.low = out.value - reach;
  out.high = out.value + reach;
  out.known = std::isfinite(reach);
  return out;
}

// A figure that can be resampled within each run, compared by steps or by runs.
Change change_of(Runs a, Runs b,
                 const std::function<Replicates(const RunSummary&, std::uint64_t)>& resampled) {
  Change out;
  std::vector<Replicates> sides[2];
  std::uint64_t seed = 1;
  for (const auto& [runs, replicates] : {std::pair{a, &sides[0]}, std::pair{b, &sides[1]}}) {
    for (const RunSummary& run : runs) {
      replicates->push_back(resampled(run, seed++));
    }
  }
  if (a.size() == 1 && b.size() == 1) {
    out.a = sides[0][0].value;
    out.b = sides[1][0].value;
    out.difference = difference_interval(sides[0][0], sides[1][0]);
    out.ratio = ratio_interval(sides[0][0], sides[1][0]);
    return out;
  }
  std::vector<double> values[2];
  for (int side = 0; side < 2; ++side) {
    for (const Replicates& one : sides[side]) values[side].push_back(one.value);
  }
  out.a = mean_of(values[0]);
  out.b = mean_of(values[1]);
  constexpr double kLevel = 0.95;
  out.difference = difference_of_runs(values[0], values[1], kLevel);
  out.ratio = ratio_of_runs(values[0], values[1]);
  return out;
}

// A quotient of sums over the steps.
Change change_of(Runs a, Runs b, const QuotientOf& quotient) {
  return change_of(a, b, [&quotient](const RunSummary& run, std::uint64_t seed) {
    return resample(run.series, quotient, seed);
  });
}

Change missing(std::string why) {
  Change out;
  out.missing = std::move(why);
  return out;
}

// Why a side cannot tell; "" where all its runs can.
std::string lacking(Runs a, Runs b, const std::function<std::string(const RunSummary&)>& why) {
  for (const Runs& side : {a, b}) {
    for (const RunSummary& run : side) {
      const std::string reason = why(run);
      if (!reason.empty()) return run.label + ": " + reason;
    }
  }
  return {};
}

std::string list_of(const std::vector<std::string>& gpus) {
  if (gpus.empty()) return "no GPU";
  std::string text;
  for (std::size_t i = 0; i < gpus.size();) {
    std::size_t same = i;
    while (same < gpus.size() && gpus[same] == gpus[i]) ++same;
    text += (text.empty() ? "" : ", ") + std::to_string(same - i) + " × " +
            (gpus[i].empty() ? "GPU of unknown kind" : gpus[i]);
    i = same;
  }
  return text;
}

Side side_of(Runs runs) {
  Side out;
  double samples = 0;
  bool known = true;
  for (const RunSummary& run : runs) {
    out.labels.push_back(run.label);
    out.steps += run.steps;
    out.warm_up_steps = std::max(out.warm_up_steps, run.warm_up_steps);
    known = known && run.samples_per_step;
    samples += run.samples_per_step.value_or(0);
  }
  out.gpus = runs.front().gpus;
  out.usd_per_gpu_hour = runs.front().usd_per_gpu_hour;
  if (known) out.samples_per_step = samples / static_cast<double>(runs.size());
  return out;
}

bool differ(double a, double b, double share) {
  return std::abs(a - b) > share * std::max(std::abs(a), std::abs(b));
}

std::string number_text(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

void find_unlike(Runs a, Runs b, Comparison& out) {
  const RunSummary& first = a.front();
  const auto note = [&](std::string text) {
    if (std::find(out.unlike.begin(), out.unlike.end(), text) == out.unlike.end()) {
      out.unlike.push_back(std::move(text));
    }
  };
  const auto setting = [](const RunSummary& run, const char* key) {
    const auto found = run.settings.find(key);
    return found == run.settings.end() ? std::string() : found->second;
  };
  for (const Runs& side : {a, b}) {
    for (const RunSummary& run : side) {
      if (run.gpus != first.gpus) {
        note("different GPUs: " + list_of(first.gpus) + " against " + list_of(run.gpus));
      }
      if (run.world_size > 0 && first.world_size > 0 && run.world_size != first.world_size) {
        note("different world sizes: " + std::to_string(first.world_size) + " against " +
             std::to_string(run.world_size));
      } else if (run.ranks != first.ranks) {
        note("different numbers of ranks: " + std::to_string(first.ranks) + " against " +
             std::to_string(run.ranks));
      } else if ((run.world_size > 1 && first.world_size <= 0) ||
                 (first.world_size > 1 && run.world_size <= 0)) {
        const auto size = [](const RunSummary& one) {
          return one.world_size > 0 ? std::to_string(one.world_size) : std::string("unknown");
        };
        note("different world sizes: " + size(first) + " against " + size(run));
      }
      constexpr double kSameBatch = 0.02;  // the last batch of an epoch is often smaller
      if (run.samples_per_step && first.samples_per_step &&
          differ(*run.samples_per_step, *first.samples_per_step, kSameBatch)) {
        note("different batches: " + number_text(std::round(*first.samples_per_step * 10) / 10) +
             " against " + number_text(std::round(*run.samples_per_step * 10) / 10) +
             " samples per step, so time per sample decides");
      }
      if (run.recording != first.recording) {
        note("one is a profiler's trace, which slows the host down, the other a recording");
      }
      for (const char* key : {"model.0.parameters", "model.0.class"}) {
        const std::string ours = setting(run, key);
        const std::string theirs = setting(first, key);
        if (!ours.empty() && !theirs.empty() && ours != theirs) {
          note("different models: " + theirs + " against " + ours +
               (std::string_view(key).ends_with("parameters") ? " parameters" : ""));
        }
      }
    }
  }
}

void find_notes(Runs a, Runs b, Comparison& out) {
  for (const Runs& side : {a, b}) {
    for (const RunSummary& run : side) {
      if (!run.why_no_price.empty()) {
        out.notes.push_back("no price for " + run.label + ": " + run.why_no_price);
      }
      if (!run.ended)
        out.notes.push_back("the run " + run.label + " had not ended when it was read");
      if (run.failed != 0) {
        out.notes.push_back("the run " + run.label + " failed: its command ended with " +
                            std::to_string(run.failed));
      }
      if (!run.warm_up_over && run.steps > 0) {
        out.notes.push_back("the time per step of " + run.label +
                            " was still changing at its middle; the first half was left out as "
                            "warm-up");
      }
    }
  }
  if (out.basis == Basis::kSteps) {
    out.notes.emplace_back(
        "one run each: the intervals hold what differs from step to step, not what differs from "
        "run to run; give several runs to each of --a and --b for that");
  }
}

void compare_causes(Runs a, Runs b, Comparison& out) {
  out.why_no_causes = lacking(a, b, [](const RunSummary& run) {
    return run.causes_known ? std::string() : std::string("no GPU was watched");
  });
  if (!out.why_no_causes.empty()) return;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const Change change = change_of(a, b, [i](const StepRow& row) {
      if (!row.watched) return Quotient{};
      return Quotient{static_cast<double>(row.causes[i]), static_cast<double>(row.count)};
    });
    if (change.a > 0 || change.b > 0) out.causes.push_back({static_cast<model::Cause>(i), change});
  }
  std::stable_sort(out.causes.begin(), out.causes.end(), [](const auto& x, const auto& y) {
    return std::abs(x.ns.difference.value) > std::abs(y.ns.difference.value);
  });
}

std::map<std::string, KernelUse> mean_kernels(Runs runs) {
  std::map<std::string, KernelUse> out;
  const auto share = 1 / static_cast<double>(runs.size());
  for (const RunSummary& run : runs) {
    for (const auto& [name, use] : run.kernels) {
      out[name].calls += use.calls * share;
      out[name].ns += use.ns * share;
    }
  }
  return out;
}

void compare_kernels(Runs a, Runs b, Comparison& out) {
  out.why_no_kernels = lacking(a, b, [](const RunSummary& run) { return run.why_no_kernels; });
  if (!out.why_no_kernels.empty()) return;
  const std::map<std::string, KernelUse> in_a = mean_kernels(a);
  const std::map<std::string, KernelUse> in_b = mean_kernels(b);
  std::set<std::string> names;
  for (const auto& [name, use] : in_a) names.insert(name);
  for (const auto& [name, use] : in_b) names.insert(name);
  for (const std::string& name : names) {
    const auto x = in_a.find(name);
    const auto y = in_b.find(name);
    KernelChange change{.name = name};
    if (x != in_a.end()) change.a = x->second;
    if (y != in_b.end()) change.b = y->second;
    // Below these, kernels differ between any two runs of the same program.
    constexpr double kTime = 0.05;
    constexpr double kCalls = 0.02;
    if (x == in_a.end()) {
      change.fate = KernelFate::kNew;
    } else if (y == in_b.end()) {
      change.fate = KernelFate::kGone;
    } else if (differ(change.a.calls, change.b.calls, kCalls)) {
      change.fate =
          change.b.calls > change.a.calls ? KernelFate::kMoreCalls : KernelFate::kFewerCalls;
    } else if (differ(change.a.ns_per_call(), change.b.ns_per_call(), kTime)) {
      change.fate = change.b.ns > change.a.ns ? KernelFate::kSlower : KernelFate::kFaster;
    } else {
      continue;
    }
    out.kernels.push_back(std::move(change));
  }
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [](const auto& x, const auto& y) {
    return std::abs(x.delta()) > std::abs(y.delta());
  });
}

Change compare_memory(Runs a, Runs b) {
  const std::string why = lacking(a, b, [](const RunSummary& run) { return run.why_no_memory; });
  if (!why.empty()) return missing(why);
  Change out;
  std::vector<double> values[2];
  for (const RunSummary& run : a) values[0].push_back(*run.peak_memory);
  for (const RunSummary& run : b) values[1].push_back(*run.peak_memory);
  out.a = mean_of(values[0]);
  out.b = mean_of(values[1]);
  constexpr double kLevel = 0.95;
  out.difference = difference_of_runs(values[0], values[1], kLevel);
  if (out.a > 0 && out.b > 0) out.ratio = ratio_of_runs(values[0], values[1]);
  return out;
}

Change compare_energy(Runs a, Runs b) {
  const std::string why = lacking(a, b, [](const RunSummary& run) { return run.energy.missing; });
  if (!why.empty()) return missing(why);
  return change_of(a, b, [](const RunSummary& run, std::uint64_t seed) {
    return resample_rows(run.energy.rows, seed);
  });
}

void compare_settings(Runs a, Runs b, Comparison& out) {
  const auto& in_a = a.front().settings;
  const auto& in_b = b.front().settings;
  if (in_a.empty() || in_b.empty()) return;  // a trace tells none
  for (const auto& [key, value] : in_a) {
    const auto other = in_b.find(key);
    if (other == in_b.end() || other->second != value) {
      out.settings.push_back({key, value, other == in_b.end() ? "" : other->second});
    }
  }
  for (const auto& [key, value] : in_b) {
    if (!in_a.contains(key)) out.settings.push_back({key, "", value});
  }
}

// A finding counts for a side where most of its runs have it.
void compare_findings(Runs a, Runs b, Comparison& out) {
  std::map<std::string, FindingChange> all;
  const auto add = [&all](Runs runs, bool FindingChange::*has, double FindingChange::*share) {
    std::map<std::string, std::size_t> times;
    for (const RunSummary& run : runs) {
      for (const auto& [id, note] : run.findings) {
        FindingChange& change = all[id];
        change.id = id;
        change.title = note.title;
        change.*share += note.share_of_time / static_cast<double>(runs.size());
        change.*has = 2 * ++times[id] > runs.size();
      }
    }
  };
  add(a, &FindingChange::in_a, &FindingChange::share_a);
  add(b, &FindingChange::in_b, &FindingChange::share_b);
  for (auto& [id, change] : all) {
    if (change.in_a || change.in_b) out.findings.push_back(std::move(change));
  }
  std::stable_sort(out.findings.begin(), out.findings.end(), [](const auto& x, const auto& y) {
    return (x.in_a != x.in_b) > (y.in_a != y.in_b);
  });
}

}  // namespace

Interval ratio_of_runs(std::span<const double> a, std::span<const double> b, double level) {
  std::vector<double> logs[2];
  for (const double value : a) logs[0].push_back(std::log(value));
  for (const double value : b) logs[1].push_back(std::log(value));
  for (const auto& side : logs) {
    for (const double value : side) {
      if (!std::isfinite(value)) return {};
    }
  }
  const Interval difference = difference_of_runs(logs[0], logs[1], level);
  return {.value = std::exp(difference.value),
          .low = std::exp(difference.low),
          .high = std::exp(difference.high),
          .known = difference.known};
}

Comparison compare(Runs a, Runs b) {
  Comparison out;
  out.a = side_of(a);
  out.b = side_of(b);
  find_unlike(a, b, out);
  const std::string no_steps =
      lacking(a, b, [](const RunSummary& run) { return run.why_no_steps; });
  if (no_steps.empty()) {
    out.step = change_of(a, b, [](const StepRow& row) {
      return Quotient{static_cast<double>(row.length), static_cast<double>(row.count)};
    });
    const bool several = a.size() > 1 || b.size() > 1;
    if (out.step.difference.known) out.basis = several ? Basis::kRuns : Basis::kSteps;
    const std::string no_samples = lacking(a, b, [](const RunSummary& run) {
      return run.samples_per_s ? std::string() : std::string("the samples of a step are not known");
    });
    if (no_samples.empty()) {
      // Ranks work at the same time: together they take this much less per sample.
      const auto ranks_a = static_cast<double>(a.front().series.size());
      const auto ranks_b = static_cast<double>(b.front().series.size());
      out.sample = change_of(a, b, [](const StepRow& row) {
        return Quotient{static_cast<double>(row.length), static_cast<double>(row.samples)};
      });
      out.sample.a /= ranks_a;
      out.sample.b /= ranks_b;
      const double apart = ranks_a / ranks_b;
      for (double* one : {&out.sample.ratio.value, &out.sample.ratio.low, &out.sample.ratio.high}) {
        *one *= apart;
      }
      for (double* one : {&out.sample.difference.value, &out.sample.difference.low,
                          &out.sample.difference.high}) {
        *one /= ranks_a;
      }
      if (ranks_a != ranks_b) {
        out.sample.difference = {.value = out.sample.b - out.sample.a};
      }
    } else {
      out.sample = missing(no_samples);
    }
    const std::string no_waits = lacking(a, b, [](const RunSummary& run) {
      return run.recording
                 ? std::string()
                 : std::string("a trace has no waits for input of its own; see idle.input");
    });
    out.input_wait = no_waits.empty()
                         ? change_of(a, b,
                                     [](const StepRow& row) {
                                       return Quotient{static_cast<double>(row.input_wait),
                                                       static_cast<double>(row.count)};
                                     })
                         : missing(no_waits);
    compare_causes(a, b, out);
  } else {
    out.step = out.sample = out.input_wait = missing(no_steps);
    out.why_no_causes = no_steps;
  }
  compare_kernels(a, b, out);
  out.memory = compare_memory(a, b);
  out.energy = compare_energy(a, b);
  compare_settings(a, b, out);
  compare_findings(a, b, out);
  find_notes(a, b, out);
  return out;
}

const Change& decisive(const Comparison& comparison) {
  return comparison.sample.known() ? comparison.sample : comparison.step;
}

}  // namespace pyrometer::verify
