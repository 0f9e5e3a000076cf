"""Diffusion-like training; noise is drawn on the host and then moved.

Truth
  report: own
  class: transfer
  causes: transfer.host_created
  also: transfer.pageable_h2d launch.cpu_work
  never: input.* precision.* launch.bound launch.tiny_kernels sync.*
  fix: noise drawn on the device
"""
import argparse
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
ROWS, WIDTH = (8, 32) if args.tiny else (4096, 1024)


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


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.SiLU(),
                                 nn.Linear(2 * WIDTH, WIDTH))

    def loss(self, clean):
        noise = (torch.randn(clean.shape, device=clean.device) if args.fixed
                 else torch.randn(clean.shape).to(clean.device))
        level = (torch.rand(len(clean), 1, device=clean.device) if args.fixed
                 else torch.rand(len(clean), 1).to(clean.device))
        return F.mse_loss(self.net(clean + level * noise), noise)


model = Denoiser().to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
data = torch.randn(ROWS, WIDTH, device=device)
meter, running = Meter(args.steps, ROWS), True
while running:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = model.loss(data)
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
