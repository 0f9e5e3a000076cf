"""AdamW goes through 300 small parameters one by one.

Truth
  report: C048
  class: launch
  causes: launch.unfused_optimizer
  also: launch.bound launch.tiny_kernels memory.batch_headroom
  never: input.* transfer.* precision.* sync.* layout.*
  fix: the fused implementation
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
WIDTH, BLOCKS, ROWS = (8, 4, 8) if args.tiny else (256, 75, 2048)


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


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)) for _ in range(BLOCKS))

    def forward(self, x):
        for block in self.blocks:
            x = x + F.gelu(block(x))
        return x


model = Mixer().to(device)
fused = dict(fused=True) if args.fixed and device.type == "cuda" else dict(foreach=args.fixed)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **fused)
x = torch.randn(ROWS, WIDTH, device=device)
meter = Meter(args.steps, ROWS)
while True:
    with torch.autocast(device.type, torch.bfloat16):
        y = model(x)
    F.mse_loss(y.float(), x).backward()
    optimizer.step()
    optimizer.zero_grad()
    if not meter.step():
        break
meter.report()
