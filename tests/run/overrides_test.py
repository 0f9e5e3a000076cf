"""Overrides and trials of real trainings (on the CPU), from the command line to the report."""
import subprocess
import unittest

import support
from training_test import has_torch

TRAINING = """
import multiprocessing
multiprocessing.set_start_method("fork")  # Python 3.14 does not, by default
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
torch.manual_seed(3)
class Data(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        return torch.full((10,), index / 64), torch.ones(1)
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(EPOCHS):
    for x, y in DataLoader(Data(), batch_size=8):
        optimizer.zero_grad()
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
@unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
class Overrides(support.RunCase):
    def script(self, epochs):
        path = self.folder / "train.py"
        path.write_text(TRAINING.replace("EPOCHS", str(epochs)))
        return [support.PYTHON, str(path)]

    def test_with(self):
        command = self.script(3)
        plain = self.record(command)
        run = self.record(command, options=["--with", "loader.workers=2", "--with", "gc",
                                            "--with", "compile"])
        self.assertEqual((run.returncode, run.out), (0, plain.out))
        recording = run.recording
        (workers,) = recording.info("override.loader.workers")[-1:]
        self.assertEqual(workers, "applied: num_workers 0 -> 2")
        self.assertEqual(recording.meta["trial.with"], "loader.workers=2;gc=freeze;compile=default")
        states = {one["id"]: one for one in recording.report()["ranks"][0]["run"]["overrides"]}
        self.assertEqual({name: one["state"] for name, one in states.items()},
                         {"loader.workers": "applied", "gc": "applied", "compile": "cannot"})
        self.assertIn("2.2", states["compile"]["text"])
        self.assertIn("Changed by --with", recording.text())
        self.assertIn("num_workers 0 -> 2", recording.text())
        # Short steps share rows, and no row says that it is one of a trial.
        self.assertEqual(recording.value("SELECT count(*) FROM trial_step"), 0)

    def test_what_cannot_be_applied_is_said(self):
        words = [support.PYROMETER, "run", "-o", str(self.new_file(".pyro")),
                 "--with", "compile", "--with", "loader.pin_memory", "--", *self.script(2)]
        run = self.run_words(words)
        self.assertEqual(run.returncode, 0)
        # Two loaders, one warning.
        for text in (b"warning: override compile cannot: because this torch has no Module.compile",
                     b"warning: override loader.pin_memory cannot: because this torch is not"):
            self.assertEqual(run.stderr.count(text), 1, run.stderr)
        self.assertNotIn(b"override", run.stdout)

    def test_a_program_without_training(self):
        words = [support.PYROMETER, "run", "-o", str(self.new_file(".pyro")), "--with", "gc", "--",
                 "/bin/true"]
        run = self.run_words(words)
        self.assertIn(b"override gc was not applied: no process that trains", run.stderr)

    def run_words(self, words):
        return subprocess.run(words, env=self.environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120, cwd=str(self.folder))

    def test_a_trial(self):
        run = self.record(self.script(1000), env={
            "PYROMETER_ALTERNATE": "gc=freeze", "PYROMETER_ALTERNATE_BLOCK": "4",
            "PYROMETER_STOP_AFTER": "steps=40", "PYROMETER_LOSS": "6", "PYROMETER_SEED": "3"})
        self.assertEqual((run.returncode, run.err), (0, b""))
        recording = run.recording
        rows = recording.rows("SELECT step, variant, start_ns, end_ns, samples, flags "
                              "FROM trial_step ORDER BY step")
        self.assertEqual([row[0] for row in rows], list(range(40)))
        turn = ["off"] * 4 + ["on"] * 8 + ["off"] * 4
        self.assertEqual([row[1] for row in rows], [""] * 3 + (turn * 3)[:37])
        self.assertEqual({row[4:] for row in rows}, {(8, 0)})
        for before, after in zip(rows, rows[1:]):
            self.assertEqual(before[3], after[2])
        self.assertEqual(recording.steps(), 40)
        losses = recording.rows("SELECT time_ns, value FROM counter JOIN name ON name = id "
                                "WHERE text = 'loss' ORDER BY time_ns")
        told = [float(line) for line in run.out.split()]
        self.assertEqual([value for _, value in losses], told[:6])
        self.assertEqual([time for time, _ in losses], [row[3] for row in rows[:6]])
        self.assertEqual(recording.info("trial.stop"), ["applied: after 40 steps"])
        self.assertEqual(recording.meta["exit_code"], "0")


if __name__ == "__main__":
    support.main()
