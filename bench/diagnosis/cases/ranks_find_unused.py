"""Two thousand tiny parameters, and DDP looks for unused ones in every step, though all are used.

Truth
  report: C120
  class: ranks
  causes: ddp.find_unused_parameters|launch.bound
  also: launch.* comm.* ddp.find_unused_parameters memory.batch_headroom
  never: input.* precision.* transfer.* layout.* sync.*
  fix: find_unused_parameters=False
  gpus: 2
  launch: torchrun
  predict: what the search takes on the host is not in the recording
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
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
cuda = torch.cuda.is_available()
dist.init_process_group("nccl" if cuda else "gloo")
rank, world = dist.get_rank(), dist.get_world_size()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
if cuda:
    torch.cuda.set_device(device)
WIDTH, BLOCKS, ROWS = (8, 20, 4) if args.tiny else (16, 1000, 64)


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


model = nn.Sequential(*(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))).to(device)
model = DistributedDataParallel(model, device_ids=[device.index] if cuda else None,
                                find_unused_parameters=not args.fixed)
optimizer = torch.optim.Adam(model.parameters(), fused=cuda)
torch.set_float32_matmul_precision("high")
x = torch.randn(ROWS, WIDTH, device=device)
meter, running = Meter(args.steps, ROWS), True
while running:
    optimizer.zero_grad()
    F.mse_loss(model(x), x).backward()
    optimizer.step()
    running = meter.step()
meter.report()
dist.destroy_process_group()
