"""A moving average of 600 parameters, one small operator each, in every step.

Truth
  report: C050
  class: launch
  causes: launch.bound|launch.tiny_kernels|launch.host_code
  also: memory.batch_headroom
  never: input.* transfer.* precision.* sync.* layout.*
  fix: one call for all parameters
  predict: the finding's model replays the whole step as a graph
"""
import argparse
import copy
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, BLOCKS, ROWS = (8, 4, 8) if args.tiny else (64, 300, 32)


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


class Average:
    """Weights averaged over time, which evaluation would use."""

    def __init__(self, model, decay=0.999):
        self.model, self.decay = copy.deepcopy(model).requires_grad_(False), decay

    @torch.no_grad()
    def update(self, model):
        means, values = list(self.model.parameters()), list(model.parameters())
        if args.fixed:
            torch._foreach_mul_(means, self.decay)
            torch._foreach_add_(means, [v.detach() for v in values], alpha=1 - self.decay)
            return
        for mean, value in zip(means, values):
            mean.mul_(self.decay).add_(value.detach(), alpha=1 - self.decay)


model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))).to(device)
torch.set_float32_matmul_precision("high")
average = Average(model)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
meter, running = Meter(args.steps, ROWS), True
while running:
    optimizer.zero_grad()
    F.mse_loss(model(x), x).backward()
    optimizer.step()
    average.update(model)
    running = meter.step()
meter.report()
