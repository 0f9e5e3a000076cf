"""Eight accumulated micro-batches a step, and gradients are reduced in each of them.

Truth
  report: C122
  class: ranks
  causes: comm.repeated_reductions
  also: comm.exposed comm.low_overlap comm.skew
  never: input.* precision.* transfer.* layout.*
  fix: no_sync() for all but the last
  gpus: 2
  launch: torchrun
"""
import argparse
import contextlib
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
WIDTH, LAYERS, ROWS, PARTS = (32, 2, 4, 4) if args.tiny else (4096, 12, 256, 8)


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


model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
                        for _ in range(LAYERS))).to(device)
model = DistributedDataParallel(model, device_ids=[device.index] if cuda else None)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(PARTS, ROWS, WIDTH, device=device)
meter, running = Meter(args.steps, ROWS * PARTS, skip=5), True
while running:
    for number, part in enumerate(x):
        alone = args.fixed and number < PARTS - 1
        with model.no_sync() if alone else contextlib.nullcontext():
            with torch.autocast(device.type, torch.bfloat16):
                loss = F.mse_loss(model(part), part) / PARTS
            loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    running = meter.step()
meter.report()
dist.destroy_process_group()
