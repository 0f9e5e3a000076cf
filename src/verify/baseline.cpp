#include "verify/baseline.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/confidence.h"
#include "base/version.h"
#include "verify/bootstrap.h"

namespace pyrometer::verify {
namespace {

using nlohmann::json;

constexpr std::string_view kSchema = "pyrometer.baseline/1";

base::Error format_error(const std::string& path, const std::string& what) {
  return {.kind = base::ErrorKind::kFormat,
          .message = "is no baseline: " + what,
          .file = path,
          .advice = "Write one with pyrometer gate --baseline FILE --save RUN"};
}

// A finite number above zero; nullopt where the key is missing or null. Sets `wrong` otherwise.
std::optional<double> positive(const json& object, const char* key, std::string& wrong) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (found->is_number()) {
    const auto number = found->get<double>();
    if (std::isfinite(number) && number > 0) return number;
  }
  wrong = std::string(key) + " is no number above 0";
  return std::nullopt;
}

// A whole number of at least `least`. Sets `wrong` otherwise, also where the key is missing.
std::int64_t whole(const json& object, const char* key, std::int64_t least, std::string& wrong) {
  const auto found = object.find(key);
  if (found != object.end() && found->is_number_integer()) {
    // Beyond its range an unsigned number reads as a negative one.
    const auto number = found->get<std::int64_t>();
    if (number >= least) return number;
  }
  wrong = std::string(key) + " is no whole number of at least " + std::to_string(least);
  return 0;
}

std::vector<std::string> texts(const json& object, const char* key, std::string& wrong) {
  std::vector<std::string> out;
  const auto found = object.find(key);
  bool sound = found != object.end() && found->is_array();
  for (std::size_t i = 0; sound && i < found->size(); ++i) {
    sound = (*found)[i].is_string();
    if (sound) out.push_back((*found)[i].get<std::string>());
  }
  if (!sound) wrong = std::string(key) + " is no array of strings";
  return out;
}

std::optional<BaselineRun> read_run(const json& object, std::string& wrong) {
  if (!object.is_object()) {
    wrong = "a run is no object";
    return std::nullopt;
  }
  BaselineRun run;
  run.steps = whole(object, "steps", 1, wrong);
  const std::optional<double> step = positive(object, "step_ns", wrong);
  run.sample_ns = positive(object, "sample_ns", wrong);
  run.step_error = positive(object, "step_error", wrong);
  run.peak_memory = positive(object, "peak_memory_bytes", wrong);
  if (!step && wrong.empty()) wrong = "a run has no step_ns";
  if (!wrong.empty()) return std::nullopt;
  run.step_ns = *step;
  return run;
}

}  // namespace

base::Result<BaselineRun> baseline_run(const RunSummary& run) {
  const std::optional<double> step = step_ns(run);
  if (!step) {
    return base::fail(
        {.kind = base::ErrorKind::kUnsupported,
         .message = run.why_no_steps.empty() ? "no steps were found" : run.why_no_steps,
         .file = run.label,
         .advice = "A gate needs the time per step"});
  }
  BaselineRun out{.steps = run.steps, .step_ns = *step, .peak_memory = run.peak_memory};
  constexpr double kSecond = 1e9;
  if (run.samples_per_s && *run.samples_per_s > 0) out.sample_ns = kSecond / *run.samples_per_s;
  const Interval interval = interval_of(resample(
      run.series,
      [](const StepRow& row) {
        return Quotient{static_cast<double>(row.length), static_cast<double>(row.count)};
      },
      1));
  if (interval.known && interval.low > 0) {
    constexpr double kUpper = 0.975;
    out.step_error =
        std::log(interval.high / interval.low) / (2 * analysis::normal_quantile(kUpper));
    if (!(*out.step_error > 0)) out.step_error.reset();
  }
  return out;
}

base::Result<Baseline> make_baseline(std::span<const RunSummary> runs) {
  Baseline out{.tool = "pyrometer " + std::string(base::version())};
  for (const RunSummary& run : runs) {
    base::Result<BaselineRun> one = baseline_run(run);
    if (!one) return base::fail(one.error());
    if (!out.runs.empty() && (run.gpus != out.gpus || run.ranks != out.ranks)) {
      return base::fail({.kind = base::ErrorKind::kUsage,
                         .message = "has other GPUs or ranks than the runs before it",
                         .file = run.label,
                         .advice = "A baseline is of runs that are alike"});
    }
    out.gpus = run.gpus;
    out.ranks = run.ranks;
    out.samples_per_step = run.samples_per_step;
    out.runs.push_back(*one);
  }
  return out;
}

bool write_baseline(const Baseline& baseline, const base::TextSink& sink) {
  base::JsonWriter json(sink);
  json.begin_object();
  json.member("schema", kSchema);
  json.member("tool", baseline.tool);
  json.key("gpus");
  json.begin_array();
  for (const std::string& gpu : baseline.gpus) json.value(gpu);
  json.end_array();
  json.member("ranks", baseline.ranks);
  json.member("samples_per_step", baseline.samples_per_step);
  json.key("runs");
  json.begin_array();
  for (const BaselineRun& run : baseline.runs) {
    json.begin_object(base::JsonLayout::kInline);
    json.member("steps", run.steps);
    json.member("step_ns", run.step_ns);
    json.member("step_error", run.step_error);
    json.member("sample_ns", run.sample_ns);
    json.member("peak_memory_bytes", run.peak_memory);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

base::Result<Baseline> read_baseline(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const int why = errno;
    return base::fail({.kind = why == ENOENT   ? base::ErrorKind::kNotFound
                               : why == EACCES ? base::ErrorKind::kPermission
                                               : base::ErrorKind::kIo,
                       .message = std::string("cannot read the baseline: ") + std::strerror(why),
                       .file = path,
                       .advice = why == ENOENT
                                     ? "Write one with pyrometer gate --baseline FILE --save RUN"
                                     : ""});
  }
  constexpr std::size_t kMostBytes = 1 << 20;
  std::string text;
  text.resize(kMostBytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (text.size() > kMostBytes) return base::fail(format_error(path, "it is larger than 1 MiB"));
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return base::fail(format_error(path, "it is no JSON object"));
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_string()) {
    return base::fail(format_error(path, "it names no schema"));
  }
  if (schema->get_ref<const std::string&>() != kSchema) {
    return base::fail({.kind = base::ErrorKind::kUnsupported,
                       .message = "has the schema " + schema->get_ref<const std::string&>() +
                                  ", and this version reads " + std::string(kSchema),
                       .file = path});
  }
  Baseline out;
  std::string wrong;
  out.ranks = whole(document, "ranks", 0, wrong);
  out.samples_per_step = positive(document, "samples_per_step", wrong);
  out.gpus = texts(document, "gpus", wrong);
  std::sort(out.gpus.begin(), out.gpus.end());
  const auto runs = document.find("runs");
  if (runs == document.end() || !runs->is_array() || runs->empty()) wrong = "it has no runs";
  if (!wrong.empty()) return base::fail(format_error(path, wrong));
  for (std::size_t i = 0; i < runs->size(); ++i) {
    const std::optional<BaselineRun> run = read_run((*runs)[i], wrong);
    if (!run) return base::fail(format_error(path, "runs[" + std::to_string(i) + "]: " + wrong));
    out.runs.push_back(*run);
  }
  return out;
}

}  // namespace pyrometer::verify
