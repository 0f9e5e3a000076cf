"""A wide model and small batches: gradients take longer than the backward pass can hide.

Truth
  report: C124
  class: ranks
  causes: comm.exposed
  also: comm.low_overlap
  never: input.* precision.* transfer.* layout.* sync.*
  fix: 32 times the batch
  gpus: 2
  launch: torchrun
  predict: the finding's model does not change the batch
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
WIDTH, LAYERS = (32, 2) if args.tiny else (8192, 6)
ROWS = (4 if args.tiny else 64) * (32 if args.fixed else 1)


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


class Trainer:
    def __init__(self, model):
        self.model = DistributedDataParallel(model, device_ids=[device.index] if cuda else None)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

    def train(self, x, meter):
        running = True
        while running:
            with torch.autocast(device.type, torch.bfloat16):
                loss = F.mse_loss(self.model(x), x)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            running = meter.step()
        meter.report()


layers = (nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(LAYERS))
Trainer(nn.Sequential(*layers).to(device)).train(torch.randn(ROWS, WIDTH, device=device),
                                                 Meter(args.steps, ROWS))
dist.destroy_process_group()
