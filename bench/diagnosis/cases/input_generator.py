"""Batches come from a Python generator that augments arrays in the training thread: no DataLoader.

Truth
  report: own
  class: input
  causes: launch.host_code
  also: launch.bound launch.cpu_work steps.outliers transfer.*
  never: input.* precision.* layout.* sync.*
  fix: the augmented batch is kept and used again
  cpu: judged
"""
import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, SIZE, WIDTH = (8, 48, 16) if args.tiny else (64, 96, 1024)


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


def sharpen(images, rounds=6):
    """Sorting stands for an augmentation that is costly and written by hand."""
    for _ in range(rounds):
        images = np.sort(images, axis=-1)[..., ::-1]
    return images


def batches(generator):
    kept = None
    while True:
        if kept is None or not args.fixed:
            images = sharpen(generator.normal(size=(ROWS, 3, SIZE, SIZE)).astype(np.float32))
            kept = torch.from_numpy(images[..., ::4, ::4].copy()).flatten(1)
        yield kept.to(device), torch.arange(ROWS, device=device) % 10


inputs = 3 * (SIZE // 4) ** 2
model = nn.Sequential(nn.Linear(inputs, WIDTH), nn.GELU(), nn.Linear(WIDTH, 10)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
meter = Meter(args.steps, ROWS)
for x, y in batches(np.random.default_rng(0)):
    optimizer.zero_grad()
    F.cross_entropy(model(x), y).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
