"""A tracing function, as debuggers and coverage tools install one, was left on.

Truth
  report: own
  class: device
  causes: debug.python_tracing
  also: launch.bound launch.host_code launch.tiny_kernels
  never: input.* precision.* transfer.* layout.* sync.*
  fix: off
"""
import argparse
import collections
import sys
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
ROWS, WIDTH, LAYERS = (8, 16, 8) if args.tiny else (256, 256, 60)
lines = collections.Counter()


def count_lines(frame, event, argument):
    lines[frame.f_code.co_filename, frame.f_lineno] += 1
    return count_lines


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


model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
                        for _ in range(LAYERS))).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
vocabulary = {f"word{i}": i for i in range(500)}
if not args.fixed:
    sys.settrace(count_lines)


def train(meter):
    running = True
    while running:
        seen = 0
        for word, number in vocabulary.items():
            if word.endswith("7"):
                seen += number
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        running = meter.step()
    sys.settrace(None)
    meter.report()


train(Meter(args.steps, ROWS))
