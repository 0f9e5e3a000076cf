"""`pyrometer tune` end to end, with PyTorch on the CPU: a search that is killed and gone on with."""
import json
import os
import signal
import sqlite3
import subprocess
import time
import unittest
from xml.etree import ElementTree

import support

# A step takes as long whatever its batch: the largest that fits is best.
TRAINING = """
import os, sys, time, torch
from torch.utils.data import DataLoader
batch = int(sys.argv[1])
open("started", "a").write("%d %s\\n" % (batch, os.environ.get("LEVEL")))
if batch >= 64: raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
if batch == 4: sys.exit("four is bad")
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for x in DataLoader(torch.randn(100000, 8), batch_size=batch):
    time.sleep(0.02)
    opt.zero_grad()
    (model(x) ** 2).mean().backward()
    opt.step()
"""


def has_torch():
    return subprocess.run([support.PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
@unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
class Tune(support.RunCase):
    def setUp(self):
        super().setUp()
        (self.folder / "train.py").write_text(TRAINING)
        self.results = self.folder / "results.pyro"

    def start_tune(self, *options, command=("{batch}",), env=None):
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        words = [support.PYROMETER, "tune", "--json", *options]
        if command:
            words += ["--", support.PYTHON, "train.py", *command]
        environment = self.environment(dict(env or {}, TMPDIR=str(temporary)))
        environment.pop("CUDA_VISIBLE_DEVICES", None)
        process = subprocess.Popen(
            words, env=environment, cwd=str(self.folder),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        self.running.append(process)
        return process

    def end_tune(self, process, code=0):
        out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, err.decode() + out.decode())
        result = self.new_file(".json")
        result.write_bytes(out)
        schema = support.pathlib.Path(__file__).resolve().parents[1] / "check_json_schema"
        checked = subprocess.run([str(schema), "tune", str(result)], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.assertEqual(checked.returncode, 0, checked.stdout.decode())
        return json.loads(out)

    def rows(self):
        if not self.results.exists():
            return []
        try:
            with sqlite3.connect(str(self.results)) as database:
                return database.execute("SELECT phase, round, rung, point, outcome FROM tune_trial "
                                        "ORDER BY id").fetchall()
        except sqlite3.OperationalError:  # not set up yet
            return []

    def test_a_search_that_is_killed_and_gone_on_with(self):
        process = self.start_tune("--space", "batch=8,32,64,4", "--trial-time", "0.4s", "--budget",
                                  "200s", "--save", str(self.results))
        self.wait_until(lambda: len(self.rows()) >= 3, 60, "third trial")
        process.kill()
        process.communicate()
        before = self.rows()
        result = self.end_tune(self.start_tune("--resume", str(self.results), command=()))
        rows = self.rows()
        self.assertEqual(rows[:len(before)], before)
        self.assertEqual(result["taken_over"], len(before))
        self.assertEqual(result["trials"], len(rows))
        measured = [row[:4] for row in rows]
        self.assertEqual(len(set(measured)), len(measured), "measured twice: %s" % rows)
        outcomes = {one["values"]["batch"]: one for one in result["configurations"]}
        self.assertEqual({batch: one["outcome"] for batch, one in outcomes.items()},
                         {"8": "measured", "32": "measured", "64": "out_of_memory", "4": "failed"})
        self.assertIn("four is bad", outcomes["4"]["reason"])
        self.assertEqual(result["verdict_id"], "better", result)
        self.assertEqual(result["best"]["values"], {"batch": "32"})
        self.assertLess(result["best"]["cost_ratio"]["high"], 0.6)
        self.assertTrue(result["command"].endswith("train.py 32"))
        self.assertEqual([one["values"]["batch"] for one in result["configurations"]][0], "32")
        self.assertAlmostEqual(outcomes["32"]["samples_per_step"], 32)
        # All of it again changes nothing and runs nothing.
        started = (self.folder / "started").read_text()
        chart = self.folder / "chart.svg"
        again = self.end_tune(self.start_tune("--resume", str(self.results), "--report", str(chart),
                                              command=()))
        labels = [text.text for text in ElementTree.parse(str(chart)).iter() if text.text]
        self.assertIn("batch=32", labels)
        self.assertEqual(again["best"], result["best"])
        self.assertEqual((self.folder / "started").read_text(), started)

        # Where the search was cut off, it goes on once the finals are there.
        with sqlite3.connect(str(self.results)) as database:
            cut = "(SELECT id FROM tune_trial WHERE outcome IN ('failed', 'out_of_memory'))"
            database.execute("DELETE FROM tune_value WHERE trial IN " + cut)
            database.execute("DELETE FROM tune_trial WHERE id IN " + cut)
        left = len(self.rows())
        process = self.start_tune("--resume", str(self.results), command=())
        self.wait_until(lambda: len(self.rows()) > left, 60, "a trial of the search")
        os.kill(process.pid, signal.SIGINT)
        result = self.end_tune(process, code=7)
        self.assertEqual(self.rows()[left][0], "search")
        self.assertEqual(result["best"], again["best"])

    def test_power_limits_come_back(self):
        """After SIGKILL and SIGTERM; without the option or the right nothing is touched."""
        world = self.folder / "world"
        world.write_text("gpus 1\ngpu0.power_limit 650000\n")
        env = {"PYROMETER_STUB_NVML": str(world), "LD_LIBRARY_PATH":
               self.environment()["LD_LIBRARY_PATH"] + ":" +
               str(support.BUILD / "tests" / "stub_nvml")}

        def limit():
            lines = [line for line in world.read_text().splitlines() if "power_limit" in line]
            return float(lines[-1].split()[-1]) / 1000

        def sweep(*options):
            return self.start_tune("--space", "power_limit=300,500,400", "--trial-time", "0.4s",
                                   *options, command=("8",), env=env)

        process = sweep()
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"add --allow-power-limit", err)
        process = sweep("--allow-power-limit", "--save", str(self.results))
        self.wait_until(lambda: limit() == 500, 60, "the first limit")
        process.kill()
        process.communicate()
        self.wait_until(lambda: limit() == 650, 30, "the old limit after SIGKILL")
        process = self.start_tune("--resume", str(self.results), "--allow-power-limit", command=(),
                                  env=env)
        self.wait_until(lambda: limit() in (300, 400) or self.rows(), 60, "a limit")
        os.kill(process.pid, signal.SIGTERM)
        result = self.end_tune(process, code=7)
        self.assertTrue(result["interrupted"])
        self.assertEqual(limit(), 650)
        with open(world, "a") as file:
            file.write("gpu0.set_power_limit error 4\n")
        process = sweep("--allow-power-limit")
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"no right to set the power limit of GPU 0", err)

    def test_side_by_side(self):
        """Each on a GPU of its own; not more trials than there are GPUs. Ctrl-C ends them all."""
        world = self.folder / "world"
        world.write_text("gpus 2\n")
        env = {"PYROMETER_STUB_NVML": str(world), "LD_LIBRARY_PATH":
               self.environment()["LD_LIBRARY_PATH"] + ":" +
               str(support.BUILD / "tests" / "stub_nvml")}
        text = TRAINING.replace("import os,", """import os, time
open("spans", "a").write("%s begins %f\\n" % (os.environ["CUDA_VISIBLE_DEVICES"], time.time()))
import atexit
atexit.register(lambda: open("spans", "a").write(
    "%s ends %f\\n" % (os.environ["CUDA_VISIBLE_DEVICES"], time.time())))
import""")
        (self.folder / "train.py").write_text(text)

        def start(count):
            return self.start_tune("--space", "batch=8..12; env:LEVEL=low,high",
                                   "--trial-time", "0.4s", "--parallel",
                                   str(count), "--save", str(self.results), env=env)

        process = start(3)
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2)
        self.assertIn(b"of which there are 2", err)
        process = start(2)
        self.wait_until(lambda: len(self.rows()) >= 3, 90, "two trials after the first")
        os.kill(process.pid, signal.SIGINT)
        result = self.end_tune(process, code=7)
        self.assertTrue(result["interrupted"])
        self.assertEqual(result["configurations"][0]["outcome"], "measured")
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        self.assertTrue((self.folder / "started").read_text().startswith("8 low\n"))
        spans = [line.split() for line in (self.folder / "spans").read_text().splitlines()]
        self.assertEqual({span[0] for span in spans}, {"GPU-00001", "GPU-00002"})
        running = set()
        together = 0
        for gpu, what, _ in sorted(spans, key=lambda span: float(span[2])):
            if what == "begins":
                self.assertNotIn(gpu, running)
                running.add(gpu)
            else:
                running.discard(gpu)
            together = max(together, len(running))
        self.assertEqual(together, 2)

    def test_samples_that_are_not_known(self):
        text = TRAINING.replace("DataLoader(torch.randn(100000, 8), batch_size=batch)",
                                "(torch.randn(batch, 8) for i in range(100000))")
        (self.folder / "train.py").write_text(text)
        process = self.start_tune("--space", "batch=8,16", "--trial-time", "0.4s")
        out, err = process.communicate(timeout=100)
        self.assertEqual((process.returncode, out), (1, b""))
        self.assertIn(b"how many samples a step has is not known", err)
        self.assertIn(b"--samples-per-step '{batch}'", err)


if __name__ == "__main__":
    support.main()
