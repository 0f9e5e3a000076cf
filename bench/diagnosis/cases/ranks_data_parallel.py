"""nn.DataParallel over two GPUs: the model is copied in each step, and two threads share the GIL.

Truth
  report: C133 C135
  class: ranks
  causes: ddp.data_parallel
  also: launch.bound launch.tiny_kernels launch.host_code comm.* memory.batch_headroom
        transfer.small_copies
  never: input.* precision.* layout.*
  fix: DistributedDataParallel
  gpus: 2
  launch: python torchrun
  needs: cuda
  predict: the replay has no model of another process layout
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
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
WIDTH, LAYERS, ROWS = (32, 4, 8) if args.tiny else (512, 40, 1024)
rank, world = 0, 1
if args.fixed:
    dist.init_process_group("nccl")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


def now():
    torch.cuda.synchronize()
    return time.perf_counter()


model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
                        for _ in range(LAYERS))).cuda()
if args.fixed:
    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
else:
    model = nn.DataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), fused=True)
x = torch.randn(2 * ROWS // world, WIDTH, device="cuda")
for step in range(10 + args.steps):
    if step == 10:
        began = now()
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        y = model(x)
    F.mse_loss(y.float(), x).backward()
    optimizer.step()
seconds = now() - began
if rank == 0:
    print(f"throughput: {2 * ROWS * args.steps / seconds:.2f} samples/s, "
          f"{1e3 * seconds / args.steps:.4f} ms per step, {args.steps} steps")
if args.fixed:
    dist.destroy_process_group()
