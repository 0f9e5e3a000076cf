"""Rank 1 lost its loader workers to a machine-specific setting; rank 0 waits for it.

Truth
  report: C130
  class: ranks
  causes: comm.skew|input.serial_loader
  also: input.serial_loader comm.skew comm.exposed comm.low_overlap transfer.pageable_h2d
  never: precision.* layout.* launch.unfused_optimizer
  fix: four workers on both ranks
  gpus: 2
  launch: torchrun
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
if cuda:
    torch.cuda.set_device(device)
BATCH, WORK_S, WIDTH = (4, 2e-3, 32) if args.tiny else (32, 1.5e-3, 2048)
WORKERS = 0 if rank == 1 and not args.fixed else (1 if args.tiny else 4)


class Windows(Dataset):
    def __len__(self):
        return 400_000

    def __getitem__(self, index):
        window, end = torch.randn(WIDTH), time.perf_counter() + WORK_S
        while time.perf_counter() < end:
            window = window.roll(1)
        return window


class Meter:
    """Times the steps that follow the first few, on all ranks together."""

    def __init__(self, steps, batch, skip=10):
        self.steps, self.batch, self.skip, self.done = steps, batch, skip, 0

    def step(self):
        """Counts a step; False once enough are timed."""
        self.done += 1
        if self.done == self.skip:
            self.began = self.now()
        return self.done < self.skip + self.steps

    def now(self):
        if cuda:
            torch.cuda.synchronize()
        return time.perf_counter()

    def report(self):
        seconds = torch.tensor([self.now() - self.began], device=device)
        dist.all_reduce(seconds, op=dist.ReduceOp.MAX)
        seconds = seconds.item()
        if rank == 0:
            print(f"throughput: {world * self.batch * self.steps / seconds:.2f} samples/s, "
                  f"{1e3 * seconds / self.steps:.4f} ms per step, {self.steps} steps")


model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(4)))
model = DistributedDataParallel(model.to(device), device_ids=[device.index] if cuda else None)
optimizer = torch.optim.Adam(model.parameters(), fused=cuda)
data = Windows()
loader = DataLoader(data, batch_size=BATCH, sampler=DistributedSampler(data, shuffle=False),
                    num_workers=WORKERS, pin_memory=WORKERS > 0)
meter = Meter(args.steps, BATCH)
for windows in loader:
    windows = windows.to(device, non_blocking=True)
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.mse_loss(model(windows), windows)
    loss.backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
dist.destroy_process_group()
