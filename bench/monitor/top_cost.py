#!/usr/bin/env python3
"""What `pyrometer top` costs: bytes that a terminal (an SSH connection) gets, CPU, memory, reaction to keys.

usage: bench/monitor/top_cost.py PYROMETER [SECONDS]     default 60 s for each row

Runs it on a pseudo-terminal of 120x40, on the simulated NVML with 8 GPUs (values stand still, the graphs move) and
with --demo (8 GPUs, 3 MIG instances, 14 processes; every value changes every second).
"""
import os
import pathlib
import random
import re
import statistics
import sys
import time

PROGRAM = sys.argv[1]
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 60
sys.argv = [sys.argv[0], PROGRAM]
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "screen"))
import top_test  # noqa: E402


def cpu_seconds(pid: int) -> float:
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def status(pid: int, key: str) -> float:
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(rf"^{key}:\s+(\d+)", text, re.MULTILINE).group(1)) / 1024


def measure(name: str, world: str, options: tuple, size: tuple) -> None:
    top = top_test.Top(world, size=size, options=options)
    try:
        top.wait_for(rb"live")
        # The graphs are as wide as they get after this; the first frame is not like the others.
        first = len(top.drain(3)) + len(top.seen)
        begin, cpu = time.monotonic(), cpu_seconds(top.process.pid)
        got = top.drain(SECONDS)
        seconds = time.monotonic() - begin
        cpu = (cpu_seconds(top.process.pid) - cpu) / seconds
        memory, peak = status(top.process.pid, "VmRSS"), status(top.process.pid, "VmHWM")
        reactions = []
        for _ in range(20):
            time.sleep(random.random() / 4)
            top.drain(0.01)
            for key, answer in ((b"?", rb"Keys"), (b"\x1b", rb"SM active|SM %")):
                top.send(key)
                reactions.append(top.wait_for(answer) if key == b"?" else 0)
                top.drain(0.1)
        reactions = [r for r in reactions if r > 0]
        print(f"{name}: {len(got) / seconds:.0f} bytes/s (first frames {first} bytes), CPU {100 * cpu:.2f}% of a core, "
              f"RSS {memory:.1f} MiB (peak {peak:.1f}), key to reaction median {1000 * statistics.median(reactions):.0f} ms, "
              f"worst {1000 * max(reactions):.0f} ms", flush=True)
    finally:
        top.close()


def main() -> None:
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    for rows, columns in ((40, 120), (24, 80), (60, 200)):
        measure(f"simulated NVML, 8 GPUs, {columns}x{rows}", top_test.busy(8), (), (rows, columns))
        measure(f"--demo, {columns}x{rows}", top_test.busy(1), ("--demo",), (rows, columns))


if __name__ == "__main__":
    main()
