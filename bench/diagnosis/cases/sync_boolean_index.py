"""Twenty heads, each with its own boolean mask: x[mask] waits for the device.

Truth
  report: C041
  class: sync
  causes: sync.blocking_calls
  also: launch.bound launch.tiny_kernels
  never: input.* precision.* transfer.* layout.*
  fix: multiplied by the mask
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=150)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH, HEADS = (16, 16, 2) if args.tiny else (1024, 512, 20)


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


torch.set_float32_matmul_precision("high")
trunk = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU())
heads = nn.ModuleList(nn.Linear(WIDTH, 1) for _ in range(HEADS))
model = nn.ModuleDict({"trunk": trunk, "heads": heads}).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
targets = torch.randn(HEADS, ROWS, device=device)
labelled = torch.rand(HEADS, ROWS, device=device) > 0.5


def loss_of():
    shared, total = model["trunk"](x), 0.0
    for head, target, mask in zip(model["heads"], targets, labelled):
        outputs = head(shared).squeeze(1)
        if args.fixed:
            total = total + ((outputs - target).square() * mask).sum() / mask.sum()
        else:
            total = total + F.mse_loss(outputs[mask], target[mask])
    return total


meter = Meter(args.steps, ROWS)
while True:
    optimizer.zero_grad()
    loss_of().backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
