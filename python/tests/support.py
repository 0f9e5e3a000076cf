"""Runs small programs under the hook, with the stand-in library, and reads what it was told."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest

SITE = pathlib.Path(__file__).resolve().parents[1] / "pyrometer_hook" / "site"
KINDS = (
    "user step input optimizer forward backward checkpoint validation compile gc logging "
    "loader_start epoch sync zero_grad profiler trial_step"
).split()
NO_GRAD, SKIPPED, ESTIMATED = 1, 2, 4


class Range:
    def __init__(self, fields):
        self.kind = KINDS[int(fields[1])]
        self.flags = int(fields[2])
        self.name = fields[3]
        self.start, self.end, self.a, self.b, self.thread = map(int, fields[4:9])

    def __repr__(self):
        return "%s(%s flags=%d a=%d b=%d)" % (self.kind, self.name, self.flags, self.a, self.b)


class Records:
    """What one process said."""

    def __init__(self, text):
        self.lines = [line.split("\t") for line in text.splitlines()]
        self.ranges = [Range(line) for line in self.lines if line[0] == "range"]
        self.infos = {line[1]: line[2] for line in self.lines if line[0] == "info"}
        self.counters = [(line[1], float(line[3])) for line in self.lines if line[0] == "counter"]
        self.calls = [line[0] for line in self.lines if len(line) == 1]

    def of(self, kind):
        return [item for item in self.ranges if item.kind == kind]

    @property
    def off(self):
        return {k: v for k, v in self.infos.items() if k.startswith("hook.") and "off" in v}


class Result:
    def __init__(self, process, session):
        self.code = process.returncode
        self.out = process.stdout
        # Folders of torch's own, of a new name each time, that newer Pythons name when they go.
        self.err = re.sub(r"(?<=<TemporaryDirectory ')[^']*", "", process.stderr)
        logs = sorted(pathlib.Path(session).glob("*.log"))
        self.processes = [Records(path.read_text()) for path in logs]

    @property
    def records(self):
        assert len(self.processes) == 1, "%d processes recorded" % len(self.processes)
        return self.processes[0]


def library(name="FAKE_LIBRARY"):
    path = os.environ.get(name)
    if not path:
        raise unittest.SkipTest(name + " is not set: run through ctest")
    return path


class HookCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, program, hook=True, env=None, arguments=(), check=True, options=(),
                    name="train.py"):
        """Runs the text `program`; `env` adds variables."""
        session = tempfile.mkdtemp(dir=str(self.folder))
        script = self.folder / name
        script.write_text(textwrap.dedent(program))
        environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONHASHSEED="0")
        environment.pop("PYTHONPATH", None)
        if hook:
            environment.update(PYROMETER_SESSION=session, PYROMETER_LIBRARY=library(),
                               PYTHONPATH=str(SITE))
        environment.update(env or {})
        command = [sys.executable, *options, str(script), *map(str, arguments)]
        process = subprocess.run(command, env=environment, cwd=str(self.folder), timeout=300,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        result = Result(process, session)
        if check:
            self.assertEqual(process.returncode, 0, process.stderr)
        return result

    def assert_no_part_off(self, records):
        self.assertEqual(records.off, {})

    def assert_steps_touch(self, records):
        """Steps follow one another without a gap, numbered from 0."""
        steps = records.of("step")
        self.assertEqual([step.a for step in steps], list(range(len(steps))))
        for before, after in zip(steps, steps[1:]):
            self.assertEqual(before.end, after.start)


def need_torch():
    """Ends the test program as skipped where there is no torch."""
    try:
        import torch  # noqa: F401
    except ImportError:
        print("skipped: no torch in " + sys.executable)
        sys.exit(77)


# Programs as they were written before Python 3.14, which forks no more by default.
PRELUDE = """
import multiprocessing
multiprocessing.set_start_method("fork", force=True)
import torch, sys, os, time
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, Dataset, IterableDataset
torch.manual_seed(1)
"""
