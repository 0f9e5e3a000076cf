"""A launcher bound the process to one core; eight workers share it with the training thread.

Truth
  report: C101
  class: input
  causes: host.affinity|input.worker_affinity
  also: input.* host.oversubscribed launch.* steps.outliers
  never: input.serial_loader input.too_few_workers precision.* transfer.*
  fix: all cores
  predict: whether the binding can be lifted is not in the recording
"""
import argparse
import os
import time

if __name__ == "__main__":
    everything = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everything)})

import torch  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader, Dataset  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if args.fixed:
    os.sched_setaffinity(0, everything)
BATCH, WORK_S = (4, 1e-3) if args.tiny else (32, 4e-3)


class Spectra(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        end = time.thread_time() + WORK_S
        while time.thread_time() < end:
            spectrum = torch.randn(128, 80)
        return spectrum, index % 30


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


model = nn.Sequential(nn.Conv1d(128, 256, 5), nn.ReLU(), nn.Conv1d(256, 256, 5), nn.ReLU(),
                      nn.Flatten(), nn.LazyLinear(30)).to(device)
model(torch.randn(1, 128, 80, device=device))
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
loader = DataLoader(Spectra(), batch_size=BATCH, num_workers=2 if args.tiny else 8,
                    pin_memory=True)
meter = Meter(args.steps, BATCH)
for spectra, labels in loader:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(spectra.to(device, non_blocking=True))
    F.cross_entropy(scores.float(), labels.to(device, non_blocking=True)).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
