"""Findings name the user's lines: a real PyTorch program (on the CPU) that drives the simulated GPU."""
import subprocess
import unittest

import support

PROGRAM = """
import ctypes, sys, time
import torch
from torch import nn
gpu = ctypes.CDLL("libcuda.so.1")
assert gpu.cuInit(0) == 0
launch, wait = gpu.stub_launch, gpu.stub_stream_synchronize
launch.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint32]
STREAM = 7
class OnGpu(torch.Tensor):
    is_cuda = True
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if getattr(func, "__name__", "") == "item":
            wait(STREAM)
        return super().__torch_function__(func, types, args, kwargs or {})
loss = torch.ones(()).as_subclass(OnGpu)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
def busy(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
def train(steps, body):
    for _ in range(steps):
        body()
        optimizer.step()
"""


def line_of(text, mark):
    return 1 + next(i for i, line in enumerate(text.splitlines()) if mark in line)


def has_torch():
    return subprocess.run([support.PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
@unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
class Where(support.RunCase):
    def train(self, text, **how):
        text = PROGRAM + text
        path = self.folder / "train.py"
        path.write_text(text)
        run = self.record([support.PYTHON, str(path)], **how)
        self.assertEqual((run.returncode, run.err), (0, b""))
        return text, run.recording

    def finding(self, report, ident):
        found = [one for one in report["findings"] if one["id"] == ident]
        self.assertEqual(len(found), 1, [one["id"] for one in report["findings"]])
        return found[0]

    def test_a_blocking_call(self):
        text, recording = self.train("""
def body():
    for _ in range(6):
        launch(b"ampere_sgemm_128x64_nn", 300000, STREAM)
        loss.item()  # MANY
        busy(0.0004)
    loss.item()  # ONE
own = set(vars(torch.Tensor))
train(1600, body)
assert set(vars(torch.Tensor)) == own, set(vars(torch.Tensor)) ^ own
""", options=["--overhead", "0"])
        report = recording.report()
        lines = report["ranks"][0]["run"]["blocking_lines"]
        self.assertEqual({one["call"] for one in lines}, {"item"})
        many, one = ["train.py:%d" % line_of(text, "# " + mark) for mark in ("MANY", "ONE")]
        self.assertEqual(lines[0]["line"], many, lines)
        counts = {entry["line"]: entry["count"] for entry in lines}
        self.assertGreater(counts[many], 20)
        self.assertAlmostEqual(counts[many] / counts[one], 6, delta=1)
        # Rarely: a second or so of the run.
        self.assertLess(counts[many], 6 * 1600 / 2)
        where = self.finding(report, "sync.blocking_calls")["where"]
        self.assertTrue(any(many + " item" in place for place in where), where)
        self.assertIn(many, recording.text())

    def test_host_code(self):
        text, recording = self.train("""
def prepare():
    total = 0
    for i in range(60000): total += i * i  # PLANTED
def body():
    prepare()
    launch(b"ampere_sgemm_128x64_nn", 1000000, STREAM)
train(1500, body)
""", options=["--overhead", "0"])
        planted = "train.py:%d prepare" % line_of(text, "# PLANTED")
        report = recording.report()
        self.assertEqual(report["ranks"][0]["run"]["host_lines"][0]["line"], planted)
        where = self.finding(report, "launch.host_code")["where"]
        self.assertTrue(where[0].startswith(planted), where)
        # No call waits for the device: nothing was wrapped to name them.
        self.assertEqual(report["ranks"][0]["run"]["blocking_lines"], [])

    def test_a_loader_in_the_process(self):
        text, recording = self.train("""
from torch.utils.data import DataLoader, Dataset
class Images(Dataset):
    def __len__(self): return 16000
    def __getitem__(self, i):
        total = 0
        for k in range(8000): total += k  # PLANTED
        return torch.ones(4)
for x in DataLoader(Images(), batch_size=8):
    launch(b"ampere_sgemm_128x64_nn", 1000000, STREAM)
    optimizer.step()
""", options=["--overhead", "0"])
        planted = "train.py:%d __getitem__" % line_of(text, "# PLANTED")
        where = self.finding(recording.report(), "input.serial_loader")["where"]
        self.assertTrue(where[0].startswith(planted), where)


if __name__ == "__main__":
    support.main()
