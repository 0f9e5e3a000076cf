"""`pyrometer try` end to end, with PyTorch on the CPU: what it finds, rejects, and leaves behind."""
import json
import os
import signal
import subprocess
import time
import unittest

import support

# Loads slowly in the training process: what workers are for. Data do not depend on who loads them.
LOADER = """
import os, sys, time, torch
from torch import nn
from torch.utils.data import DataLoader, Dataset
class Slow(Dataset):
    def __len__(self): return 4000
    def __getitem__(self, i):
        time.sleep(0.002)
        g = torch.Generator().manual_seed(i)
        return torch.randn(32, generator=g), torch.randn(1, generator=g)
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(50):
    for x, y in DataLoader(Slow(), batch_size=8):
        opt.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        opt.step()
"""

# Waits: nothing that can be overridden makes it faster. `BAD` is what it does with an override.
STEADY = """
import os, sys, time, torch
bad = os.environ.get("BAD") if "threads" in os.environ.get("PYROMETER_WITH", "") else None
if bad == "crash": sys.exit("no such luck")
if bad == "memory": raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
model = torch.nn.Linear(8, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for i in range(100000):
    time.sleep(0.005)
    if bad == "hang" and i == 20: time.sleep(1000)
    opt.zero_grad()
    loss = (model(torch.randn(4, 8)) ** 2).mean()
    if bad == "nan" and i == 10: loss = loss * float("nan")
    if bad == "worse": loss = loss + 100
    loss.backward()
    opt.step()
    open("written", "a").close()
"""

# Two ranks; each step has 4 samples of each.
RANKS = """
import os, socket, time, torch
import torch.distributed as dist
from torch import nn
def work(rank, port):
    torch.set_num_threads(1)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2",
                      RANK=str(rank), LOCAL_WORLD_SIZE="2")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.utils.data.TensorDataset(torch.randn(40000, 8), torch.randn(40000, 1))
    for x, y in torch.utils.data.DataLoader(data, batch_size=4):
        time.sleep(0.01)
        opt.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        opt.step()
if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    torch.multiprocessing.spawn(work, (port,), 2)
"""


