"""A probe's losses are collected for a plot, each with its graph: memory grows with every step.

Truth
  report: C071
  class: allocator
  causes: memory.growth
  also: memory.near_limit
  never: input.* transfer.* precision.* layout.* launch.*
  fix: detach()
  predict: memory is not time
"""
import argparse
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
ROWS, WIDTH, LAYERS, PROBED = (8, 16, 2, 4) if args.tiny else (4096, 4096, 8, 512)


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


trunk = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
                        for _ in range(LAYERS))).to(device)
probe = nn.Linear(WIDTH, 1).to(device)
optimizer = torch.optim.Adam([*trunk.parameters(), *probe.parameters()],
                             fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
curve = []
meter, running = Meter(args.steps, ROWS), True
while running:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        features = trunk(x)
        loss = F.mse_loss(features, x)
    loss.backward()
    optimizer.step()
    watched = probe(features[:PROBED].detach().float()).square().mean()
    curve.append(watched.detach() if args.fixed else watched)
    running = meter.step()
meter.report()
