"""A CPU-bound transform in four times as many workers as there are cores.

Truth
  report: C025
  class: input
  causes: input.decode_bound|input.too_many_workers|input.bound
  also: host.oversubscribed input.bound steps.outliers
  never: input.serial_loader input.too_few_workers precision.* transfer.pageable_h2d
  fix: the transform is done once and kept, 8 workers read the result
  predict: no finding can know what the transform would cost if it were done once
"""
import argparse
import os
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
BATCH, WORK_S = (8, 2e-3) if args.tiny else (64, 15e-3)
WORKERS = 8 if args.tiny else (8 if args.fixed else 4 * len(os.sched_getaffinity(0)))


class Samples(Dataset):
    def __init__(self):
        self.kept = torch.randn(64, 256)

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        if args.fixed:
            return self.kept[index % 64], index % 100
        end = time.thread_time() + WORK_S
        while time.thread_time() < end:
            sample = torch.randn(256)
        return sample, index % 100


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


model = nn.Sequential(nn.Linear(256, 1024), nn.ReLU(), nn.Linear(1024, 100)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
meter = Meter(args.steps, BATCH)
for x, y in DataLoader(Samples(), batch_size=BATCH, num_workers=WORKERS, pin_memory=True):
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
