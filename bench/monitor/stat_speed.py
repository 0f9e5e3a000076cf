#!/usr/bin/env python3
"""Wall time of one look at the GPUs: `pyrometer stat` against a bare NVML program, nvidia-smi and nvidia-ml-py.

usage: stat_speed.py --pyrometer PATH --bare PATH [--rounds N]

The programs take turns, so that a machine that grows slower slows all alike. Prints medians and the
median of each round's ratio to the bare program.
"""
import argparse
import importlib.util
import shutil
import statistics
import subprocess
import sys
import time

# What a program in Python does that shows the same.
POLL = """
import pynvml as n
n.nvmlInit()
for i in range(n.nvmlDeviceGetCount()):
    g = n.nvmlDeviceGetHandleByIndex(i)
    print(n.nvmlDeviceGetName(g), n.nvmlDeviceGetUUID(g), n.nvmlDeviceGetUtilizationRates(g).gpu,
          n.nvmlDeviceGetMemoryInfo(g).used, n.nvmlDeviceGetTemperature(g, 0), n.nvmlDeviceGetPowerUsage(g),
          n.nvmlDeviceGetEnforcedPowerLimit(g), n.nvmlDeviceGetClockInfo(g, 1),
          len(n.nvmlDeviceGetComputeRunningProcesses(g)))
n.nvmlShutdown()
"""


def seconds(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--bare", required=True, help="bench/monitor/bare_nvml.cpp, built")
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    programs = {"bare NVML": [options.bare], "pyrometer stat": [options.pyrometer, "stat"],
                "pyrometer stat --json": [options.pyrometer, "stat", "--json"]}
    if shutil.which("nvidia-smi"):
        programs["nvidia-smi"] = ["nvidia-smi"]
        programs["nvidia-smi --query-gpu"] = [
            "nvidia-smi", "--query-gpu=index,name,uuid,utilization.gpu,memory.used,temperature.gpu,power.draw",
            "--format=csv"]
    if importlib.util.find_spec("pynvml"):
        programs["nvidia-ml-py"] = [sys.executable, "-W", "ignore", "-c", POLL]
    times = {name: [] for name in programs}
    for round_number in range(options.rounds + 1):
        for name, command in programs.items():
            taken = seconds(command)
            if round_number > 0:  # the first one reads files from the disk
                times[name].append(taken)
    print("| program | median, ms | 10th to 90th percentile, ms | times the bare program (median of rounds) |")
    print("|---|---:|---:|---:|")
    for name, taken in times.items():
        tenths = statistics.quantiles(taken, n=10)
        ratio = statistics.median(t / b for t, b in zip(taken, times["bare NVML"]))
        print("| %s | %.1f | %.1f to %.1f | %.2f |" % (
            name, 1e3 * statistics.median(taken), 1e3 * tenths[0], 1e3 * tenths[-1], ratio))


if __name__ == "__main__":
    main()
