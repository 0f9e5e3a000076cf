"""The stack sampler: that it measures what it says it measures, and harms nothing."""
import os
import pathlib
import signal
import subprocess
import sys
import unittest

import support

HOOK = pathlib.Path(__file__).resolve().parents[2] / "python"
# A program without torch that does what the hook does; `part` is timed as the truth.
PRELUDE = """
import os, random, sys, time, zlib
sys.path.insert(0, %r)
from pyrometer_hook.library import Library
from pyrometer_hook.places import folders
now = time.monotonic
library = Library(os.environ["PYROMETER_LIBRARY"])
assert library.attach() == 0
problem = library.sampler_prepare(sys.hexversion >> 16, folders())
if problem:
    print("skip", problem)
    sys.exit(0)
assert library.sampler_start() == 1
""" % str(HOOK)
# Half of the time in Python, a quarter in C code that keeps Python's lock, a quarter in such that
# gives it up: at lines that name themselves.
PARTS = PRELUDE + """
values = [random.random() for _ in range(20000)]
data = bytes(10000000)
def python(end):
    x = 1
    while now() < end:
        for _ in range(300): x = (x * 3 + 1) % 1000003
def calls(end):
    def one(x): return x + 1
    def two(x): return one(x) + one(x)
    while now() < end:
        for i in range(50): two(i)
def locked(end):
    while now() < end: sorted(values)
def asleep(end):
    while now() < end: time.sleep(0.002)
def unlocked(end):
    while now() < end: zlib.crc32(data)
truth = {}
started = now()
while now() < started + 6:
    for part, seconds in ((python, 0.017), (locked, 0.017), (python, 0.003), (asleep, 0.011),
                          (calls, 0.020), (unlocked, 0.006)):
        begin = now()
        part(begin + seconds)
        truth[part.__name__] = truth.get(part.__name__, 0) + now() - begin
library.sampler_stop()
print({name: time / sum(truth.values()) for name, time in truth.items()})
"""
TRAIN = """
import os, sys, time, threading
import torch
from torch import nn
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def step():
    optimizer.zero_grad()
    model(torch.ones(4, 8)).sum().backward()
    optimizer.step()
def prepare_batch():
    total = 0
    for i in range(20000):
        total = (total * 3 + i * i) % 1000003  # LINE
    return total
def train(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        prepare_batch()
        step()
"""


def line_of(text, mark):
    return 1 + next(i for i, line in enumerate(text.splitlines()) if mark in line)


