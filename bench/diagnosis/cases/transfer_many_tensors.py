"""A recommender whose batch is a dictionary of 600 small pinned tensors.

Truth
  report: C034
  class: transfer
  causes: transfer.small_copies
  also: launch.bound launch.tiny_kernels
  never: input.* precision.* sync.* transfer.pageable_h2d
  fix: one packed buffer, split on the device
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
FIELDS, BATCH, WIDTH = (20, 8, 8) if args.tiny else (600, 64, 16)


def pinned(tensor):
    return tensor.pin_memory() if device.type == "cuda" else tensor


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


features = {f"field{i}": pinned(torch.randn(BATCH, WIDTH)) for i in range(FIELDS)}
packed = pinned(torch.cat(list(features.values()), dim=1))
clicks = torch.rand(BATCH, 1, device=device).round()
model = nn.Sequential(nn.Linear(FIELDS * WIDTH, 512), nn.ReLU(), nn.Linear(512, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")


def to_device(batch):
    return {name: tensor.to(device, non_blocking=True) for name, tensor in batch.items()}


meter, running = Meter(args.steps, BATCH), True
while running:
    if args.fixed:
        x = packed.to(device, non_blocking=True)
    else:
        x = torch.cat(list(to_device(features).values()), dim=1)
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(x)
    F.binary_cross_entropy_with_logits(scores.float(), clicks).backward()
    optimizer.step()
    running = meter.step()
meter.report()
