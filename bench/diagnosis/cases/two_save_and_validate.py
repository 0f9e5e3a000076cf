"""Every 20 steps the model is saved and validated, both while training waits.

Truth
  report: C075 C081
  class: pauses
  causes: pauses.checkpoint pauses.validation
  also: steps.outliers
  never: input.* precision.* transfer.* layout.* launch.unfused_optimizer
  fix: both every 2000 steps
  period: 20
"""
import argparse
import os
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH = (64, 256) if args.tiny else (4096, 4096)
EVERY = 2000 if args.fixed else 20


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


def evaluate(model, x):
    model.eval()
    losses = []
    with torch.no_grad(), torch.autocast(device.type, torch.bfloat16):
        for rows in x.split(2 if args.tiny else 8):
            losses.append(F.mse_loss(model(rows), rows).item())
    model.train()
    return sum(losses) / len(losses)


def train(folder):
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
    x = torch.randn(ROWS, WIDTH, device=device)
    meter, step, running = Meter(args.steps, ROWS, skip=20), 0, True
    while running:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        step += 1
        if step % EVERY == 0:
            evaluate(model, x)
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()},
                       os.path.join(folder, "last.pt"))
        running = meter.step()
    meter.report()


with tempfile.TemporaryDirectory() as folder:
    train(folder)
