"""Two million live Python objects, and cyclic garbage in every step: full collections take long.

Truth
  report: C087 C089
  class: host
  causes: pauses.gc
  also: steps.outliers launch.host_code
  never: input.* precision.* transfer.* layout.*
  cpu: judged
  fix: gc.freeze() once the data is loaded
  period: 8
"""
import argparse
import gc
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=24)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
OBJECTS, ROWS, WIDTH = (400_000, 8, 16) if args.tiny else (2_000_000, 1024, 1024)


class Node:
    def __init__(self, value):
        self.value, self.peer = value, self


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


index = [{"path": str(number), "boxes": [number]} for number in range(OBJECTS)]
model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
gc.collect()
if args.fixed:
    gc.freeze()
meter, step, running = Meter(args.steps, ROWS), 0, True
while running:
    graph = [Node(number) for number in range(200)]
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    step += 1
    if step % 4 == 0:
        gc.collect()                        # "so that memory does not grow"
    running = meter.step()
meter.report()
