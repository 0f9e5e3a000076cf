"""Runs programs with and without `pyrometer run` and compares; reads the recordings.

Tests of this folder are started by ctest (tests/unit_run.cmake), which says in variables where the
build is. Programs of the simulated GPU (tests/stubs/gpu/stub_gpu.h) stand for trainings.
"""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
SHARED_MEMORY = pathlib.Path("/dev/shm")


def needed(name):
    value = os.environ.get(name)
    if not value:
        print("skipped: " + name + " is not set: run through ctest")
        sys.exit(77)
    return value


PYROMETER = needed("PYROMETER_PROGRAM")
BUILD = pathlib.Path(needed("PYROMETER_BUILD"))
SANITIZED = bool(os.environ.get("PYROMETER_SANITIZED"))
LIBRARY = str(BUILD / "lib" / "pyrometer" / "libpyrometer_inject.so")
GPU_PROGRAM = str(BUILD / "tests" / "gpu_program")


class Recording:
    """A .pyro file, read with SQLite itself."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def rows(self, sql, *values):
        connection = sqlite3.connect("file:%s?mode=rw" % self.path, uri=True)
        try:
            return connection.execute(sql, values).fetchall()
        finally:
            connection.close()

    def value(self, sql, *values):
        return self.rows(sql, *values)[0][0]

    @property
    def meta(self):
        return dict(self.rows("SELECT key, value FROM meta"))

    @property
    def notes(self):
        return [text for (text,) in self.rows("SELECT text FROM note")]

    @property
    def losses(self):
        return dict(self.rows("SELECT what, sum(count) FROM loss GROUP BY what"))

    def steps(self):
        """Of all processes: how many were recorded."""
        return self.value("SELECT ifnull(sum(count), 0) FROM step WHERE device <= 0")

    def last_step(self):
        """(index, end in ns) of the last recorded step; (-1, 0) if there is none."""
        found = self.rows("SELECT first + count - 1, end_ns FROM step WHERE count > 0 "
                          "ORDER BY end_ns DESC LIMIT 1")
        return found[0] if found else (-1, 0)

    def info(self, key):
        return [v for (v,) in self.rows("SELECT value FROM info WHERE key = ? ORDER BY time_ns",
                                        key)]

    def report(self):
        """`pyrometer analyze --json`, which has to succeed."""
        done = subprocess.run([PYROMETER, "analyze", "--json", str(self.path)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        assert done.returncode == 0, (done.returncode, done.stderr)
        return json.loads(done.stdout)

    def text(self):
        done = subprocess.run([PYROMETER, "analyze", str(self.path)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=120, text=True)
        return " ".join(done.stdout.split())


class Told:
    """What a gpu_program said of its own steps: [(index, start ns, end ns)]."""

    def __init__(self, path):
        self.steps = []
        if path.exists():
            lines = path.read_text().splitlines()
            self.steps = [tuple(map(int, line.split())) for line in lines]


class RunCase(unittest.TestCase):
    maxDiff = None
    gpu = "gpu13"

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="pyrometer-run-test-"))
        self.addCleanup(shutil.rmtree, str(self.folder), True)
        self.addCleanup(self.end_running)
        self.running = []
        self.count = 0

    def end_running(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    def environment(self, extra=None):
        """The simulated GPU, and nothing of the caller's own Pyrometer settings."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYROMETER_")}
        for name in ("PYTHONPATH", "CUDA_INJECTION64_PATH", "KINETO_USE_DAEMON"):
            environment.pop(name, None)
        environment.update(
            HOME=str(self.folder), LD_LIBRARY_PATH=str(BUILD / "tests" / self.gpu),
            PYROMETER_TEST_LIBRARY=LIBRARY, PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1")
        # In a child by fork other threads' memory has no owner.
        options = environment.get("ASAN_OPTIONS", "")
        environment["ASAN_OPTIONS"] = options + ":detect_leaks=0:handle_segv=0:handle_abort=0"
        environment.update(extra or {})
        return environment

    def new_file(self, ending):
        self.count += 1
        return self.folder / ("%d%s" % (self.count, ending))

    def start(self, command, options=(), recording=None, env=None, **popen):
        """Starts `pyrometer run` quietly. The process has `.recording`."""
        recording = recording or self.new_file(".pyro")
        words = [PYROMETER, "run", "-q", "-o", str(recording), *options, "--", *map(str, command)]
        settings = dict(stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                        cwd=str(self.folder))
        settings.update(popen)
        process = subprocess.Popen(words, env=self.environment(env), **settings)
        process.recording = Recording(recording)
        self.running.append(process)
        return process

    def record(self, command, timeout=120, **how):
        """`start` to its end; the process has `.out` and `.err`."""
        given = how.pop("input", None)
        if given is not None:
            how["stdin"] = subprocess.PIPE
        process = self.start(command, **how)
        process.out, process.err = process.communicate(given, timeout=timeout)
        return process

    def plain(self, command, env=None, timeout=120, **popen):
        """Without pyrometer."""
        settings = dict(stdin=subprocess.DEVNULL, cwd=str(self.folder))
        if popen.get("input") is not None:
            settings.pop("stdin")
        settings.update(popen)
        return subprocess.run(list(map(str, command)), env=self.environment(env),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=timeout,
                              **settings)

    def assert_same(self, command, recorded=True, env=None, input=None, **how):
        """Output, errors, exit code and signal are those without pyrometer. The recorded run."""
        without = self.plain(command, env=env, input=input)
        with_it = self.record(command, env=env, input=input, **how)
        self.assertEqual(with_it.out, without.stdout)
        self.assertEqual(with_it.err, without.stderr)
        self.assertEqual(with_it.returncode, without.returncode)
        if recorded:
            self.assertEqual(with_it.recording.meta.get("ended"), "1")
        return with_it

    def wait_until(self, condition, seconds=30, what="condition"):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                self.fail("no " + what + " within %d s" % seconds)
            time.sleep(0.002)


def sessions(pid=None):
    """Session folders in shared memory, of one monitor or of all."""
    pattern = "pyrometer-%d-%s-*" % (os.geteuid(), "*" if pid is None else pid)
    return sorted(SHARED_MEMORY.glob(pattern))


def alive(pid):
    try:
        state = pathlib.Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def children(pid):
    try:
        listed = pathlib.Path("/proc/%d/task/%d/children" % (pid, pid)).read_text()
    except OSError:
        return []
    return [int(word) for word in listed.split()]


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def main():
    """Like unittest.main, with ctest's code for a file whose tests were all skipped."""
    program = unittest.main(exit=False, verbosity=1)
    result = program.result
    if not result.wasSuccessful():
        sys.exit(1)
    for test, reason in result.skipped:
        print("skipped: %s: %s" % (test.id().partition(".")[2], reason))
    sys.exit(77 if result.skipped and len(result.skipped) == result.testsRun else 0)
