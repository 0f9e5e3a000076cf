"""Trials on the CPU: their end, their losses, and turns with and without overrides."""
import os
import time
import unittest

from overrides_support import MODEL, OverrideCase, TRAINING
from support import need_torch


class TrialTest(OverrideCase):
    LONG = TRAINING + """
import atexit
atexit.register(print, "atexit")
try:
    loader = DataLoader(Data(), batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in range(1000):
        train(loader)
finally:
    print("finally", [w.pid for w in loader._iterator._workers])
"""

    def test_stops_after_steps(self):
        run = self.run_with(self.LONG, env={"PYROMETER_STOP_AFTER": "steps=25"})
        lines = run.out.splitlines()
        self.assertEqual((run.code, run.err, lines[-1]), (0, "", "atexit"))
        self.assertEqual(len(run.records.of("step")), 25)
        self.assertEqual(run.records.infos["trial.stop"], "applied: after 25 steps")
        for pid in eval(lines[-2].partition(" ")[2]):
            self.assertFalse(os.path.exists("/proc/%d" % pid))

    def test_stops_after_seconds(self):
        start = time.monotonic()
        run = self.run_with(self.LONG, env={"PYROMETER_STOP_AFTER": "seconds=1.5"})
        self.assertEqual((run.code, run.err), (0, ""))
        steps = run.records.of("step")
        self.assertGreater(steps[-1].end - steps[0].end, 1.5e9)
        self.assertLess(time.monotonic() - start, 60)

    def test_stops_after_seconds_and_steps(self):
        run = self.run_with(self.LONG, env={"PYROMETER_STOP_AFTER": "seconds=0.001,steps=30"})
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertEqual(len(run.records.of("step")), 30)

    def test_stops_a_training_in_another_thread(self):
        program = TRAINING + """
import threading
def work():
    while True:
        train(DataLoader(Data(), batch_size=4))
thread = threading.Thread(target=work)
thread.start()
thread.join()
time.sleep(0.1)
print("not reached")
"""
        run = self.run_with(program, env={"PYROMETER_STOP_AFTER": "steps=9"})
        self.assertEqual((run.code, run.err), (0, ""))
        self.assertNotIn("not reached", run.out)

    def test_a_program_that_goes_on(self):
        program = TRAINING + """
for i in range(20):
    try:
        train(DataLoader(Data(), batch_size=40))
    except SystemExit:
        pass
"""
        run = self.run_with(program, env={"PYROMETER_STOP_AFTER": "steps=5"})
        self.assertEqual(len(run.records.of("step")), 20)
        self.assertRegex(run.records.infos["trial.stop"], "^cannot: because .*SystemExit")

    def test_each_step_is_recorded(self):
        run = self.run_with(self.LONG, env={"PYROMETER_STOP_AFTER": "steps=12"})
        rows = run.records.of("trial_step")
        self.assertEqual([(r.start, r.end, r.a, r.b, r.flags) for r in rows],
                         [(r.start, r.end, r.a, r.b, r.flags) for r in run.records.of("step")])
        self.assertEqual({r.name for r in rows}, {""})

    def test_nothing_is_asked(self):
        run = self.run_with(TRAINING + """
train(DataLoader(Data(), batch_size=4))
print([m for m in sys.modules if "pyrometer" in m and "overrides" in m])
""")
        self.assertEqual(run.records.of("trial_step"), [])
        self.assertIn("['pyrometer_hook.overrides']", run.out)


