"""Timing and tracing of one case's variants."""
import gzip
import json
import time

import torch
from torch.profiler import ProfilerActivity, profile, schedule

from common import running

BLOCK_S = 0.8           # aim of one timed block
PROFILED_S = 0.4        # aim of the block timed under the profiler
TRACE_S = 2.5           # traced steps longer than this together become fewer
TINY_STEPS = 2


def whole(steps, period):
    """`steps` rounded down to a multiple of `period`, at least one period."""
    return max(period, steps // period * period)


def timed(env, variant, steps):
    """Wall seconds of `steps` steps, synchronised at both ends only."""
    env.ranks.barrier(env.device)
    env.sync()
    start = time.perf_counter()
    for _ in range(steps):
        variant.step()
    env.sync()
    return time.perf_counter() - start


class Timer:
    """Times blocks of one variant; the block length is chosen once, from a pilot."""

    def __init__(self, env, case, variant):
        self.env, self.case, self.variant, self.steps = env, case, variant, None

    def _choose(self):
        if self.env.tiny:
            return TINY_STEPS
        pilot = max(2, self.case.period)
        per_step = self.env.ranks.reduce_max(
            timed(self.env, self.variant, pilot) / pilot, self.env.device)
        wanted = min(self.case.max_steps, max(2, int(BLOCK_S / per_step)))
        return whole(wanted, self.case.period)

    def block_ms(self):
        """Milliseconds per step of one block, the slowest rank's."""
        with running(self.variant):
            for _ in range(self.variant.warmup):
                self.variant.step()
            if self.steps is None:
                self.steps = self._choose()
            seconds = timed(self.env, self.variant, self.steps)
        return 1e3 * self.env.ranks.reduce_max(seconds / self.steps, self.env.device)


def default_options(env, case):
    return {"record_shapes": env.ranks.world == 1, "profile_memory": case.profile_memory}


def profiler(env, options, **more):
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if env.cuda else [])
    return profile(activities=activities, **options, **more)


def record(env, variant, active, path, options):
    """Trace `active` steps after one warm-up step of the profiler."""
    env.sync()
    with running(variant):
        for _ in range(variant.warmup):
            variant.step()
        env.ranks.barrier(env.device)
        env.sync()
        plan = schedule(wait=0, warmup=1, active=active, repeat=1)
        with profiler(env, options, schedule=plan,
                      on_trace_ready=lambda p: p.export_chrome_trace(str(path))) as prof:
            for _ in range(1 + active):
                variant.step()
                prof.step()


def profiled_ms(env, variant, steps, options):
    """Milliseconds per step while the profiler records, its start and stop left out."""
    with running(variant):
        for _ in range(variant.warmup):
            variant.step()
        with profiler(env, options):
            seconds = timed(env, variant, steps)
    return 1e3 * env.ranks.reduce_max(seconds / steps, env.device)


def traced_steps(env, case, plain_ms):
    if env.tiny:
        return TINY_STEPS
    return whole(min(case.active, max(3, int(TRACE_S * 1e3 / plain_ms))), case.period)


def profiled_steps(case, active, plain_ms):
    """Enough steps under the profiler for a stable mean, few enough for its buffers."""
    wanted = max(active, int(PROFILED_S * 1e3 / plain_ms))
    return whole(min(60, case.max_steps, wanted), case.period)


def load_events(path):
    with gzip.open(path, "rt", errors="replace") as file:
        trace = json.load(file)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def count(events, category):
    return sum(event.get("cat") == category for event in events)


def record_bounded(env, case, variant, active, path, max_kb):
    """Record the case; when the file is over `max_kb`, once more with fewer steps.

    Returns the number of steps traced.
    """
    options = default_options(env, case)
    record(env, variant, active, path, options)
    size_kb = env.ranks.reduce_max(path.stat().st_size / 1024, env.device)
    if size_kb > max_kb and not env.tiny:
        fewer = whole(max(3, int(active * max_kb / size_kb)), case.period)
        if fewer < active:
            active = fewer
            record(env, variant, active, path, options)
    return active


def versions(env):
    device = torch.cuda.get_device_name() if env.cuda else "CPU"
    return f"{device}, torch {torch.__version__}, CUDA {torch.version.cuda}"
