#!/usr/bin/env python3
"""Record profiler traces of training scripts with one planted cause each.

    python3 bench/traces/record.py --out DIR [--gpus 1|2] [--cases a,b] [--budget-s N]

Each case runs in a process of its own, so that a failing one does not stop the others.
"""
import argparse
import faulthandler
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import torch
import torch.distributed as dist

import allocator
import controls
import host
import input as loader
import launch
import layout
import measure
import pauses
import precision
import ranks
import sync
import transfer
from common import Env, Ranks

CASES = [case for module in (loader, transfer, sync, launch, precision, layout, allocator, pauses,
                             host, controls, ranks) for case in module.CASES]
COLUMNS = ("trace cause planted_ms fixed_ms speedup what profiled_ms n_ops steps").split()

TYPICAL_S = 12          # no case is started with less than this left of the budget
MOST_IN_A_ROW = 5       # failures in a row that end the run

# Forked children inherit torch as imported; nothing here may touch CUDA before they exist.
processes = multiprocessing.get_context("fork")


def open_env(options, rank, store):
    world = options.gpus
    device = torch.device("cuda", rank) if options.device == "cuda" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    if world > 1:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", rank=rank,
                                world_size=world, init_method=f"file://{store}")
    torch.manual_seed(rank)
    return Env(device, options.tiny, Ranks(rank, world))


class Local:
    """The fixed side in this process."""

    def __init__(self, env, case):
        self.timer = measure.Timer(env, case, case.build(env, True))

    def block_ms(self):
        return self.timer.block_ms()

    def close(self):
        pass


class Remote:
    """The fixed side in a process of its own, forked before this one touches CUDA."""

    def __init__(self, case, options):
        self.pipe, theirs = processes.Pipe()
        self.process = processes.Process(target=self._serve, args=(case, options, theirs))
        self.process.start()

    @staticmethod
    def _serve(case, options, pipe):
        env = open_env(options, 0, None)
        timer = Local(env, case)
        pipe.send("ready")
        while pipe.recv():
            pipe.send(timer.block_ms())
        os._exit(0)

    def block_ms(self):
        self.pipe.send(True)
        return self.answer()

    def answer(self):
        while not self.pipe.poll(0.2):
            if not self.process.is_alive():
                raise RuntimeError("the process of the fixed variant died")
        return self.pipe.recv()

    def close(self):
        self.pipe.send(False)
        self.process.join()


def trace_path(options, case, rank):
    suffix = f".rank{rank}" if options.gpus > 1 else ""
    return Path(options.out) / f"{case.name}{suffix}.trace.json.gz"


def measure_case(case, options, rank, store):
    """All of a case in this process; returns its row of measured.tsv and the versions."""
    fixed = Remote(case, options) if case.own_process else None
    os.environ.update(case.planted_env)
    env = open_env(options, rank, store)
    variant = case.build(env, False)
    planted = measure.Timer(env, case, variant)
    if case.control:
        fixed = planted
    elif fixed is None:
        fixed = Local(env, case)
    else:
        fixed.answer()              # built: it no longer disturbs what is timed here
    planted_ms, fixed_ms = [], []
    for _ in range(2):
        planted_ms.append(planted.block_ms())
        fixed_ms.append(fixed.block_ms())
    if not case.control:
        fixed.close()

    path, plain_ms = trace_path(options, case, rank), min(planted_ms)
    active = measure.record_bounded(env, case, variant, measure.traced_steps(env, case, plain_ms),
                                    path, options.max_kb)
    steps = active if env.tiny else measure.profiled_steps(case, active, plain_ms)
    profiled = measure.profiled_ms(env, variant, steps, measure.default_options(env, case))
    operators = measure.count(measure.load_events(path), "cpu_op") / active

    def listed(values):
        return ", ".join(f"{value:.3f}" for value in values)
    row = (case.name, case.cause, listed(planted_ms), listed(fixed_ms),
           f"{sum(planted_ms) / sum(fixed_ms):.2f}", case.what, f"{profiled:.3f}",
           f"{operators:.0f}", str(active))
    env.ranks.barrier(env.device)
    return row, measure.versions(env)


def child(case, options, rank, store, pipe):
    os.setsid()
    log = os.open(error_path(options, case), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    tempfile.tempdir = os.path.dirname(store)       # removed by the parent
    faulthandler.dump_traceback_later(max(1, options.timeout_s - 3))
    status = 0
    try:
        pipe.send(measure_case(case, options, rank, store))
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)        # no teardown: communicators and workers may wait for each other


