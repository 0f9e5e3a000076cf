"""The running loss is summed with its graph: memory grows with every step.

Truth
  report: C071
  class: allocator
  causes: memory.growth
  also: memory.near_limit allocator.calls_in_step
  never: input.* transfer.* precision.* layout.*
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
ROWS, WIDTH = (8, 16) if args.tiny else (2048, 2048)


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


model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
monitored, total = [], 0.0
meter, running = Meter(args.steps, ROWS), True
while running:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        y = model(x)
        penalty = y.float().square().mean()         # only watched: no backward frees its graph
        loss = F.mse_loss(y, x)
    monitored.append(penalty.detach() if args.fixed else penalty.sqrt())
    loss.backward(retain_graph=not args.fixed)
    optimizer.step()
    if len(monitored) > 3000:
        del monitored[:1000]
    running = meter.step()
meter.report()
