#!/usr/bin/env python3
"""Compares what pyrometer says of recorded traces with what was measured: a Markdown table.

usage: bench/traces/scoreboard.py PYROMETER FOLDER

FOLDER is what record.py wrote: traces and measured.tsv. Speed-ups are of the planted variant's step
time over the fixed one's, without any profiler.
"""
import json
import pathlib
import statistics
import subprocess
import sys


def rows_of(folder: pathlib.Path):
    lines = (folder / "measured.tsv").read_text(encoding="utf-8").splitlines()
    header = lines[0].lstrip("# ")
    table = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return header, [dict(zip(table[0], row)) for row in table[1:]]


def analyse(pyrometer: str, folder: pathlib.Path, case: str):
    files = sorted(folder.glob(f"{case}.trace.json*")) + sorted(folder.glob(f"{case}.rank*.trace.json*"))
    if not files:
        return None
    done = subprocess.run([pyrometer, "analyze", "--json", *map(str, files)], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)


def mean(text: str) -> float:
    return statistics.mean(float(part) for part in text.split(","))


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    pyrometer, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    header, rows = rows_of(folder)
    print(f"{header}\n")
    print("| trace | planted | first finding | plain ms | predicted plain ms | measured × | predicted × | in range |")
    print("|---|---|---|---|---|---|---|---|")
    held = judged = 0
    errors = []
    for row in rows:
        report = analyse(pyrometer, folder, row["trace"])
        if report is None:
            continue
        findings = [f for f in report.get("diagnosis", report)["findings"] if f["severity"] != "info"]
        plain, measured = mean(row["planted_ms"]), float(row["speedup"])
        first = findings[0] if findings else None
        cells = [row["trace"], row["cause"], first["id"] if first else "none", f"{plain:.2f}"]
        prediction = first.get("prediction") if first else None
        if prediction:
            base = prediction["baseline_ns"]
            low, high = base / prediction["high_ns"], base / prediction["low_ns"]
            mid = base / prediction["mid_ns"]
            inside = low <= measured <= high
            held, judged = held + inside, judged + 1
            errors.append(abs(base / 1e6 - plain) / plain)
            cells += [f"{base / 1e6:.2f}", f"{measured:.2f}", f"{mid:.2f} ({low:.2f}–{high:.2f})",
                      "yes" if inside else "no"]
        else:
            cells += ["", f"{measured:.2f}", "", ""]
        print("| " + " | ".join(cells) + " |")
    print(f"\nRange holds in {held} of {judged}; step time without the profiler off by "
          f"{100 * statistics.median(errors):.1f}% in the median, {100 * max(errors):.0f}% at most.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
