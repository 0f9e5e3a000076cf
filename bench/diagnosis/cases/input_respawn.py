"""Short epochs; the loader starts its eight workers anew for each of them.

Truth
  report: own
  class: input
  causes: input.respawned_workers
  also: input.bound steps.outliers run.low_utilization
  never: input.serial_loader sync.* precision.* transfer.*
  fix: persistent_workers=True
  period: 8
  cpu: judged
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=80)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, EPOCH_STEPS = (4 if args.tiny else 32), 8


class Clips(Dataset):
    """Samples of one subject: few, and read in every epoch."""

    def __len__(self):
        return BATCH * EPOCH_STEPS

    def __getitem__(self, index):
        return torch.randn(40, 64), index % 10


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


model = nn.Sequential(nn.Flatten(), nn.Linear(40 * 64, 2048), nn.GELU(), nn.Linear(2048, 10))
model.to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=device.type == "cuda")
loader = DataLoader(Clips(), batch_size=BATCH, shuffle=True, num_workers=2 if args.tiny else 8,
                    pin_memory=True, persistent_workers=args.fixed)
meter, epoch, running = Meter(args.steps, BATCH, skip=EPOCH_STEPS), 0, True
while running:
    for clips, labels in loader:
        clips, labels = clips.to(device, non_blocking=True), labels.to(device, non_blocking=True)
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.cross_entropy(model(clips), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        running = meter.step() and running
        if not running:
            break
    epoch += 1
meter.report()