def error_path(options, case):
    return Path(options.out) / f"{case.name}.err"


def run_case(case, options):
    """Run a case in child processes; returns (row, versions), or None when it failed."""
    error_path(options, case).unlink(missing_ok=True)
    deadline = time.monotonic() + options.timeout_s
    with tempfile.TemporaryDirectory() as folder:
        pipes, children = [], []
        for rank in range(options.gpus):
            ours, theirs = processes.Pipe(duplex=False)
            process = processes.Process(target=child, args=(case, options, rank,
                                                            f"{folder}/store", theirs))
            process.start()
            theirs.close()
            pipes.append(ours)
            children.append(process)
        # A pending result keeps the pipe readable, so the order of these waits is free.
        while time.monotonic() < deadline and any(p.is_alive() for p in children):
            if any(p.exitcode for p in children):
                break                   # one rank failed: the other would wait for ever
            time.sleep(0.05)
        failed = any(p.exitcode != 0 for p in children)
        for process in children:
            kill_group(process)
    if failed:
        return None
    error_path(options, case).unlink(missing_ok=True)
    return pipes[0].recv()


def kill_group(process):
    """End a child with everything it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.join()


def append(options, row, versions):
    path = Path(options.out) / "measured.tsv"
    new = not path.exists()
    with path.open("a") as file:
        if new:
            file.write(f"# {versions}, {time.strftime('%Y-%m-%d', time.gmtime())}; "
                       "ms per step without any profiler, two runs each (planted, fixed, planted, "
                       "fixed); profiled_ms: planted, under the profiler; n_ops: cpu_op events per "
                       "step; steps: traced steps\n" + "\t".join(COLUMNS) + "\n")
        file.write("\t".join(row) + "\n")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", help="folder for traces, measured.tsv and .err files")
    parser.add_argument("--cases", help="comma-separated names; default: all for --gpus")
    parser.add_argument("--gpus", type=int, choices=(1, 2), default=1)
    parser.add_argument("--budget-s", type=float, default=float("inf"),
                        help="start no case that could end after this many seconds")
    parser.add_argument("--timeout-s", type=float, default=60, help="limit of one case")
    parser.add_argument("--max-kb", type=float, default=650,
                        help="record again with fewer steps when a trace is larger")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="two steps of toy sizes: a smoke test")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    options = parser.parse_args()
    if not options.list and not options.out:
        parser.error("--out is needed")
    return options


def select(options):
    cases = [case for case in CASES if case.gpus == options.gpus]
    if options.cases:
        wanted = options.cases.split(",")
        unknown = set(wanted) - {case.name for case in cases}
        if unknown:
            sys.exit(f"no such case with --gpus {options.gpus}: {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case.name in wanted]
    return cases


def main():
    options = parse()
    cases = select(options)
    if options.list:
        for case in CASES:
            print(f"{case.gpus}\t{case.name}\t{case.cause}\t{case.what}")
        return 0
    Path(options.out).mkdir(parents=True, exist_ok=True)
    start, failures, in_a_row = time.monotonic(), 0, 0
    for number, case in enumerate(cases, 1):
        elapsed = time.monotonic() - start
        prefix = f"[{number}/{len(cases)} {elapsed:5.0f}s] {case.name}"
        if case.needs and not hasattr(torch, case.needs):
            print(f"{prefix}: skipped, torch has no {case.needs}", flush=True)
            continue
        if elapsed + TYPICAL_S > options.budget_s:
            print(f"{prefix}: skipped, out of budget", flush=True)
            continue
        began = time.monotonic()
        result = run_case(case, options)
        took = time.monotonic() - began
        if result is None:
            failures, in_a_row = failures + 1, in_a_row + 1
            print(f"{prefix}: FAILED after {took:.1f}s, see {error_path(options, case)}",
                  flush=True)
            if in_a_row == MOST_IN_A_ROW:
                print("stopping: nothing seems to work here", flush=True)
                break
            continue
        in_a_row = 0
        row, versions = result
        append(options, row, versions)
        kilobytes = trace_path(options, case, 0).stat().st_size / 1024
        print(f"{prefix}: planted {row[2]}  fixed {row[3]}  x{row[4]}  profiled {row[6]}  "
              f"{row[7]} ops  {row[8]} steps  {kilobytes:.0f} KB  {took:.1f}s", flush=True)
    print(f"done in {time.monotonic() - start:.0f}s, {failures} failed", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
