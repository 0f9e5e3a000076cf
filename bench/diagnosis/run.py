#!/usr/bin/env python3
"""The diagnosis benchmark: training scripts with planted causes, and what pyrometer says of them.

usage: run.py --pyrometer PATH --out DIR [options]      run what DIR lacks, then score all of it
       run.py --pyrometer PATH --rescore DIR            judge the recordings of DIR again
       run.py --list                                    the cases, as a table in Markdown

Each case runs plain, planted and fixed in turn, then once more under `pyrometer run`. DIR gets
CASE.pyro, CASE.report.json, CASE.measured.json, and scoreboard.{tsv,json,md}.
Exit status: 0 done, whatever the score; 1 some case failed; 2 usage.
"""
import argparse
import json
import sys
import time
from pathlib import Path

import board
import execute
import machine
import score
import truth as truths

TYPICAL_S = 75          # what a case takes on a GPU: with less of the budget left none is begun
WARM_S = 2.0            # a first run that timed less says only how many steps the next ones need
MOST_STEPS = 200_000


def steps_for(run, seconds, period):
    """Steps that take about so long, a multiple of the period."""
    wanted = 1e3 * seconds / run["ms_per_step"]
    return min(MOST_STEPS, max(1, round(wanted / period)) * period)


class Case:
    """One case's files in the output folder."""

    def __init__(self, truth, folder):
        self.truth = truth
        self.recording = folder / f"{truth.name}.pyro"
        self.report = folder / f"{truth.name}.report.json"
        self.measured = folder / f"{truth.name}.measured.json"

    def load(self):
        if not self.measured.exists():
            return None
        return json.loads(self.measured.read_text(encoding="utf-8"))

    def save(self, measured):
        self.measured.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")

    def failed(self):
        return (self.load() or {}).get("status") == "failed"

    def done(self):
        measured = self.load()
        return bool(measured) and measured["status"] == "measured" and self.recording.exists()


class Block:
    """The plain runs of one variant. The first run says how many steps fit the time wanted."""

    def __init__(self, runner, truth, fixed, options):
        self.runner, self.truth, self.fixed, self.options = runner, truth, fixed, options
        self.steps, self.runs = None, []

    def run(self):
        steps = self.steps or self.options.steps
        if not self.options.calibrate or self.steps is not None:
            self.runs.append(self.runner.plain(self.truth, self.fixed, steps))
            return
        first = self.runner.plain(self.truth, self.fixed, steps)
        self.steps = steps_for(first, self.options.seconds, self.truth.period)
        timed_s = first["ms_per_step"] * first["steps"] / 1e3
        # Too short is too noisy; otherwise what is there counts, and saves the time of another.
        self.runs.append(first if timed_s >= WARM_S else
                         self.runner.plain(self.truth, self.fixed, self.steps))


def measure(case, runner, options):
    """All runs of one case, stored as they come; returns what is stored."""
    truth = case.truth
    planted = Block(runner, truth, False, options)
    fixed = Block(runner, truth, True, options)
    measured = {"case": truth.name, "device": options.device, "tiny": options.tiny,
                "beside": options.beside,
                "status": "measured", "reason": None, "planted": planted.runs, "fixed": fixed.runs,
                "recorded": None}
    try:
        for _ in range(options.repeats):
            planted.run()
            if truth.fix:
                fixed.run()
        steps = steps_for(planted.runs[-1], options.record_seconds, truth.period) \
            if options.calibrate else options.steps
        measured["recorded"] = runner.recorded(truth, steps, case.recording)
        case.report.write_text(execute.analyse(runner.pyrometer, case.recording),
                               encoding="utf-8")
    except execute.Unavailable as error:
        measured.update(status="skipped", reason=str(error))
    except (execute.RunError, OSError, ValueError) as error:
        measured.update(status="failed", reason=f"{type(error).__name__}: {error}")
    case.save(measured)
    return measured


def run_cases(chosen, folder, options, python):
    gpus = options.gpus if options.device == "cuda" else max(t.gpus for t in chosen)
    runner = execute.Runner(options.pyrometer, python, options.device, options.tiny,
                            options.timeout_s)
    began = time.monotonic()
    # What failed before comes last: a case that hangs must not use up the budget of every call.
    chosen = sorted(chosen, key=lambda truth: Case(truth, folder).failed())
    for number, truth in enumerate(chosen, 1):
        case, elapsed = Case(truth, folder), time.monotonic() - began
        prefix = f"[{number}/{len(chosen)} {elapsed:5.0f} s] {truth.name}"
        if case.done() and not options.again:
            print(f"{prefix}: there already", flush=True)
            continue
        if elapsed + (0 if options.tiny else TYPICAL_S) > options.budget_s:
            print(f"{prefix}: left for another run, out of budget", flush=True)
            continue
        why = execute.lacks(truth, python, options.device, gpus)
        if why:
            case.save({"case": truth.name, "device": options.device, "tiny": options.tiny,
                       "status": "skipped", "reason": why})
            print(f"{prefix}: skipped, {why}", flush=True)
            continue
        measured = measure(case, runner, options)
        if measured["status"] == "measured":
            speed = score.measured_of(measured)
            gain = f", fix {speed['speedup']:.2f}x" if speed["speedup"] else ""
            print(f"{prefix}: {speed['planted_ms']:.3f} ms per step{gain}", flush=True)
        else:
            print(f"{prefix}: {measured['status']}: {measured['reason']}", flush=True)


