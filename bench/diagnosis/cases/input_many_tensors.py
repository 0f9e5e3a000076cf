"""Each batch is a list of 2000 small tensors, pinned one by one in the thread that shares the GIL.

Truth
  report: C017
  class: input
  causes: transfer.small_copies|input.bound|input.slow_fetch|input.pin_thread
  also: input.* transfer.small_copies launch.bound launch.host_code
  never: input.serial_loader input.respawned_workers precision.* transfer.pageable_h2d
  fix: one tensor per batch
  predict: the cause has several names, whose fixes go less far
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
GRAPHS, NODES = (40, 8) if args.tiny else (2000, 32)


class Molecules(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        return torch.full((NODES, 16), index % 10 / 10)


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


def collate(graphs):
    return torch.stack(graphs) if args.fixed else graphs


model = nn.Sequential(nn.Linear(16, 512), nn.SiLU(), nn.Linear(512, 512), nn.SiLU(),
                      nn.Linear(512, 1)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
loader = DataLoader(Molecules(), batch_size=GRAPHS, collate_fn=collate, pin_memory=True,
                    num_workers=1 if args.tiny else 4)
meter = Meter(args.steps, GRAPHS)
for batch in loader:
    if args.fixed:
        x = batch.to(device, non_blocking=True)
    else:
        x = torch.stack([graph.to(device, non_blocking=True) for graph in batch])
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        energy = model(x).sum((1, 2))
    F.mse_loss(energy.float(), torch.zeros_like(energy, dtype=torch.float32)).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
