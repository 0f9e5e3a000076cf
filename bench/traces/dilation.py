#!/usr/bin/env python3
"""Measure what torch.profiler itself costs per operator, in four settings.

    python3 bench/traces/dilation.py --out DIR

Host-bound workloads are timed plain and under the profiler in turn (plain, profiled, plain,
profiled). DIR/dilation.tsv gets one row per workload and setting; the traces of the small
transformer are kept.
"""
import argparse
import statistics
import time
from pathlib import Path

import torch

import launch
import measure
import sync
from common import Env, Variant, adamw, fixed_batch, running, train_step
from models import mlp, square_loss

SETTINGS = {
    "plain": {},
    "shapes": {"record_shapes": True},
    "shapes_stack": {"record_shapes": True, "with_stack": True},
    "shapes_memory": {"record_shapes": True, "profile_memory": True},
}
TRACED_STEPS = 3
KEPT = "small_transformer"
# Operators that do next to nothing and call no other: their duration is the profiler's own.
EMPTY_OPS = {"aten::view", "aten::as_strided", "aten::_unsafe_view", "detach"}
COLUMNS = ("workload setting plain_ms profiled_ms cpu_ops python_functions runtime_calls "
           "us_per_op empty_op_us empty_ops").split()


def tiny_mlp(env):
    width = env.size(128, 8)
    model = mlp(width, 4).to(env.device)
    return train_step(model, adamw(model.parameters(), env),
                      fixed_batch(env.randn(32, width), env.randn(32, width)), square_loss, env)


WORKLOADS = {
    "tiny_mlp": tiny_mlp,
    KEPT: launch.small_transformer_step,
    "unfused_optimizer": lambda env: launch.unfused(env, False).step,
    "item_loop": lambda env: sync.masked_step(env, False, env.size(10, 2)),
}


def plain_ms(env, variant, steps):
    with running(variant):
        for _ in range(variant.warmup):
            variant.step()
        return 1e3 * measure.timed(env, variant, steps) / steps


def choose_steps(env, variant):
    if env.tiny:
        return measure.TINY_STEPS
    return min(60, max(4, int(0.3e3 / plain_ms(env, variant, 4))))


def per_step(events, *categories):
    return sum(measure.count(events, category) for category in categories) / TRACED_STEPS


def compare(env, variant, steps, options, path):
    plain, profiled = [], []
    for _ in range(2):
        plain.append(plain_ms(env, variant, steps))
        profiled.append(measure.profiled_ms(env, variant, steps, options))
    measure.record(env, variant, TRACED_STEPS, path, options)
    events = measure.load_events(path)
    operators = per_step(events, "cpu_op")
    empty = [float(event["dur"]) for event in events
             if event.get("name") in EMPTY_OPS and "dur" in event]
    before, under = statistics.mean(plain), statistics.mean(profiled)
    cost = 1e3 * (under - before) / operators if operators else float("nan")
    return (f"{before:.3f}", f"{under:.3f}", f"{operators:.0f}",
            f"{per_step(events, 'python_function'):.0f}",
            f"{per_step(events, 'cuda_runtime', 'cuda_driver'):.0f}", f"{cost:.2f}",
            f"{statistics.median(empty):.3f}" if empty else "", str(len(empty)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="two steps of toy sizes: a smoke test")
    options = parser.parse_args()
    out = Path(options.out)
    out.mkdir(parents=True, exist_ok=True)
    env = Env(torch.device(options.device), options.tiny)
    with (out / "dilation.tsv").open("w") as file:
        file.write(f"# {measure.versions(env)}, {time.strftime('%Y-%m-%d', time.gmtime())}; "
                   "counts are per step, except empty_ops; empty_op_us: median duration of "
                   f"{', '.join(sorted(EMPTY_OPS))}\n" + "\t".join(COLUMNS) + "\n")
        for workload, build in WORKLOADS.items():
            variant = Variant(build(env), warmup=5)
            steps = choose_steps(env, variant)
            for setting, profiling in SETTINGS.items():
                path = out / f"dilation_{workload}_{setting}.trace.json.gz"
                row = (workload, setting) + compare(env, variant, steps, profiling, path)
                if workload != KEPT:
                    path.unlink()
                print("\t".join(row), flush=True)
                file.write("\t".join(row) + "\n")
                file.flush()


if __name__ == "__main__":
    main()
