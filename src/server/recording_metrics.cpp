#include "server/recording_metrics.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace pyrometer::server {
namespace {

using output::Exposition;
using output::Labels;
using output::MetricType;

constexpr double kThousand = 1000;

// A recorded rank with the labels of its series.
struct RankSeries {
  Labels labels;
  const RecordingStatus* recording;
  const RankStatus* rank;
};

Labels of_recording(const RecordingStatus& recording) {
  return Labels().add("recording", recording.name);
}

Labels of_rank(const RecordingStatus& recording, std::int32_t rank) {
  return of_recording(recording).add("rank", std::to_string(rank));
}

using Growing = std::vector<const RecordingStatus*>;

void write_about_recordings(const Growing& growing, Exposition& out) {
  out.family("pyrometer_recording_info", MetricType::kGauge,
             "Always 1 for a recording that is growing.");
  for (const RecordingStatus* one : growing) {
    out.sample(of_recording(*one).add("path", one->path), 1);
  }
  out.family("pyrometer_recording_size_bytes", MetricType::kGauge, "Size of the recording.",
             "bytes");
  for (const RecordingStatus* one : growing) {
    out.sample(of_recording(*one), static_cast<double>(one->bytes));
  }
  out.family("pyrometer_recording_analysis_success", MetricType::kGauge,
             "1 where the last analysis of the recording worked.");
  for (const RecordingStatus* one : growing) {
    if (one->analysed_ms != 0) out.sample(of_recording(*one), one->problem.empty() ? 1 : 0);
  }
  out.family("pyrometer_recording_analysis_timestamp_seconds", MetricType::kGauge,
             "Unix time of the last analysis of the recording.", "seconds");
  for (const RecordingStatus* one : growing) {
    if (one->analysed_ms != 0) {
      out.sample(of_recording(*one), static_cast<double>(one->analysed_ms) / kThousand);
    }
  }
  out.family("pyrometer_recording_analysis_duration_seconds", MetricType::kGauge,
             "How long the last analysis of the recording took.", "seconds");
  for (const RecordingStatus* one : growing) {
    if (one->analysed_ms != 0) out.sample(of_recording(*one), one->analysis_seconds);
  }
}

void write_about_ranks(const std::vector<RankSeries>& ranks, Exposition& out) {
  out.family("pyrometer_recording_gpus", MetricType::kGauge, "GPUs that the rank uses.");
  for (const RankSeries& one : ranks) {
    out.sample(one.labels, static_cast<double>(one.rank->gpus));
  }
  out.family("pyrometer_recording_steps_total", MetricType::kCounter,
             "Training steps since the rank began.");
  for (const RankSeries& one : ranks) {
    out.sample(one.labels, static_cast<double>(one.rank->steps));
  }
  out.family("pyrometer_recording_step_seconds", MetricType::kGauge,
             "Mean time of a training step in the last five minutes.", "seconds");
  for (const RankSeries& one : ranks) {
    if (one.rank->step_seconds) out.sample(one.labels, *one.rank->step_seconds);
  }
  out.family("pyrometer_recording_samples_per_second", MetricType::kGauge,
             "Training samples per second in the last five minutes, while steps ran.");
  for (const RankSeries& one : ranks) {
    if (one.rank->samples_per_s) out.sample(one.labels, *one.rank->samples_per_s);
  }
}

void write_causes(const std::vector<RankSeries>& ranks, Exposition& out) {
  const auto write = [&](const auto& value) {
    for (const RankSeries& one : ranks) {
      if (!one.rank->causes) continue;
      for (std::size_t i = 0; i < model::kCauseCount; ++i) {
        const model::CauseInfo& info = model::cause_info(static_cast<model::Cause>(i));
        Labels labels = one.labels;
        labels.add("cause", info.id);
        value(one, labels, (*one.rank->causes)[i]);
      }
    }
  };
  out.family("pyrometer_recording_cause_ratio", MetricType::kGauge,
             "Share of the rank's GPU time by cause in the last five minutes; all causes of a rank "
             "add up to 1.",
             "ratio");
  write([&](const RankSeries&, const Labels& labels, double share) { out.sample(labels, share); });
  out.family("pyrometer_recording_cost_usd_per_hour", MetricType::kGauge,
             "What the rank's GPU time costs in an hour, by cause, at the price given.");
  write([&](const RankSeries& one, const Labels& labels, double share) {
    if (!one.recording->usd_per_gpu_hour) return;
    out.sample(labels,
               share * static_cast<double>(one.rank->gpus) * *one.recording->usd_per_gpu_hour);
  });
}

void write_economy(const Growing& growing, Exposition& out) {
  const auto write = [&](std::optional<double> RecordingStatus::*figure) {
    for (const RecordingStatus* one : growing) {
      if (one->*figure) out.sample(of_recording(*one), *(one->*figure));
    }
  };
  out.family("pyrometer_recording_run_cost_usd", MetricType::kGauge,
             "What the recorded run has cost so far, all ranks, at the price given.");
  write(&RecordingStatus::run_usd);
  out.family("pyrometer_recording_gpu_energy_joules", MetricType::kGauge,
             "Energy of the job's GPUs over the recorded run so far, all ranks.", "joules");
  write(&RecordingStatus::gpu_joules);
  out.family("pyrometer_recording_mfu_ratio", MetricType::kGauge,
             "FLOPs achieved, of the dense peak of the GPUs for the arithmetic used.", "ratio");
  write(&RecordingStatus::mfu);
  out.family("pyrometer_recording_goodput_ratio", MetricType::kGauge,
             "Useful step time, of the time since the run began.", "ratio");
  write(&RecordingStatus::goodput);
}

void write_findings(const Growing& growing, Exposition& out) {
  out.family("pyrometer_recording_finding_ratio", MetricType::kGauge,
             "A finding of the last analysis: the share of the time that its symptom takes.",
             "ratio");
  std::set<std::string> seen;
  for (const RecordingStatus* one : growing) {
    for (const FindingStatus& finding : one->findings) {
      std::vector<std::int32_t> ranks = finding.ranks;
      if (ranks.empty()) {
        for (const RankStatus& rank : one->ranks) ranks.push_back(rank.rank);
      }
      for (const std::int32_t rank : ranks) {
        const Labels labels = of_rank(*one, rank)
                                  .add("finding", finding.id)
                                  .add("severity", finding.severity)
                                  .add("confidence", finding.confidence);
        if (seen.insert(labels.text()).second) out.sample(labels, finding.share_of_time);
      }
    }
  }
}

}  // namespace

void write_recording_metrics(const std::vector<RecordingStatus>& recordings, Exposition& out) {
  Growing growing;
  std::vector<RankSeries> ranks;
  std::set<std::string> seen;
  for (const RecordingStatus& recording : recordings) {
    if (!recording.is_growing) continue;
    growing.push_back(&recording);
    for (const RankStatus& rank : recording.ranks) {
      Labels labels = of_rank(recording, rank.rank);
      if (!seen.insert(labels.text()).second) continue;
      ranks.push_back({std::move(labels), &recording, &rank});
    }
  }
  if (growing.empty()) return;
  write_about_recordings(growing, out);
  write_about_ranks(ranks, out);
  write_causes(ranks, out);
  write_economy(growing, out);
  write_findings(growing, out);
}

}  // namespace pyrometer::server
