#!/usr/bin/env python3
"""Switches GPU capture on and off as fast as the library follows, while a program trains.

usage: stress_switching.py --pyrometer PATH [--gap-ms 5 60] [--log FILE] -- COMMAND…

Runs COMMAND under `pyrometer run` and plays the monitor's duty cycle: every few milliseconds it
flips the capture bit in the ring of each recorded process. Prints how often, and exits with 0 where
the command ended as it does without Pyrometer: with 0.
"""
import argparse
import glob
import mmap
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

CONTROL, STATE = 320, 384  # offsets in the ring's header: src/ring/layout.h


class Ring:
    def __init__(self, path):
        descriptor = os.open(path, os.O_RDWR)
        self.memory = mmap.mmap(descriptor, 4096)
        os.close(descriptor)
        self.switches = 0
        self.state = None

    def flip(self):
        control = struct.unpack_from("<I", self.memory, CONTROL)[0]
        struct.pack_into("<I", self.memory, CONTROL, control ^ 1)

    def look(self):
        state = struct.unpack_from("<I", self.memory, STATE)[0]
        if state != self.state:
            self.switches += 1
            self.state = state


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--gap-ms", nargs=2, type=float, default=(5, 60))
    parser.add_argument("--log")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    environment = dict(os.environ, PYROMETER_FLUSH_MS="5")
    rings = {}
    with tempfile.TemporaryDirectory() as folder:
        command = [options.pyrometer, "run", "--quiet", "--overhead", "0",
                   "-o", os.path.join(folder, "stress.pyro"), "--"] + options.command
        out = open(options.log, "w") if options.log else None
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=out)
        rng = random.Random(1)
        while process.poll() is None:
            for path in glob.glob("/dev/shm/pyrometer-%d-*/*.ring" % os.getuid()):
                if path not in rings:
                    try:
                        rings[path] = Ring(path)
                    except OSError:
                        continue
            for ring in rings.values():
                ring.look()
                ring.flip()
            time.sleep(rng.uniform(*options.gap_ms) / 1e3)
        code = process.returncode
    changes = sum(ring.switches for ring in rings.values())
    print("exit code %d after %d changes of state in %d processes" % (code, changes, len(rings)))
    return 0 if code == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
