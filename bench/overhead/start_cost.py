#!/usr/bin/env python3
"""What the hook adds to the start of an interpreter that never imports torch.

usage: start_cost.py [ROUNDS]

Plain and hooked starts take turns; prints the median of both and of their difference, in ms.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

SITE = pathlib.Path(__file__).resolve().parents[2] / "python" / "pyrometer_hook" / "site"


def start(environment):
    begin = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)
    return 1e3 * (time.perf_counter() - begin)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        plain = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
        plain["PYTHONPYCACHEPREFIX"] = folder
        hooked = dict(plain, PYTHONPATH=str(SITE), PYROMETER_SESSION=folder, PYROMETER_LIBRARY="/nonexistent.so")
        start(plain), start(hooked)  # fill the cache
        pairs = [(start(plain), start(hooked)) for _ in range(rounds)]
    print("plain %.2f ms, hooked %.2f ms, difference %.2f ms (median of %d pairs)" % (
        statistics.median(p for p, _ in pairs), statistics.median(h for _, h in pairs),
        statistics.median(h - p for p, h in pairs), rounds))


if __name__ == "__main__":
    main()
