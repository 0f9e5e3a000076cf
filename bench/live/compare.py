#!/usr/bin/env python3
"""Recordings against traces of the same run: the shares of both waterfalls side by side.

usage: compare.py --pyrometer PATH --out FOLDER [CASE…]

Each case of cases.py runs once under `pyrometer run`, capturing all the time, and starts
torch.profiler for 12 steps in the middle of the run. While the profiler holds the GPU's tracing
interface the recorder stands aside; so the recording has the steps around those of the trace.
Prints a table in Markdown, one row per case and cause that either side gives 1% or more.
"""
import argparse
import json
import os
import subprocess
import sys

CASES = ("healthy", "loader_serial", "h2d_pageable", "launch_bound_mlp", "fp32_no_tf32",
         "ckpt_sync", "item_every_layer")
HERE = os.path.dirname(os.path.abspath(__file__))


def report(pyrometer, path):
    done = subprocess.run([pyrometer, "analyze", "--json", path], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def shares(result):
    return {cause: 100 * value["share"] for cause, value in result["job"]["causes"].items()}


def first_finding(result):
    findings = result["findings"]
    return findings[0]["id"] if findings else "none"


def step_ms(result):
    steps = result["ranks"][0]["steps"]
    return steps["mean_ns"] / 1e6 if steps and steps.get("mean_ns") else float("nan")


def run_case(options, name):
    recording = os.path.join(options.out, name + ".pyro")
    trace = os.path.join(options.out, name + ".json")
    for path in (recording, trace):
        if os.path.exists(path):
            os.remove(path)
    command = [options.pyrometer, "run", "--quiet", "--overhead", "0", "-o", recording, "--",
               sys.executable, os.path.join(HERE, "cases.py"), name, "--trace", trace,
               "--steps", str(options.steps)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError("exit code %d: %s" % (done.returncode, done.stderr[-500:]))
    return report(options.pyrometer, recording), report(options.pyrometer, trace)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--steps", type=int, default=120)
    parser.add_argument("cases", nargs="*", default=CASES)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    print("| case | cause | recording, % | trace, % | difference, points |")
    print("|---|---|---:|---:|---:|")
    summary = []
    for name in options.cases or CASES:
        try:
            live, trace = run_case(options, name)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            summary.append((name, str(error).replace("\n", " ")[:200], "", float("nan"), 0, 0))
            continue
        a, b = shares(live), shares(trace)
        worst = max(abs(a[cause] - b.get(cause, 0)) for cause in a)
        for cause in a:
            if max(a[cause], b.get(cause, 0)) >= 1:
                print("| %s | %s | %.1f | %.1f | %+.1f |" % (name, cause, a[cause],
                                                             b.get(cause, 0),
                                                             a[cause] - b.get(cause, 0)))
        summary.append((name, first_finding(live), first_finding(trace), worst, step_ms(live),
                        step_ms(trace)))
        sys.stdout.flush()
    print("\n| case | first finding, recording | first finding, trace | largest difference, points "
          "| step, recording | step, trace |")
    print("|---|---|---|---:|---:|---:|")
    for row in summary:
        print("| %s | %s | %s | %.1f | %.2f ms | %.2f ms |" % row)


if __name__ == "__main__":
    main()
