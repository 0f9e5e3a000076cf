"""Segmentation; every step's outputs go to the host, for statistics that nobody reads.

Truth
  report: own
  class: transfer
  causes: transfer.d2h_in_step
  also: sync.blocking_calls launch.cpu_work pauses.logging
  never: input.* precision.* launch.bound launch.tiny_kernels layout.*
  fix: statistics kept on the device
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
BATCH, SIDE, CLASSES = (2, 16, 4) if args.tiny else (16, 256, 32)


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


model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, CLASSES, 1))
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
images = torch.randn(BATCH, 3, SIDE, SIDE, device=device).to(memory_format=torch.channels_last)
masks = torch.randint(CLASSES, (BATCH, SIDE, SIDE), device=device)
largest = torch.zeros((), device=device)
history = []
meter, running = Meter(args.steps, BATCH), True
while running:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(images)
        loss = F.cross_entropy(scores, masks)
    loss.backward()
    optimizer.step()
    if args.fixed:
        largest = torch.maximum(largest, scores.detach().float().max())
    else:
        history = history[-1:] + [scores.detach().float().cpu()]
    running = meter.step()
meter.report()