def has_torch():
    return subprocess.run([support.PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
@unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
class Try(support.RunCase):
    def words(self, text, options):
        path = self.folder / "train.py"
        path.write_text(text)
        return [support.PYROMETER, "try", "--trial-time", "1s", *options, "--", support.PYTHON,
                str(path)]

    def settings(self, env=None):
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        return dict(env=self.environment(dict(env or {}, TMPDIR=str(temporary))),
                    cwd=str(self.folder), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)

    def attempt(self, text, *options, env=None, code=0):
        """The JSON of a try; nothing may be left behind."""
        done = subprocess.run(self.words(text, ["--json", *options]), timeout=400,
                              **self.settings(env))
        self.assertEqual(done.returncode, code, done.stderr.decode() + done.stdout.decode())
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        result = self.new_file(".json")
        result.write_bytes(done.stdout)
        schema = support.pathlib.Path(__file__).resolve().parents[1] / "check_json_schema"
        checked = subprocess.run([str(schema), "try", str(result)], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT)
        self.assertEqual(checked.returncode, 0, checked.stdout.decode())
        return json.loads(done.stdout)

    def one(self, result, name):
        return next(fix for fix in result["fixes"] if fix["overrides"][0].split("=")[0] == name)

    def test_finds_the_gain_of_loader_workers(self):
        result = self.attempt(LOADER, "--budget", "150s")
        workers = self.one(result, "loader.workers")
        self.assertEqual(workers["verdict"], "gain", result)
        self.assertEqual(workers["finding"], "input.serial_loader")
        self.assertLess(workers["measured"]["value"], 0.85)
        self.assertTrue(workers["loss"])
        self.assertIn("loader.workers=auto", result["best"]["overrides"])
        self.assertIn("pyrometer run --with loader.workers=auto", result["best"]["command"])
        self.assertIn("num_workers", result["best"]["edit"])
        # It says which change cannot be, and why.
        pinned = self.one(result, "loader.pin_memory")
        self.assertEqual(pinned["verdict"], "rejected")
        self.assertIn("cannot: because", pinned["reason"])

    def test_nothing_to_gain(self):
        """What changes numbers is not tried unasked; what can be switched alternates in one run."""
        result = self.attempt(STEADY, "--budget", "120s", "--price", "2", "--fix", "gc=freeze",
                              "--fix", "optimizer.foreach")
        self.assertIn("no price: prices are of GPUs, and none was used", result["notes"])
        self.assertEqual(self.one(result, "optimizer.foreach")["verdict"], "skipped")
        gc = self.one(result, "gc")
        self.assertIn(gc["verdict"], ("same", "undecided"))
        self.assertTrue(gc["alternated"])
        self.assertGreaterEqual(gc["pairs"], 1)
        self.assertIsNone(result["best"])

    def test_ranks_are_one_training(self):
        """Both get the override, and both count."""
        result = self.attempt(RANKS, "--budget", "40s", "--allow-numerics", "--fix",
                              "optimizer.foreach")
        self.assertEqual(result["baseline"]["ranks"], 2)
        # Each rank waits 10 ms for 4 samples.
        self.assertGreater(result["baseline"]["step_ns"], 10e6)
        self.assertAlmostEqual(result["baseline"]["sample_ns"], result["baseline"]["step_ns"] / 8,
                               delta=0.1 * result["baseline"]["step_ns"] / 8)
        foreach = self.one(result, "optimizer.foreach")
        self.assertGreaterEqual(foreach["pairs"], 1, result)
        self.assertIn(foreach["verdict"], ("same", "undecided"), result)

    def test_separate_trainings_are_refused(self):
        done = subprocess.run(self.words(RANKS.replace("dist.init", "0 and dist.init").replace(
            "nn.parallel.DistributedDataParallel", "").replace("WORLD_SIZE", "NO_SIZE"),
            ["--budget", "60s"]), timeout=100, **self.settings())
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"trains in 2 processes that are no ranks of one job", done.stderr)

    def test_optimizer_in_turns(self):
        result = self.attempt(STEADY, "--budget", "120s", "--allow-numerics", "--fix",
                              "optimizer.foreach")
        foreach = self.one(result, "optimizer.foreach")
        self.assertIn(foreach["verdict"], ("same", "undecided"), result)
        self.assertTrue(foreach["loss"], result)

    def test_bad_variants_are_rejected(self):
        for bad, words in (("crash", "failed with exit code 1: no such luck"),
                           ("memory", "out of memory: RuntimeError: CUDA out of memory"),
                           ("nan", "the loss is no finite number at step 10"),
                           ("worse", "the loss got worse"), ("hang", "hung: no step")):
            with self.subTest(bad):
                more = ["--fix", "gc=off"] if bad == "crash" else []
                result = self.attempt(STEADY, "--budget", "120s", "--patience", "4s", "--fix",
                                      "threads=1", *more, env={"BAD": bad})
                threads = self.one(result, "threads")
                self.assertEqual(threads["verdict"], "rejected", result)
                self.assertIn(words, threads["reason"])
                if more:  # the rest goes on
                    self.assertGreater(self.one(result, "gc")["pairs"], 0)

    def test_copy(self):
        self.attempt(STEADY, "--budget", "60s", "--copy", "--fix", "threads=1",
                     env={"BAD": "crash"})
        self.assertFalse((self.folder / "written").exists())

    def test_unchanged_program_fails(self):
        done = subprocess.run(self.words("import sys; sys.exit('broken as it is')", []),
                              timeout=100, **self.settings())
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"the unchanged program failed with exit code 1: broken as it is", done.stderr)

    def test_ctrl_c(self):
        """Prints what is known, and leaves no process and no folder."""
        process = subprocess.Popen(
            self.words(STEADY, ["--json", "--budget", "100s", "--fix", "threads=1"]),
            start_new_session=True, **self.settings())
        self.running.append(process)
        marked = self.folder / "written"
        self.wait_until(marked.exists, what="first step")
        # The first trial has to be over: then there is something to print.
        time.sleep(6)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 7, err)
        self.assertTrue(json.loads(out)["interrupted"])
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        left = subprocess.run(["pgrep", "-f", str(self.folder / "train.py")],
                              stdout=subprocess.PIPE).stdout
        self.assertEqual(left, b"")

    def test_killed(self):
        """SIGKILL leaves neither a process, one in a session of its own included, nor a folder."""
        program = STEADY + """
    if i == 0:
        import subprocess
        subprocess.Popen(["sleep", "1000.125"], start_new_session=True)
        open("started", "w").close()
"""
        process = subprocess.Popen(self.words(program, ["--fix", "threads=1"]),
                                   start_new_session=True, **self.settings())
        self.running.append(process)
        self.wait_until((self.folder / "started").exists, what="first step")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)

        def nothing_left():
            named = subprocess.run(["pgrep", "-f", "%s|sleep 1000.125" % (self.folder / "train.py")],
                                   stdout=subprocess.PIPE).stdout
            return named == b"" and not list((self.folder / "tmp").iterdir())

        self.wait_until(nothing_left, what="end of all that was started")


if __name__ == "__main__":
    support.main()
