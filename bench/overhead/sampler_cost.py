#!/usr/bin/python3
"""What the stack sampler costs a thread that computes in Python: on and off in turns, one process.

usage: pyrometer run -q -o FILE -- bench/overhead/sampler_cost.py [ROUNDS]     default 100

A round is on, off, off, on, 0.2 s each; its ratio is the loop's CPU time with the sampler to that
without. No GPU is needed.
"""
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from pyrometer_hook.library import Library  # noqa: E402
from pyrometer_hook.places import folders  # noqa: E402

TURN_S = 0.2


def step(x):
    return (x * 3 + 1) % 1000003


def work():
    x, seen = 1, {}
    for i in range(20000):
        x = step(x)
        seen[x & 255] = i


def turn(library, on):
    """(CPU time of one round of work, CPU share of all other threads)"""
    if on:
        assert library.sampler_start()
    start, own, whole, count = time.monotonic(), time.thread_time(), time.process_time(), 0
    while time.monotonic() - start < TURN_S:
        work()
        count += 1
    spent = time.thread_time() - own
    others = time.process_time() - whole - spent
    if on:
        library.sampler_stop()
    return spent / count, others / (time.monotonic() - start)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    library = Library(os.environ.get("PYROMETER_LIBRARY", ""))
    problem = "not recorded" if library.attach() else library.sampler_prepare(
        sys.hexversion >> 16, folders())
    if problem:
        sys.exit("sampler_cost.py: " + problem)
    time.sleep(1)  # until the monitor has found this process
    ratios, others = [], []
    for _ in range(rounds):
        turns = [turn(library, on) for on in (True, False, False, True)]
        ratios.append((turns[0][0] + turns[3][0]) / (turns[1][0] + turns[2][0]))
        others.append((turns[0][1] + turns[3][1] - turns[1][1] - turns[2][1]) / 2)
    quarter, half, three = statistics.quantiles(ratios, n=4)
    kept = sorted(ratios)[rounds // 10:rounds - rounds // 10]
    error = 2 * 1.3 * statistics.stdev(kept) / len(kept) ** 0.5  # 1.3: of a mean without its tails
    print("on / off: %.4f ± %.4f (mean of the middle 80%%, 95%% interval), median %.4f, quartiles "
          "%.4f and %.4f, %d rounds" % (statistics.mean(kept), error, half, quarter, three, rounds))
    print("the sampler's own thread: %.2f%% of a core" % (100 * statistics.mean(others)))


if __name__ == "__main__":
    main()