class LossTest(OverrideCase):
    def losses(self, run):
        return [value for name, value in run.records.counters if name == "loss"]

    def test_losses_are_those_of_the_program(self):
        program = TRAINING + "train(DataLoader(Data(), batch_size=4))\n"
        plain = self.run_program(program, hook=False)
        for count, expected in ((3, 3), (50, 10)):
            run = self.run_with(program, env={"PYROMETER_LOSS": str(count)})
            self.assertEqual(run.out, plain.out)
            told = [float(line) for line in plain.out.splitlines()]
            self.assertEqual(self.losses(run), told[:expected])
            self.assertEqual(run.records.infos["loss.steps"], str(expected))
            self.assert_no_part_off(run.records)

    def test_accumulated_batches(self):
        program = TRAINING + "train(DataLoader(Data(), batch_size=4), every=2)\n"
        run = self.run_with(program, env={"PYROMETER_LOSS": "50"})
        told = [float(line) for line in run.out.splitlines()]
        means = [(a + b) / 2 for a, b in zip(told[::2], told[1::2])]
        for ours, theirs in zip(self.losses(run), means):
            self.assertAlmostEqual(ours, theirs, 5)
        self.assertEqual(len(self.losses(run)), 5)

    def test_scaled_losses(self):
        program = TRAINING + """
class Scaler(torch.cuda.amp.GradScaler):
    pass
import torch.cuda.amp.grad_scaler as module
scaler = Scaler(enabled=False)
cell = [c for c in module.GradScaler.scale.__closure__
        if getattr(c.cell_contents, "__name__", "") == "scale"][0]
cell.cell_contents = lambda self, loss: loss * 1024
for x, y in DataLoader(Data(), batch_size=8):
    loss = (model(x) - y).pow(2).mean()
    scaler.scale(loss).backward()
    optimizer.step()
    print(loss.item())
"""
        run = self.run_with(program, env={"PYROMETER_LOSS": "3"})
        told = [float(line) for line in run.out.splitlines()]
        self.assertEqual(self.losses(run), told[:3])

    def test_losses_that_are_no_numbers(self):
        program = TRAINING + """
for x, y in DataLoader(Data(), batch_size=4):
    loss = (model(x) - y).pow(2).mean() / (0 if x[0, 0] > 7 else 1)
    loss.backward()
    optimizer.step()
"""
        run = self.run_with(program, env={"PYROMETER_LOSS": "9"})
        self.assertEqual(len(self.losses(run)), 2)
        self.assertEqual(run.records.infos["loss.not_finite"], "step 2")

    def test_seeds(self):
        program = """
        import random
        import numpy
        import torch
        print(random.random(), numpy.random.rand(), torch.rand(1))
        """
        outs = [self.run_with(program, env={"PYROMETER_SEED": seed}).out
                for seed in ("5", "5", "6")]
        self.assertEqual(outs[0], outs[1])
        self.assertNotEqual(outs[0], outs[2])
        run = self.run_with(TRAINING + "train(DataLoader(Data(), batch_size=8))",
                            env={"PYROMETER_SEED": "5"})
        self.assertEqual(run.records.infos["trial.seed"], "5")
        self.assertIn("itself", run.records.infos["trial.seed.program"])


class AlternationTest(OverrideCase):
    def test_turns(self):
        run = self.run_with(MODEL + "train(32)", env={
            "PYROMETER_ALTERNATE": "precision.autocast=bf16;layout.channels_last=on;gc=freeze",
            "PYROMETER_ALTERNATE_BLOCK": "3"})
        variants = [row.name for row in run.records.of("trial_step")]
        turn = ["off"] * 3 + ["on"] * 6 + ["off"] * 3
        self.assertEqual(variants, [""] * 3 + (turn * 3)[:29])
        for name in ("precision.autocast", "layout.channels_last", "gc"):
            self.assert_applied(run, name)
        self.assert_no_part_off(run.records)

    def test_what_is_off_changes_nothing(self):
        plain = self.run_program(MODEL + "train(32)", hook=False)
        run = self.run_with(MODEL + "train(32)", env={
            "PYROMETER_ALTERNATE": "precision.autocast=bf16;layout.channels_last=on;"
                                   "optimizer.foreach=on",
            "PYROMETER_ALTERNATE_BLOCK": "50"})
        self.assertEqual(run.out, plain.out)

    def test_what_cannot_be_applied_is_not_compared(self):
        for name in ("optimizer.fused=on", "loader.workers=2"):
            run = self.run_with(MODEL + "train(32)", env={
                "PYROMETER_ALTERNATE": "gc=freeze;" + name, "PYROMETER_ALTERNATE_BLOCK": "3"})
            self.assertEqual({row.name for row in run.records.of("trial_step")}, {""})
            self.assert_cannot(run, name.partition("=")[0])


if __name__ == "__main__":
    need_torch()
    unittest.main()
