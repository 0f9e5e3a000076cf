"""Four workers that take long for each batch: four quick steps, then a wait.

Truth
  report: C027
  class: input
  causes: input.too_few_workers|input.slow_storage|input.bound
  also: input.bound steps.outliers
  never: input.serial_loader input.respawned_workers sync.* launch.* precision.* transfer.*
  fix: 16 workers
  period: 4
  cpu: judged
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=48)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, BATCH_S = (8, 0.06) if args.tiny else (64, 0.25)
WORKERS = 16 if args.fixed else 4


class Shards(IterableDataset):
    """Each worker fetches whole batches from a remote store."""

    def __iter__(self):
        worker = get_worker_info()
        generator = torch.Generator().manual_seed(worker.id if worker else 0)
        while True:
            time.sleep(BATCH_S)
            yield (torch.randn(BATCH, 512, generator=generator),
                   torch.randint(64, (BATCH,), generator=generator))


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


model = nn.Sequential(nn.Linear(512, 4096), nn.ReLU(), nn.Linear(4096, 64)).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loader = DataLoader(Shards(), batch_size=None, num_workers=WORKERS, pin_memory=True)
meter = Meter(args.steps, BATCH, skip=16)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if not meter.step():
        break
meter.report()
