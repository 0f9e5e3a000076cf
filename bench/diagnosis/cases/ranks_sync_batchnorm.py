"""Sixty SyncBatchNorm layers: in each, the ranks wait for each other, forward and backward.

Truth
  report: C132 C043
  class: ranks
  causes: comm.exposed
  also: comm.low_overlap comm.skew launch.* sync.blocking_calls
  never: input.* precision.* transfer.* layout.*
  fix: BatchNorm
  gpus: 2
  launch: torchrun
  needs: cuda
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

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
WIDTH, LAYERS, BATCH, SIDE = (8, 4, 2, 8) if args.tiny else (128, 60, 32, 28)


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


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(WIDTH, WIDTH, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(WIDTH)

    def forward(self, x):
        return x + F.relu(self.norm(self.conv(x)))


model = nn.Sequential(*(Layer() for _ in range(LAYERS)))
if not args.fixed:
    model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
model = model.to(device, memory_format=torch.channels_last)
model = DistributedDataParallel(model, device_ids=[device.index])
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(BATCH, WIDTH, SIDE, SIDE, device=device)
x = x.contiguous(memory_format=torch.channels_last)
meter, running = Meter(args.steps, BATCH), True
while running:
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        loss = model(x).float().square().mean()
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
dist.destroy_process_group()
