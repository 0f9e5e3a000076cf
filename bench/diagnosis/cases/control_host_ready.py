"""Control: loader, saving, validation and collection all happen, and none costs the training time.

Truth
  report: C075 C081 C087
  class: control
  causes: none
  never: pauses.* input.* launch.host_code
  fix: none
  cpu: judged
"""
import argparse
import gc
import os
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH = (256, 256) if args.tiny else (8192, 4096)


class Vectors(Dataset):
    def __init__(self):
        self.rows = torch.randn(4, ROWS, 64)

    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return self.rows[index % 4]


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


def train(folder):
    model = nn.Sequential(nn.Linear(64, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH), nn.GELU(),
                          nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, 64)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    loader = DataLoader(Vectors(), batch_size=None, num_workers=1, pin_memory=True)
    meter = Meter(args.steps, ROWS)
    for step, rows in enumerate(loader):
        rows = rows.to(device, non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16, enabled=device.type == "cuda"):
            loss = F.mse_loss(model(rows), rows)
        loss.backward()
        optimizer.step()
        if step == 5:
            torch.save({"step": step, "seed": torch.initial_seed()},
                       os.path.join(folder, "progress.pt"))
            gc.collect()
        if not meter.step():
            break
    meter.report()


with tempfile.TemporaryDirectory() as folder:
    train(folder)
