"""The scoreboard as text: TSV for programs, Markdown for people, JSON with everything."""
import json
from pathlib import Path

COLUMNS = ("case", "class", "status", "first", "first_right", "found", "missed", "invented",
           "forbidden", "planted_ms", "planted_spread", "speedup", "realised_ms", "predicted_ms",
           "holds", "error", "no_prediction", "overhead", "reason")


def _cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, (list, tuple)):
        return ",".join(_cell(part) for part in value)
    return str(value).replace("\t", " ").replace("\n", " ")


def percent(value):
    return "not measured" if value is None else f"{100 * value:.1f}%"


def tsv(rows):
    lines = ["\t".join(COLUMNS)]
    return "\n".join(lines + ["\t".join(_cell(row.get(c)) for c in COLUMNS) for row in rows]) + "\n"


def target_lines(targets):
    """One line per target: passed, failed or not measured, with the figure and the limit."""
    lines = []
    for target in targets:
        whole = target["key"].startswith("controls")
        value, limit = target["value"], target["limit"]
        got = "not measured" if value is None else str(value) if whole else percent(value)
        wanted = {">=": "at least", "<=": "at most"}[target["compare"]]
        word = {None: "NOT MEASURED", True: "PASS", False: "FAIL"}[target["passed"]]
        limit = f"{limit}" if whole else percent(limit)
        lines.append(f"{word}: {target['target']}: {got} (target: {wanted} {limit})")
    return lines


def summary_lines(summary):
    lines = [
        f"cases scored: {summary['cases']} ({summary['planted']} with a planted cause, "
        f"{summary['controls']} controls)",
        f"first finding right: {percent(summary['first_right'])}",
        f"planted causes found (recall): {percent(summary['recall'])}",
        f"findings that are planted causes (precision): {percent(summary['precision'])}",
        "findings that are wrong advice there: " + str(summary["forbidden"]),
        "controls with a false alarm: " + ("not measured"
                                           if summary["controls_with_false_alarm"] is None
                                           else f"{summary['controls_with_false_alarm']} of "
                                                f"{summary['controls']}"),
        f"predicted range holds: {percent(summary['range_holds'])} of "
        f"{summary['predictions']} predictions",
        f"median error of the point prediction: {percent(summary['median_error'])}",
        f"overhead of recording, median: {percent(summary['overhead'])}",
        f"spread of plain runs, median: {percent(summary['spread'])}",
    ]
    if summary["weak_cases"]:
        lines.append("fixes that gained less than 1.15x, so the planted cause did not dominate: "
                     + ", ".join(summary["weak_cases"]))
    return lines


def _prediction(row):
    if not row.get("predicted_ms"):
        return ""
    low, mid, high = row["predicted_ms"]
    return f"{mid:.3g} ({low:.3g}–{high:.3g})"


def _number(value, form):
    return "" if value is None else form % value


def _judgement(row):
    if row["status"] != "scored":
        return row["status"]
    if row["control"]:
        return "false alarm" if row["false_alarm"] else "yes"
    return "yes" if row["first_right"] else "**no**"


def markdown(header, rows, summary, targets):
    lines = ["# Diagnosis benchmark", ""]
    lines += [f"- {key}: {value}" for key, value in header.items() if value is not None]
    lines += ["", "## Targets", ""] + [f"- {line}" for line in target_lines(targets)]
    lines += ["", "## Figures", ""] + [f"- {line}" for line in summary_lines(summary)]
    lines += ["", "## Cases", "",
              "Step times in ms. *Realised*: the planted step divided by what the fix gained in "
              "samples per second.", "",
              "| case | class | first finding | right | missed | invented | planted | gain "
              "| realised | predicted | holds | overhead |",
              "|---|---|---|---|---|---|---:|---:|---:|---|---|---:|"]
    for row in rows:
        cells = [row["case"], row["class"], row.get("first") or
                 ("none" if row["status"] == "scored" else ""), _judgement(row),
                 ", ".join(row.get("missed") or []).replace("|", " or "),
                 ", ".join(row.get("invented") or []),
                 _number(row.get("planted_ms"), "%.4g"), _number(row.get("speedup"), "%.2f×"),
                 _number(row.get("realised_ms"), "%.4g"), _prediction(row), _cell(row.get("holds")),
                 "" if row.get("overhead") is None else percent(row["overhead"])]
        lines.append("| " + " | ".join(cells) + " |")
    left = [row for row in rows if row["status"] != "scored"]
    if left:
        lines += ["", "## Not scored", ""]
        lines += [f"- `{row['case']}`: {row['status']}: {row['reason']}" for row in left]
    return "\n".join(lines) + "\n"


def write(folder, header, rows, summary, targets):
    """Writes scoreboard.tsv, .json and .md into the folder; returns the Markdown."""
    folder = Path(folder)
    text = markdown(header, rows, summary, targets)
    (folder / "scoreboard.tsv").write_text(tsv(rows), encoding="utf-8")
    (folder / "scoreboard.md").write_text(text, encoding="utf-8")
    (folder / "scoreboard.json").write_text(
        json.dumps({"schema": "pyrometer.diagnosis-benchmark/1", "header": header,
                    "summary": summary, "targets": targets, "cases": rows}, indent=1) + "\n",
        encoding="utf-8")
    return text