def score_folder(all_truths, folder):
    """A row per case that the folder knows of: scored, failed, skipped or not judged."""
    rows = []
    for truth in all_truths:
        case = Case(truth, folder)
        measured = case.load()
        if measured is None:
            continue
        row = {"case": truth.name, "class": truth.kind, "control": truth.control,
               "status": measured["status"], "reason": measured["reason"],
               **score.measured_of(measured)}
        if measured["status"] == "measured":
            if measured["device"] == "cpu" and not truth.cpu:
                row.update(status="not judged", reason="only a GPU shows the cause")
            elif not case.report.exists():
                row.update(status="failed", reason="there is no report of its recording")
            else:
                report = json.loads(case.report.read_text(encoding="utf-8"))
                row.update(score.score_case(truth, report, measured, measured["device"]),
                           status="scored")
        rows.append(row)
    return rows


def rescore(all_truths, folder, pyrometer):
    """Judges every recording of the folder again with this program."""
    for truth in all_truths:
        case = Case(truth, folder)
        if case.recording.exists() and case.load():
            try:
                case.report.write_text(execute.analyse(pyrometer, case.recording),
                                       encoding="utf-8")
            except execute.RunError as error:
                case.report.unlink(missing_ok=True)
                print(f"{truth.name}: {error}", file=sys.stderr)


def table(all_truths):
    lines = ["| script | class | follows | planted causes | fix |", "|---|---|---|---|---|"]
    for t in all_truths:
        causes = ", ".join(" or ".join(cause) for cause in t.causes) or "none"
        gpus = f" ({t.gpus} GPUs)" if t.gpus > 1 else ""
        lines.append(f"| `{t.name}`{gpus} | {t.kind} | {t.report} | {causes} | {t.fix or '–'} |")
    return "\n".join(lines)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", help="the program to judge")
    parser.add_argument("--out", type=Path, help="folder for recordings and the scoreboard")
    parser.add_argument("--rescore", type=Path, metavar="DIR",
                        help="judge the recordings of an earlier run again, without a GPU")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--cases", help="comma-separated names or classes; default: all")
    parser.add_argument("--gpus", type=int, help="GPUs to use; default: all there are")
    parser.add_argument("--budget-s", type=float, default=float("inf"),
                        help="begin no case that could end after so many seconds")
    parser.add_argument("--repeats", type=int, default=2, help="plain runs of each variant")
    parser.add_argument("--seconds", type=float, default=4, help="timed length of a plain run")
    parser.add_argument("--record-seconds", type=float,
                        help="timed length of the recorded run (10); with --tiny 12 steps unless "
                             "this is given")
    parser.add_argument("--steps", type=int, help="steps of every run; default: by --seconds")
    parser.add_argument("--timeout-s", type=float, default=180, help="limit of one run")
    parser.add_argument("--python", default=sys.executable, help="interpreter with torch")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="toy sizes: a smoke test")
    parser.add_argument("--beside", nargs="*", default=[], metavar="PATTERN",
                        help="findings that are true of the machine meanwhile, such as "
                             "host.cpu_saturated on a busy one: left out of account")
    parser.add_argument("--again", action="store_true", help="run also what is there already")
    options = parser.parse_args()
    if not options.list and (not options.pyrometer or bool(options.out) == bool(options.rescore)):
        parser.error("--pyrometer and one of --out and --rescore are needed")
    options.calibrate = options.steps is None and (not options.tiny or
                                                   options.record_seconds is not None)
    options.record_seconds = options.record_seconds or 10
    if not options.calibrate and options.steps is None:
        options.steps = 12
    return options


def choose(all_truths, words):
    if not words:
        return all_truths
    wanted = set(words.split(","))
    unknown = wanted - {t.name for t in all_truths} - {t.kind for t in all_truths}
    if unknown:
        sys.exit(f"run.py: no such case or class: {', '.join(sorted(unknown))}")
    return [t for t in all_truths if {t.name, t.kind} & wanted]


def main():
    options = parse()
    all_truths = truths.read_all()
    if options.list:
        print(table(all_truths))
        return 0
    folder = options.rescore or options.out
    folder.mkdir(parents=True, exist_ok=True)
    header_file = folder / "header.json"
    if options.rescore:
        header = json.loads(header_file.read_text()) if header_file.exists() else {}
        header["judged_by"] = machine.program_version(options.pyrometer)
        rescore(all_truths, folder, options.pyrometer)
    else:
        if options.gpus is None and options.device == "cuda":
            options.gpus = machine.gpu_count(options.python)
            if options.gpus == 0:
                sys.exit("run.py: torch sees no GPU; --device cpu --tiny is a smoke test")
        header = machine.facts(options.pyrometer, options.python)
        if options.beside:
            header["left out of account"] = ", ".join(options.beside)
        header_file.write_text(json.dumps(header, indent=1) + "\n")
        run_cases(truths.balanced(choose(all_truths, options.cases)), folder, options,
                  options.python)
    rows = score_folder(all_truths, folder)
    summary = score.summary_of([row for row in rows if row["status"] == "scored"])
    targets = score.targets_of(summary)
    print(board.write(folder, header, rows, summary, targets))
    return 1 if any(row["status"] == "failed" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
