#include <algorithm>

#include "output/display.h"
#include "output/summary.h"
#include "output/text_parts.h"
#include "output/units.h"

namespace pyrometer::output {
namespace {

constexpr int kIndent = 3;
constexpr int kLabel = 11;

Ink ink_of(model::Severity severity) {
  switch (severity) {
    case model::Severity::kCritical:
      return Ink::kBad;
    case model::Severity::kWarning:
      return Ink::kWarn;
    case model::Severity::kInfo:
      break;
  }
  return Ink::kInfo;
}

std::string_view word_of(model::Severity severity) {
  switch (severity) {
    case model::Severity::kCritical:
      return "CRITICAL";
    case model::Severity::kWarning:
      return "WARNING";
    case model::Severity::kInfo:
      break;
  }
  return "info";
}

std::string confidence_of(const model::Finding& finding) {
  switch (finding.confidence) {
    case model::Confidence::kLow:
      return "low confidence";
    case model::Confidence::kMedium:
      return "medium confidence";
    case model::Confidence::kHigh:
      return "high confidence";
  }
  return "";
}

std::string ranks_of(const model::Finding& finding, const Report& report) {
  if (report.timeline.ranks.size() < 2 || finding.ranks.empty() ||
      finding.ranks.size() == report.timeline.ranks.size()) {
    return "";
  }
  std::string text = finding.ranks.size() == 1 ? ", rank " : ", ranks ";
  constexpr std::size_t kShown = 8;
  for (std::size_t i = 0; i < std::min(kShown, finding.ranks.size()); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(finding.ranks[i]);
  }
  return text + (finding.ranks.size() > kShown ? ", …" : "");
}

void write_prediction(Page& page, const model::Finding& finding, const Report& report,
                      bool verbose) {
  if (!finding.prediction) {
    // Where nothing can be predicted, "How sure this is" says so once.
    const bool news = verbose || any_prediction(report.diagnosis);
    if (!finding.no_prediction.empty() && news) {
      page.labelled(kIndent, kLabel, "predicted", {{"no figure: " + finding.no_prediction}});
    }
    return;
  }
  const model::Prediction& prediction = *finding.prediction;
  std::vector<Span> text = {{describe_prediction(prediction), Ink::kStrong}};
  if (verbose && !prediction.model.empty()) text.push_back({"  (" + prediction.model + ")"});
  page.labelled(kIndent, kLabel, "predicted", text);
  const std::string saving = describe_saving(report, prediction);
  if (!saving.empty()) page.labelled(kIndent, kLabel, "saves", {{saving}});
}

void write_evidence(Page& page, const model::Finding& finding, bool verbose) {
  if (finding.evidence.empty()) return;
  if (!verbose) {
    std::string text;
    for (const model::Evidence& evidence : finding.evidence) {
      if (!text.empty()) text += " · ";
      text += describe_evidence(evidence);
    }
    page.labelled(kIndent, kLabel, "evidence", {{text}});
    return;
  }
  for (const model::Evidence& evidence : finding.evidence) {
    std::vector<Span> text = {{describe_evidence(evidence)}};
    if (!evidence.threshold_source.empty()) {
      text.push_back({"  threshold from: " + evidence.threshold_source, Ink::kFaint});
    }
    page.labelled(kIndent, kLabel, &evidence == finding.evidence.data() ? "evidence" : "", text);
  }
}

void write_finding(Page& page, std::size_t number, const model::Finding& finding,
                   const Report& report, bool verbose) {
  page.paragraph(0, kIndent,
                 {{std::to_string(number) + ". "},
                  {std::string(word_of(finding.severity)) + ":", ink_of(finding.severity)},
                  {" " + finding.title, Ink::kStrong},
                  {" (" + confidence_of(finding) + ranks_of(finding, report) + ")", Ink::kFaint}});
  if (!finding.summary.empty()) page.paragraph(kIndent, kIndent, {{finding.summary}});
  // Notes need no proof at first reading.
  const bool brief = finding.severity == model::Severity::kInfo && !verbose;
  if (!brief) write_evidence(page, finding, verbose);
  if (!brief || finding.prediction) write_prediction(page, finding, report, verbose);
  if (!finding.order.empty()) page.labelled(kIndent, kLabel, "order", {{finding.order}});
  if (!finding.fix.empty()) page.labelled(kIndent, kLabel, "fix", {{finding.fix}});
  page.code(kIndent + kLabel, kIndent, finding.fix_code);
  const std::string command = try_command(finding);
  if (!brief && !command.empty()) page.labelled(kIndent, kLabel, "no edit", {{command}});
  constexpr std::size_t kShownPlaces = 3;
  const std::size_t places =
      verbose ? finding.where.size() : std::min(kShownPlaces, finding.where.size());
  for (std::size_t i = 0; i < places; ++i) {
    const int two_lines = 2 * (page.width() - kIndent - kLabel);
    page.labelled(kIndent, kLabel, i == 0 ? "where" : "",
                  {{shorten_symbol(finding.where[i], two_lines, page.unicode())}});
  }
  if (verbose) page.labelled(kIndent, kLabel, "id", {{finding.id, Ink::kFaint}});
}

}  // namespace

void write_findings(Page& page, const Report& report, const TextStyle& style) {
  const std::vector<model::Finding>& findings = report.diagnosis.findings;
  page.heading("What to change");
  if (no_finding_above_info(report.diagnosis)) {
    page.paragraph(0, 0, {{describe_health(report)}});
    if (!findings.empty()) page.blank();
  }
  // Of several, why the first is first.
  const auto causes = std::count_if(findings.begin(), findings.end(), [](const model::Finding& f) {
    return f.severity != model::Severity::kInfo;
  });
  if (causes > 1 && any_prediction(report.diagnosis))
    page.paragraph(0, 0, {{std::string(kOrder), Ink::kFaint}});
  const std::size_t most =
      style.verbose
          ? findings.size()
          : std::min(findings.size(), static_cast<std::size_t>(std::max(0, style.max_findings)));
  for (std::size_t i = 0; i < most; ++i) {
    if (i > 0) page.blank();
    write_finding(page, i + 1, findings[i], report, style.verbose);
  }
  if (most < findings.size()) {
    page.blank();
    page.paragraph(0, 0,
                   {{count_of(static_cast<std::int64_t>(findings.size() - most), "more finding") +
                         ", shown with -v.",
                     Ink::kFaint}});
  }
  if (joint_is_news(report.diagnosis)) {
    const model::Prediction& joint = *report.diagnosis.joint;
    page.blank();
    std::vector<Span> text = {{"All fixes together: "}, {describe_prediction(joint), Ink::kStrong}};
    const std::string saving = describe_saving(report, joint);
    if (!saving.empty()) text.push_back({"; saves " + saving});
    text.push_back({"."});
    page.paragraph(0, 0, text);
  }
}

}  // namespace pyrometer::output
