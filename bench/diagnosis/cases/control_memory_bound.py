"""Control: element-wise work on large tensors. More arithmetic throughput would not help.

Truth
  report: own
  class: control
  causes: none
  never: precision.* launch.*
  fix: none
"""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIDE = 64 if args.tiny else 8192


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


class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList(nn.Parameter(torch.ones(SIDE)) for _ in range(12))

    def forward(self, x):
        for scale in self.scales:
            x = torch.sigmoid(x * scale) + x
        return x


model = Gates().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
x = torch.randn(SIDE, SIDE, device=device)
meter, running = Meter(args.steps, SIDE, skip=5), True
while running:
    optimizer.zero_grad()
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
