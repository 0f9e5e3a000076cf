#!/usr/bin/env python3
"""What watching costs: `pyrometer run` on each workload, and torch.profiler beside it.

usage: measure.py --pyrometer PATH [--seconds N] [--budget 0.5%] [--no-profiler] [WORKLOAD…]

Prints tables in Markdown. "Of the run" is the extra time of a watched step times the share of
watched steps, and what the steps around the switches took longer.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

WORKLOADS = ("mlp", "transformer", "conv", "large")
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workloads.py")


def percent(value, form="%+.2f%%"):
    return "not measured" if value is None else form % (100 * value)


def record(options, name, folder):
    recording = os.path.join(folder, name + ".pyro")
    command = [options.pyrometer, "run", "--quiet", "--overhead", options.budget, "-o", recording,
               "--", sys.executable, PROGRAM, name, "--seconds", str(options.seconds)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([options.pyrometer, "analyze", "--json", recording], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)["ranks"][0]


def row(name, rank):
    run = rank["run"]
    cost = run["overhead"]
    measured = cost["ratio"] is not None
    low, high = ((cost[k] * cost["duty"] + (cost["switching"] or 0)) if measured else None
                 for k in ("low", "high"))
    return "| %s | %.2f | %s | %s to %s | %s | %s | %s | %s to %s | %s |" % (
        name, (rank["steps"]["mean_ns"] or 0) / 1e6, percent(cost["ratio"]), percent(cost["low"]),
        percent(cost["high"]), cost["comparisons"], percent(cost["duty"], "%.0f%%"),
        percent(cost["of_run"]), percent(low), percent(high),
        percent(run["monitor_cpu_share"], "%.1f%%"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--budget", default="0.5%")
    parser.add_argument("--no-profiler", action="store_true")
    parser.add_argument("workloads", nargs="*", default=WORKLOADS)
    options = parser.parse_args()
    print("| workload | ms per step | a watched step | interval | comparisons | share watched "
          "| of the run | interval | monitor, of a core |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.workloads or WORKLOADS:
            print(row(name, record(options, name, folder)), flush=True)
    if options.no_profiler:
        return
    print()
    for name in options.workloads or WORKLOADS:
        subprocess.run([sys.executable, PROGRAM, name, "--profile-turns", "--seconds", "15"],
                       check=True)


if __name__ == "__main__":
    main()
