"""Sixteen workers, each of which computes with as many threads as the machine has cores.

Truth
  report: C091 C097
  class: host
  causes: host.oversubscribed|input.decode_bound
  also: input.bound input.too_many_workers steps.outliers launch.*
  never: input.serial_loader input.too_few_workers precision.* transfer.*
  fix: one thread per worker
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
BATCH, SIDE, WORKERS = (4, 64, 2) if args.tiny else (64, 192, 16)
THREADS = 1 if args.fixed else max(8, len(os.sched_getaffinity(0)))


class Warped(Dataset):
    """Images that go through a few products with warping matrices."""

    def __init__(self):
        self.warp = torch.randn(SIDE, SIDE) / SIDE ** 0.5

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        image = torch.randn(3, SIDE, SIDE)
        for _ in range(20):
            image = torch.tanh(self.warp @ image @ self.warp)
        return image[:, ::4, ::4].clone(), index % 100


def set_threads(_):
    torch.set_num_threads(THREADS)          # libraries with pools of their own do so unasked


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


model = nn.Sequential(nn.Flatten(), nn.Linear(3 * (SIDE // 4) ** 2, 512), nn.ReLU(),
                      nn.Linear(512, 100)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
loader = DataLoader(Warped(), batch_size=BATCH, num_workers=WORKERS, pin_memory=True,
                    worker_init_fn=set_threads)
meter = Meter(args.steps, BATCH)
for images, labels in loader:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(images.to(device, non_blocking=True))
    F.cross_entropy(scores.float(), labels.to(device, non_blocking=True)).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
