#!/usr/bin/env python3
"""Keeps recordings of a benchmark run as regression data, with the verdict that they get today.

usage: keep.py --pyrometer PATH [--to DIR] [--max-kb N] RUN CASE…

RUN is the --out of run.py. Each recording is compacted and packed into DIR (tests/data/diagnosis)
as CASE.pyro.xz, and its row of DIR/verdicts.tsv is written: what ctest asks of it from then on.
Read the rows before you commit them: a wrong verdict that is kept is called right. What was true of
the machine meanwhile, and not of the script (run.py --beside), stays out of account.
"""
import argparse
import json
import lzma
import sqlite3
import sys
import tempfile
from pathlib import Path

import execute
import run
import score
import truth as truths

KEPT = truths.HERE.parent.parent / "tests" / "data" / "diagnosis"
COLUMNS = ("case", "device", "beside", "first", "found", "invented")


def verdict(truth, report, device, beside="-"):
    """The row of a recording. `first`: right, wrong or none; a control's is none, or wrong."""
    patterns = [] if beside == "-" else beside.split()
    got = score.score_case(truth, report, {"beside": patterns}, device)
    right = not got["invented"] if truth.control else got["first_right"]
    return {"case": truth.name, "device": device, "beside": beside,
            "first": "none" if not got["first"] else "right" if right else "wrong",
            "found": f"{len(got['found'])} of {len(truth.causes)}",
            "invented": " ".join(got["invented"]) or "-"}


def rows_of(path):
    """The rows of verdicts.tsv by case; empty where there is no such file."""
    if not path.exists():
        return {}
    lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()
             if line and not line.startswith("#")]
    if lines[0] != list(COLUMNS) or any(len(line) != len(COLUMNS) for line in lines):
        raise ValueError(f"{path}: the columns have to be {', '.join(COLUMNS)}")
    return {line[0]: dict(zip(COLUMNS, line)) for line in lines[1:]}


def write_rows(path, rows):
    lines = ["# What each recording here has to be told, against the truth of its script in "
             "bench/diagnosis/cases.", "\t".join(COLUMNS)]
    lines += ["\t".join(rows[case][column] for column in COLUMNS) for case in sorted(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def packed(recording):
    """The recording as bytes: one compact file without its log, compressed."""
    with tempfile.TemporaryDirectory() as folder:
        compact = Path(folder) / "compact"
        connection = sqlite3.connect(recording)
        try:
            connection.execute("VACUUM INTO ?", (str(compact),))
        finally:
            connection.close()
        return lzma.compress(compact.read_bytes(), preset=9)


def analysed(pyrometer, data):
    """The report of a packed recording."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Path(folder) / "recording.pyro"
        recording.write_bytes(lzma.decompress(data))
        return json.loads(execute.analyse(pyrometer, recording))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--to", type=Path, default=KEPT)
    parser.add_argument("--max-kb", type=float, default=200, help="leave larger ones out")
    parser.add_argument("run", type=Path)
    parser.add_argument("cases", nargs="+")
    options = parser.parse_args()
    known = {truth.name: truth for truth in truths.read_all()}
    options.to.mkdir(parents=True, exist_ok=True)
    table, status = options.to / "verdicts.tsv", 0
    rows = rows_of(table)
    for name in options.cases:
        case = run.Case(known[name], options.run) if name in known else None
        if not case or not case.done():
            print(f"{name}: no such case, or it was not measured there", file=sys.stderr)
            status = 1
            continue
        data = packed(case.recording)
        if len(data) > 1024 * options.max_kb:
            print(f"{name}: left out, {len(data) / 1024:.0f} KB", file=sys.stderr)
            status = 1
            continue
        (options.to / f"{name}.pyro.xz").write_bytes(data)
        measured = case.load()
        rows[name] = verdict(case.truth, analysed(options.pyrometer, data), measured["device"],
                             " ".join(measured.get("beside") or ()) or "-")
        print(f"{name}: {len(data) / 1024:.0f} KB, first {rows[name]['first']}, "
              f"found {rows[name]['found']}, invented {rows[name]['invented']}")
    write_rows(table, rows)
    return status


if __name__ == "__main__":
    sys.exit(main())
