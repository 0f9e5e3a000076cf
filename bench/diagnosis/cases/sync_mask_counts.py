"""A force-field-like loss with many masked terms; the host reads each mask's count.

Truth
  report: C037
  class: sync
  causes: sync.blocking_calls
  also: launch.bound launch.tiny_kernels launch.host_code
  never: input.* precision.* transfer.* layout.*
  fix: counts stay on the device
"""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, BLOCKS, TERMS = (16, 2, 2) if args.tiny else (256, 24, 4)


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


def masked_mean(values, threshold):
    mask = values.detach() > threshold
    count = mask.sum()
    if not args.fixed:
        count = max(count.item(), 1)
        return (values * mask).sum() / count
    return (values * mask).sum() / count.clamp(min=1)


class Potential(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))

    def forward(self, x):
        energy = 0.0
        for layer in self.layers:
            x = torch.tanh(layer(x))
            energy = energy + sum(masked_mean(x, 0.1 * term) for term in range(TERMS))
        return energy


model = Potential().to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
positions = torch.randn(128, WIDTH, device=device)
meter, running = Meter(args.steps, 128), True
while running:
    optimizer.zero_grad()
    loss = model(positions)
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
