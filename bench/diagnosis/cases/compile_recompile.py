"""A compiled function that gets a Python float which changes in every step.

Truth
  report: C064 C066
  class: compile
  causes: pauses.compile|compile.recompilations
  also: steps.outliers
  never: input.* transfer.* precision.* sync.* launch.*
  fix: the float as a tensor
  needs: compile
"""
import argparse
import time

import torch
import torch._dynamo
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH = (8, 16) if args.tiny else (1024, 1024)
# As releases before 2.6 behave with floats, and without giving up after some compilations.
for name, value in (("specialize_float", True), ("automatic_dynamic_shapes", False),
                    ("recompile_limit", 10 ** 6),
                    ("cache_size_limit", 10 ** 6), ("accumulated_cache_size_limit", 10 ** 6),
                    ("accumulated_recompile_limit", 10 ** 6)):
    if hasattr(torch._dynamo.config, name):
        setattr(torch._dynamo.config, name, value)


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


@torch.compile(backend="aot_eager")
def smoothed(scores, targets, temperature):
    return F.mse_loss(torch.tanh(scores / temperature), targets)


model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
meter, step, running = Meter(args.steps, ROWS, skip=5), 0, True
while running:
    temperature = 1 + 0.999 ** step
    if args.fixed:
        temperature = torch.full((), temperature, device=device)
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(x)
    optimizer.zero_grad()
    smoothed(scores.float(), x, temperature).backward()
    optimizer.step()
    running, step = meter.step(), step + 1
meter.report()
