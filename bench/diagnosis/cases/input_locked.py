"""Four workers read from one archive, one at a time: they share a lock and wait for each other.

Truth
  report: own
  class: input
  causes: input.slow_storage|input.one_worker|input.bound
  also: steps.outliers
  never: input.serial_loader input.too_few_workers input.respawned_workers sync.* launch.*
        precision.* transfer.*
  fix: each worker opens the archive for itself
  predict: how much of the reading can run at the same time is not in the recording
  cpu: judged
"""
import argparse
import multiprocessing
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, READ_S, WIDTH = (4, 3e-3, 16) if args.tiny else (32, 3e-3, 1024)
LOCK = multiprocessing.Lock()


class Archive(Dataset):
    """Waiting for a disk in `read`; the CPU has nothing to do meanwhile."""

    def __len__(self):
        return 1_000_000

    def read(self, index):
        time.sleep(READ_S)
        return torch.full((64,), float(index % 7))

    def __getitem__(self, index):
        if args.fixed:
            return self.read(index), index % 10
        with LOCK:
            return self.read(index), index % 10


class Meter:
    """Times the steps that follow the first few."""

    def __init__(self, steps, batch, skip=10):
        self.steps, self.batch, self.skip, self.done = steps, batch, skip, 0

    def step(self):
        """Counts a step; False once enough are timed."""
        self.done += 1
        if self.done == self.skip:
            self.began = self.now()
        return self.done < self.skip + self.steps

    def now(self):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        return time.perf_counter()

    def report(self):
        seconds = self.now() - self.began
        print(f"throughput: {self.batch * self.steps / seconds:.2f} samples/s, "
              f"{1e3 * seconds / self.steps:.4f} ms per step, {self.steps} steps")


def train(loader, model, optimizer, meter):
    for x, y in loader:
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        if not meter.step():
            return


network = nn.Sequential(nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)).to(device)
meter = Meter(args.steps, BATCH)
train(DataLoader(Archive(), BATCH, num_workers=4, pin_memory=True, persistent_workers=True),
      network, torch.optim.SGD(network.parameters(), lr=0.01), meter)
meter.report()