def has_torch():
    return subprocess.run([support.PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
class Sampler(support.RunCase):
    fast = {"PYROMETER_SAMPLER_MS": "4"}  # between samples, on average

    def script(self, text, name="train.py"):
        path = self.folder / name
        path.write_text(text)
        return [os.environ.get("PYROMETER_TEST_PYTHON", support.PYTHON), str(path)]

    def lines(self, recording):
        """{text: samples}"""
        return dict(recording.rows(
            "SELECT text, sum(samples) FROM host_line JOIN name ON host_line.name = name.id "
            "WHERE text LIKE 'stack %' GROUP BY text"))

    def functions(self, recording):
        """{function of the user's innermost line: share of the samples}"""
        found, total = {}, 0
        for text, samples in self.lines(recording).items():
            function = text.split(" | ")[0].split(" ")[-1]
            found[function] = found.get(function, 0) + samples
            total += samples
        return {name: samples / total for name, samples in found.items()}, total

    def test_shares_are_those_of_the_time(self):
        run = self.record(self.script(PARTS), env=self.fast)
        self.assertEqual(run.returncode, 0, run.err)
        if run.out.startswith(b"skip"):
            self.skipTest(run.out.decode())
        truth = eval(run.out)
        shares, samples = self.functions(run.recording)
        shares["calls"] = sum(shares.pop(name, 0) for name in ("calls", "one", "two"))
        self.assertGreater(samples, 400)
        for name, share in truth.items():
            self.assertAlmostEqual(shares.get(name, 0), share, delta=0.08, msg=(name, shares, truth))
        unreadable = run.recording.value(
            "SELECT ifnull(sum(value), 0) FROM counter JOIN name ON counter.name = name.id "
            "WHERE text = 'sampler.unreadable'")
        self.assertLess(unreadable, 0.02 * samples)
        # Lines, too: the loop of a line is the line.
        wanted = line_of(PARTS, "x = (x * 3")
        inside = {text: n for text, n in self.lines(run.recording).items() if "python" in text}
        there = sum(n for text, n in inside.items() if ":%d python |" % wanted in text)
        self.assertGreater(there, 0.9 * sum(inside.values()), inside)

    def test_not_faster_than_it_says(self):
        run = self.record(self.script(PARTS))
        if run.out.startswith(b"skip"):
            self.skipTest(run.out.decode())
        _, samples = self.functions(run.recording)
        self.assertGreater(samples, 40)
        self.assertLess(samples, 6 * 22)

    def test_ends_of_all_kinds(self):
        """Twenty times each, while samples are taken as fast as can be."""
        busy = PRELUDE + """
import threading
def work(seconds=0.02):
    end = now() + seconds
    while now() < end: sum(range(100))
work()
"""
        ends = {
            "os._exit": ("os._exit(3)", 3),
            "sys.exit": ("sys.exit(4)", 4),
            "an exception": ("raise SystemExit(5)", 5),
            "the end": ("", 0),
            "exec": ("os.execv('/bin/sh', ['sh', '-c', 'exit 6'])", 6),
            "abort": ("os.abort()", -signal.SIGABRT),
            "a daemon": ("threading.Thread(target=work, args=(9,), daemon=True).start()", 0),
            "the thread's end": ("t = threading.Thread(target=lambda: library.sampler_prepare("
                                 "sys.hexversion >> 16, folders()) or library.sampler_start())\n"
                                 "library.sampler_stop(); t.start(); t.join(); work(0.05)", 0),
        }
        for name, (end, code) in ends.items():
            command = self.script(busy + end + "\n")
            for _ in range(20):
                run = self.record(command, env={"PYROMETER_SAMPLER_MS": "1"})
                self.assertEqual((run.returncode, run.err), (code, b""), name)

    def test_forks(self):
        """A child is inert; the parent goes on."""
        run = self.record(self.script(PRELUDE + """
import warnings
def work(seconds):
    end = now() + seconds
    while now() < end: sum(range(100))
for _ in range(50):
    work(0.02)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # 3.12: of threads
        child = os.fork()
    if child == 0:
        work(0.005)
        library.sampler_stop()
        assert library.sampler_start() == 0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
print("done")
"""), env={"PYROMETER_SAMPLER_MS": "1"})
        self.assertEqual((run.returncode, run.err), (0, b""))
        self.assertEqual(run.recording.value("SELECT count(*) FROM process"), 1)

    def test_forks_without_a_thread(self):
        """What the hook does before a fork: Python 3.12 has nothing to warn of."""
        run = self.record(self.script(PRELUDE + """
os.register_at_fork(before=library.sampler_stop)
for _ in range(50):
    time.sleep(0.01)
    if os.fork() == 0: os._exit(0)
    os.wait()
    assert library.sampler_start() == 1
"""), env={"PYROMETER_SAMPLER_MS": "1"})
        self.assertEqual((run.returncode, run.err), (0, b""))

    def test_interrupts(self):
        """Ctrl-C arrives where it would, and nowhere else."""
        command = self.script(PRELUDE + """
import signal
caught = 0
def fired(*_): raise KeyboardInterrupt
def spin():
    while True: sum(range(100))
signal.signal(signal.SIGALRM, fired)
for _ in range(300):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.003)
        spin()
    except KeyboardInterrupt:
        caught += 1
print(caught)
""")
        run = self.record(command, env={"PYROMETER_SAMPLER_MS": "1"})
        self.assertEqual((run.returncode, run.out, run.err), (0, b"300\n", b""))

    @unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
    def test_a_host_bound_training(self):
        """The report names the planted line."""
        run = self.assert_same(self.script(TRAIN + "train(6)\nprint('done')\n"), timeout=120)
        line = "train.py:%d prepare_batch" % line_of(TRAIN, "# LINE")
        found = run.recording.report()["ranks"][0]["run"]["host_lines"]
        self.assertGreater(sum(one["samples"] for one in found), 40, found)
        self.assertEqual((found[0]["phase"], found[0]["line"]), ("host", line), found)
        self.assertGreater(found[0]["share"], 0.5)
        self.assertEqual(run.recording.info("hook.sampler"), [])

    @unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
    def test_a_training_in_a_thread(self):
        run = self.assert_same(self.script(TRAIN + """
thread = threading.Thread(target=train, args=(4,))
thread.start()
thread.join()
"""))
        found = run.recording.report()["ranks"][0]["run"]["host_lines"]
        self.assertIn("prepare_batch", found[0]["line"], found)

    @unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
    def test_phases(self):
        run = self.assert_same(self.script("""
import time
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end: pass
class Images(Dataset):
    def __len__(self): return 200
    def __getitem__(self, i):
        busy(0.01)
        return torch.ones(8)
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 1)
    def forward(self, x):
        busy(0.02)
        return self.inner(x)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x in DataLoader(Images(), batch_size=2):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
"""), env=self.fast)
        phases = {}
        for text, samples in self.lines(run.recording).items():
            if " busy |" in text:
                phase = text.split(" ")[1]
                phases[phase] = phases.get(phase, 0) + samples
        self.assertEqual(set(phases) - {"input", "forward"}, set(), phases)
        self.assertAlmostEqual(phases["input"] / sum(phases.values()), 0.5, delta=0.1)

    @unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
    @unittest.skipIf(sys.version_info >= (3, 12), "torch's own threads make Python warn")
    def test_forks_of_a_training(self):
        """No thread of ours is there while a process forks: Python 3.12 would warn."""
        run = self.assert_same(self.script("import warnings\nwarnings.simplefilter('error')\n" +
                                           TRAIN + """
for _ in range(6):
    train(0.4)
    child = os.fork()
    if child == 0:
        train(0.2)
        os._exit(len(os.listdir("/proc/self/task")) - 1)
    assert os.waitpid(child, 0)[1] == 0
"""))
        shares, samples = self.functions(run.recording)
        self.assertGreater(samples, 10)
        self.assertGreater(shares.get("prepare_batch", 0), 0.4, shares)


if __name__ == "__main__":
    support.main()
