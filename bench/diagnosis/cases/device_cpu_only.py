"""The environment hides the GPU, and the script falls back to the CPU without a word.

Truth
  report: C113
  class: device
  causes: device.no_gpu_work
  also: device.unused
  never: input.* precision.* transfer.* launch.* sync.* layout.*
  fix: CUDA_VISIBLE_DEVICES is left alone
  predict: without a GPU there is nothing to replay
  cpu: judged
"""
import argparse
import os
import sys
import time

if "--fixed" not in sys.argv:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH = (64, 64) if args.tiny else (4096, 2048)


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
meter, running = Meter(args.steps, ROWS, skip=3), True
while running:
    optimizer.zero_grad()
    F.mse_loss(model(x), x).backward()
    optimizer.step()
    running = meter.step()
meter.report()
