"""A loader in the training process, and large batches from ordinary memory on top.

Truth
  report: C011 C028
  class: input
  causes: input.serial_loader transfer.pageable_h2d
  never: sync.* launch.* precision.* layout.*
  fix: 8 workers, pinned memory, non_blocking
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, SIDE = (4, 32) if args.tiny else (64, 512)


class Slides(Dataset):
    def __len__(self):
        return 100 * BATCH

    def __getitem__(self, index):
        return torch.full((3, SIDE, SIDE), index % 7 / 7), index % 20


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


model = nn.Sequential(nn.Conv2d(3, 16, 8, stride=8), nn.ReLU(), nn.AdaptiveAvgPool2d(4),
                      nn.Flatten(), nn.Linear(256, 20)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
options = dict(num_workers=2 if args.tiny else 8, persistent_workers=True, pin_memory=True)
loader = DataLoader(Slides(), batch_size=BATCH, **(options if args.fixed else {}))
meter, running = Meter(args.steps, BATCH), True
while running:
    for slides, labels in loader:
        slides = slides.to(device, non_blocking=args.fixed)
        labels = labels.to(device, non_blocking=args.fixed)
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.cross_entropy(model(slides), labels)
        loss.backward()
        optimizer.step()
        running = meter.step()
        if not running:
            break
meter.report()
