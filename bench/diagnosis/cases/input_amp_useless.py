"""Mixed precision was switched on and brought nothing: a serial loader sets the pace.

Truth
  report: C054
  class: input
  causes: input.serial_loader
  also: transfer.pageable_h2d
  never: precision.* layout.* launch.* sync.* compute.*
  fix: 8 persistent workers, pinned memory
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
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, WORK_S = (4, 3e-3) if args.tiny else (64, 2e-3)


class Scans(Dataset):
    def __len__(self):
        return 200 * BATCH

    def __getitem__(self, index):
        scan, end = torch.rand(1, 64, 64), time.perf_counter() + WORK_S
        while time.perf_counter() < end:
            scan = (scan - scan.mean()) / scan.std()
        return scan, index % 2


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


model = nn.Sequential(nn.Flatten(), nn.Linear(4096, 2048), nn.ReLU(), nn.Linear(2048, 2)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.cuda.amp.GradScaler(enabled=device.type == "cuda")
options = dict(num_workers=2 if args.tiny else 8, persistent_workers=True, pin_memory=True)
loader = DataLoader(Scans(), batch_size=BATCH, **(options if args.fixed else {}))
meter, running = Meter(args.steps, BATCH), True
while running:
    for scans, labels in loader:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.float16 if device.type == "cuda"
                            else torch.bfloat16):
            loss = F.cross_entropy(model(scans.to(device, non_blocking=True)),
                                   labels.to(device, non_blocking=True))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        running = meter.step()
        if not running:
            break
meter.report()
