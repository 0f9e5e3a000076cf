"""A process that may use little of the device, with sequences of many lengths.

Truth
  report: C069
  class: allocator
  causes: memory.allocator_retries|allocator.calls_in_step
  also: memory.* steps.outliers
  never: input.* transfer.* precision.* launch.unfused_optimizer layout.*
  fix: all of the device's memory
  predict: how much memory the process may have is not in the recording
  needs: cuda
"""
import argparse
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, BATCH = 1024, 32


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


model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                      nn.Linear(4 * WIDTH, WIDTH)) for _ in range(8))).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
lengths = random.Random(0)


def train(length):
    x = torch.randn(BATCH, length, WIDTH, device=device)
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


train(768)                                  # the longest there is: what a step needs at most
if not args.fixed:
    peak = torch.cuda.max_memory_allocated()
    torch.cuda.set_per_process_memory_fraction(
        1.15 * peak / torch.cuda.get_device_properties(0).total_memory)
torch.cuda.empty_cache()
meter, running = Meter(args.steps, BATCH), True
while running:
    train(lengths.randrange(128, 768, 8))
    running = meter.step()
meter.report()
