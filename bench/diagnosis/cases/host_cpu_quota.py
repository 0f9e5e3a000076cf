"""A container with two cores' worth of CPU time on a machine with many: eight workers share it.

Truth
  report: C103
  class: host
  causes: host.cpu_quota
  also: input.* host.oversubscribed launch.* steps.outliers
  never: input.serial_loader input.too_few_workers precision.* transfer.* sync.*
  fix: no quota
  cpu_quota: 2
  predict: how much faster the program is with more CPU time is not in the recording
"""
import argparse
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
BATCH, WORK_S = (4, 1e-3) if args.tiny else (32, 5e-3)


class Events(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        end = time.thread_time() + WORK_S
        while time.thread_time() < end:
            event = torch.randn(200).sort().values
        return event, index % 5


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


model = nn.Sequential(nn.Linear(200, 2048), nn.ReLU(), nn.Linear(2048, 5)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
meter = Meter(args.steps, BATCH)
for events, labels in DataLoader(Events(), batch_size=BATCH, num_workers=8, pin_memory=True):
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(events.to(device, non_blocking=True))
    F.cross_entropy(scores.float(), labels.to(device, non_blocking=True)).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
