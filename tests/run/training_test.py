"""Real PyTorch trainings (on the CPU) under pyrometer run: the same output, and the right numbers."""
import subprocess
import unittest

import support

PRELUDE = """
import sys, time, warnings
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset
import torch.nn.functional as F
torch.manual_seed(7)
data = TensorDataset(torch.randn(64, 10), torch.randn(64, 1))
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
def loss_of(x, y):
    return F.mse_loss(model(x), y)
"""
SGD = "optimizer = torch.optim.SGD(model.parameters(), lr=0.05)\n"


def python_keeps_our_frames():
    """Before 3.11 a bare raise puts the frame back that was taken out."""
    return subprocess.run([support.PYTHON, "-c", "import sys; exit(sys.version_info < (3, 11))"]
                          ).returncode != 0


def has_torch():
    return subprocess.run([support.PYTHON, "-c", "import torch"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
@unittest.skipUnless(has_torch(), "no torch in " + support.PYTHON)
class Training(support.RunCase):
    def train(self, text, **how):
        """The recorded run, after comparing its output with that of the plain program."""
        path = self.folder / "train.py"
        path.write_text(PRELUDE + text)
        return self.assert_same([support.PYTHON, str(path)], **how)

    def counts(self, recording):
        return dict(recording.rows("SELECT type, sum(count) FROM region_total GROUP BY type"))

    def samples(self, recording):
        return recording.value("SELECT sum(samples) FROM step WHERE count > 0")

    def assert_no_part_off(self, recording):
        off = recording.rows("SELECT key, value FROM info WHERE key LIKE 'hook.%'")
        self.assertEqual([row for row in off if row[1].startswith("off")], [])
        self.assertEqual(recording.losses, {})

    def test_loaders(self):
        """In the process, with workers, with lasting ones, with spawned ones; two epochs each."""
        run = self.train(SGD + """
if __name__ == "__main__":
    for settings in ({}, {"num_workers": 2}, {"num_workers": 2, "persistent_workers": True},
                     {"num_workers": 1, "multiprocessing_context": "spawn"}):
        loader = DataLoader(data, batch_size=8, shuffle=True, **settings)
        for epoch in range(2):
            total = 0
            for x, y in loader:
                optimizer.zero_grad()
                loss = loss_of(x, y)
                loss.backward()
                optimizer.step()
                total += loss.item()
            print(settings, epoch, total, flush=True)
""", timeout=300)
        self.assertEqual(run.returncode, 0, run.err)
        recording = run.recording
        self.assert_no_part_off(recording)
        batches = 4 * 2 * 8
        self.assertEqual(recording.steps(), batches)
        self.assertEqual(self.samples(recording), batches * 8)
        counts = self.counts(recording)
        self.assertEqual((counts["input"], counts["backward"], counts["optimizer"]),
                         (batches,) * 3)
        # Outermost modules are looked for once the first step is over.
        self.assertEqual(counts["forward"], batches - 1)
        self.assertEqual(counts["loader_start"], 8)
        # Workers are no processes of their own in the recording.
        self.assertEqual(recording.value("SELECT count(*) FROM process"), 1)
        waited = recording.value("SELECT sum(input_wait_ns) FROM step")
        self.assertGreater(waited, 0)
        spent = recording.value("SELECT sum(total_ns) FROM region_total WHERE type IN "
                                "('input', 'loader_start')")
        self.assertLessEqual(waited, spent)
        self.assertGreater(waited, spent * 0.9)

    def test_accumulation_scaler_and_optimizers(self):
        run = self.train(SGD + """
scaler = torch.cuda.amp.GradScaler(enabled=False)
loader = DataLoader(data, batch_size=4)
for i, (x, y) in enumerate(loader):  # 16 batches, 4 steps
    (scaler.scale(loss_of(x, y)) / 4).backward()
    if i % 4 == 3:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
other = nn.Linear(1, 1)
second = torch.optim.Adam(other.parameters())
for x, y in loader:  # 16 steps of two optimizers
    loss = loss_of(x, y)
    optimizer.zero_grad(); second.zero_grad()
    (loss + other(y).mean()).backward()
    second.step()
    optimizer.step()
print(loss.item(), other.weight.item())
""")
        recording = run.recording
        self.assert_no_part_off(recording)
        self.assertEqual((recording.steps(), self.samples(recording)), (20, 2 * 64))
        counts = self.counts(recording)
        self.assertEqual((counts["optimizer"], counts["input"]), (4 + 32, 32))

    def test_exception_in_the_loop(self):
        run = self.train(SGD + """
def train():
    for i, (x, y) in enumerate(DataLoader(data, batch_size=8)):
        optimizer.zero_grad()
        loss_of(x, y).backward()
        optimizer.step()
        if i == 4:
            model(torch.randn(3, 3))
train()
""")
        self.assertEqual(run.returncode, 1)
        self.assertIn(b"mat1 and mat2 shapes cannot be multiplied", run.err)
        self.assertEqual(run.recording.steps(), 5)
        self.assertEqual(run.recording.meta["exit_code"], "1")

    @unittest.skipIf(python_keeps_our_frames(), "needs Python 3.11")
    def test_tracebacks(self):
        """Of whatever a wrapped function raises: the user's frames and torch's, none of ours."""
        self.train(SGD + """
import traceback
class Broken(Dataset):
    def __len__(self): return 24
    def __getitem__(self, i):
        if i == 17: raise KeyError(i)
        return torch.randn(10), torch.randn(1)
def step(x, y, closure=None):
    optimizer.zero_grad()
    loss_of(x, y).backward()
    optimizer.step(closure)
def epoch():
    for x, y in DataLoader(Broken(), batch_size=8): step(x, y)
def closure():
    raise ValueError("closure")
def twice():
    loss = loss_of(*data[:8])
    loss.backward()
    loss.backward()
for f in (epoch, lambda: step(*data[:8], closure), twice, lambda: model(1), lambda: model(),
          lambda: torch.load("not there"), lambda: torch.save(lambda: 1, "file"),
          lambda: torch.optim.SGD([], lr=1), lambda: optimizer.step(1, 2, 3),
          lambda: iter(DataLoader(data, batch_size=8, num_workers=1,
                                  multiprocessing_context="no such"))):
    try:
        f()
        print("nothing raised")
    except Exception as error:
        print(traceback.format_exc())
""")

    def test_generators(self):
        """A loop in a generator, data from a generator, a loader left before its end."""
        run = self.train(SGD + """
class Stream(IterableDataset):
    def __iter__(self):
        for i in range(40):
            yield data[i]
def losses():
    for x, y in DataLoader(Stream(), batch_size=8):
        loss = loss_of(x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()
    for x, y in DataLoader(data, batch_size=8, num_workers=2):
        loss_of(x, y).backward()
        optimizer.step()
        yield 0
        break
iterator = losses()
print(next(iterator), *iterator)
iterator.close()
""")
        self.assertEqual(run.returncode, 0, run.err)
        self.assert_no_part_off(run.recording)
        self.assertEqual((run.recording.steps(), self.samples(run.recording)), (6, 48))
        self.assertEqual(self.counts(run.recording)["input"], 6)

    def test_profiler_in_the_middle(self):
        """torch.profiler of the user's works, and its time is marked."""
        run = self.train(SGD + """
from torch.profiler import ProfilerActivity, profile, schedule
def step(x, y):
    optimizer.zero_grad()
    loss_of(x, y).backward()
    optimizer.step()
loader = DataLoader(data, batch_size=8)
for x, y in loader: step(x, y)
with profile(activities=[ProfilerActivity.CPU],
             schedule=schedule(wait=1, warmup=1, active=3)) as profiler:
    for x, y in loader:
        step(x, y)
        profiler.step()
for x, y in loader: step(x, y)
names = {event.key for event in profiler.key_averages()}
print(sorted(name for name in names if "step" in name.lower() or "mse" in name))
""")
        self.assertEqual(run.returncode, 0, run.err)
        self.assertIn(b"mse", run.out)
        self.assert_no_part_off(run.recording)
        self.assertEqual(run.recording.steps(), 24)

    def test_two_ranks(self):
        """torch.multiprocessing.spawn with gloo: one recording, two ranks."""
        run = self.train("""
import os
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
def main(rank, port_file):
    dist.init_process_group("gloo", init_method="file://" + port_file, rank=rank, world_size=2)
    wrapped = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(wrapped.parameters(), lr=0.05)
    sampler = torch.utils.data.DistributedSampler(data, shuffle=False)
    for x, y in DataLoader(data, batch_size=4, sampler=sampler):
        optimizer.zero_grad()
        F.mse_loss(wrapped(x), y).backward()
        optimizer.step()
    if rank == 0:
        print(round(model[0].weight.sum().item(), 5), flush=True)
    dist.barrier()
    dist.destroy_process_group()
if __name__ == "__main__":
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, args=(folder + "/rendezvous",), nprocs=2)
    print("done")
""", timeout=300)
        self.assertEqual(run.returncode, 0, run.err)
        recording = run.recording
        ranks = recording.rows(
            "SELECT rank, world_size, sum(count), sum(samples) FROM process JOIN step ON "
            "step.process = process.id GROUP BY process.id ORDER BY rank")
        self.assertEqual(ranks, [(0, 2, 8, 32), (1, 2, 8, 32)])
        report = recording.report()
        self.assertEqual([rank["rank"] for rank in report["ranks"]], [0, 1])
        self.assert_no_part_off(recording)


if __name__ == "__main__":
    support.main()
