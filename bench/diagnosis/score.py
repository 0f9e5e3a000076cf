"""Scores what a report says against the truth and against what was measured. Nothing else.

A case's score is a dictionary that JSON can hold; a figure that could not be had is None, never 0.
"""
import fnmatch
import statistics

# What `pyrometer` is asked to reach. Each: key of the summary, how it is compared, limit, words.
TARGETS = (
    ("first_right", ">=", 0.95, "first finding right"),
    ("controls_with_false_alarm", "<=", 0, "controls with a false alarm above info"),
    ("range_holds", ">=", 0.85, "predicted range holds the realised step time"),
    ("median_error", "<=", 0.15, "median error of the point prediction"),
)

# A fix that gains less makes a poor case: its cause does not dominate.
DOMINATES = 1.15

# True of every run on a machine without a GPU, so nothing there is judged by it.
NO_GPU = "device.no_gpu_work"


def diagnosis_of(report):
    """A report's diagnosis, also where it is nested in the report of a run."""
    return report.get("diagnosis", report)


def above_info(report, truth, device, beside=()):
    """Findings of severity warning or critical, in the order of the report.

    Those of the patterns `beside` are left out, unless planted: they were true of the machine.
    """
    planted = {finding for cause in truth.causes for finding in cause}
    beside = [*beside, NO_GPU] if device == "cpu" else beside
    return [finding for finding in diagnosis_of(report)["findings"]
            if finding["severity"] != "info"
            and (finding["id"] in planted
                 or not any(fnmatch.fnmatchcase(finding["id"], pattern) for pattern in beside))]


def _range(prediction):
    if not prediction:
        return None
    values = [prediction.get(key) for key in ("low_ns", "mid_ns", "high_ns")]
    return None if None in values else tuple(value / 1e6 for value in values)


def prediction_of(report, truth, findings):
    """(low, mid, high) in ms of the step after the fix, or None, and why there is none.

    One cause: the prediction of the first finding that names it. Several: the joint prediction.
    """
    if truth.control or not truth.fix:
        return None, "nothing to fix"
    if truth.predict:
        return None, truth.predict
    if len(truth.causes) > 1:
        got = _range(diagnosis_of(report).get("joint_prediction"))
        return got, "" if got else "no joint prediction"
    named = [f for f in findings if f["id"] in truth.causes[0]]
    if not named:
        return None, "cause not found"
    got = _range(named[0].get("prediction"))
    return got, "" if got else named[0].get("no_prediction") or "no prediction"


def rate(runs):
    """Median samples per second of a variant's runs; None without runs."""
    return statistics.median(run["samples_per_s"] for run in runs) if runs else None


def step_ms(runs):
    return statistics.median(run["ms_per_step"] for run in runs) if runs else None


def spread(runs):
    """(largest - smallest) / median of the throughput; None with fewer than two runs."""
    rates = [run["samples_per_s"] for run in runs]
    return (max(rates) - min(rates)) / statistics.median(rates) if len(rates) > 1 else None


def measured_of(measured):
    """What the plain runs and the recorded one say of speed, apart from any report."""
    planted, fixed = measured.get("planted", []), measured.get("fixed", [])
    recorded = measured.get("recorded")
    plain, after = rate(planted), rate(fixed)
    gain = after / plain if plain and after else None
    return {
        "planted_ms": step_ms(planted), "planted_samples_per_s": plain,
        "fixed_samples_per_s": after, "planted_spread": spread(planted),
        "fixed_spread": spread(fixed), "speedup": gain,
        # A fix may change how many samples a step has: the step of the planted size counts.
        "realised_ms": step_ms(planted) / gain if gain else None,
        "overhead": plain / recorded["samples_per_s"] - 1 if plain and recorded else None,
    }


def score_case(truth, report, measured, device="cuda"):
    """The score of one case; `measured` is what run.py stored of its runs."""
    findings = above_info(report, truth, device, measured.get("beside") or ())
    ids = [finding["id"] for finding in findings]
    planted = {finding for cause in truth.causes for finding in cause}
    found = ["|".join(cause) for cause in truth.causes if set(cause) & set(ids)]
    missed = ["|".join(cause) for cause in truth.causes if not set(cause) & set(ids)]
    invented = [i for i in ids if i not in planted and (not truth.accepts(i) or truth.forbids(i))]
    speed = measured_of(measured)
    score = {
        "case": truth.name, "class": truth.kind, "control": truth.control, "findings": ids,
        "first": ids[0] if ids else None,
        "first_right": None if truth.control else bool(ids) and ids[0] in planted,
        "found": found, "missed": missed, "invented": invented,
        "named": [i for i in ids if i in planted],
        "forbidden": [i for i in ids if truth.forbids(i)],
        "false_alarm": bool(invented) if truth.control else None,
        **speed,
        "predicted_ms": None, "holds": None, "error": None,
    }
    predicted, why = prediction_of(report, truth, findings)
    score["no_prediction"] = why or None
    if predicted:
        low, mid, high = predicted
        score["predicted_ms"] = [low, mid, high]
        if speed["realised_ms"]:
            score["holds"] = low <= speed["realised_ms"] <= high
            score["error"] = abs(mid - speed["realised_ms"]) / speed["realised_ms"]
    return score


def _share(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def _median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def summary_of(scores):
    """The figures of the scoreboard over many cases' scores."""
    planted = [s for s in scores if not s["control"]]
    controls = [s for s in scores if s["control"]]
    causes = sum(len(s["found"]) + len(s["missed"]) for s in planted)
    named = sum(len(s["named"]) for s in scores)
    invented = sum(len(s["invented"]) for s in scores)
    gains = [s for s in planted if s["speedup"] is not None]
    return {
        "cases": len(scores), "planted": len(planted), "controls": len(controls),
        "first_right": _share([s["first_right"] for s in planted]),
        "recall": sum(len(s["found"]) for s in planted) / causes if causes else None,
        "precision": named / (named + invented) if named + invented else None,
        "forbidden": sum(len(s["forbidden"]) for s in scores),
        "controls_with_false_alarm":
            sum(s["false_alarm"] for s in controls) if controls else None,
        "predictions": sum(s["holds"] is not None for s in scores),
        "range_holds": _share([s["holds"] for s in scores]),
        "median_error": _median([s["error"] for s in scores]),
        "overhead": _median([s["overhead"] for s in scores]),
        "spread": _median([s["planted_spread"] for s in scores]),
        "weak_cases": [s["case"] for s in gains if s["speedup"] < DOMINATES],
    }


def targets_of(summary):
    """Each target with the figure it got: passed is None where there is no figure."""
    judged = []
    for key, compare, limit, words in TARGETS:
        value = summary[key]
        passed = None if value is None else value >= limit if compare == ">=" else value <= limit
        judged.append({"target": words, "key": key, "compare": compare, "limit": limit,
                       "value": value, "passed": passed})
    return judged
