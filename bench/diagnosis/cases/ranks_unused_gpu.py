"""One process was started on a machine with two GPUs.

Truth
  report: C115
  class: ranks
  causes: device.unused
  also: compute.bound
  never: input.* precision.* transfer.* layout.* sync.* launch.*
  fix: a process for each GPU
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
WIDTH, LAYERS, LENGTH, BATCH = (32, 1, 16, 2) if args.tiny else (1024, 8, 512, 16)
rank, world = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
if world > 1:
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(
            batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, layers, width, heads, vocabulary=8192):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def now():
    torch.cuda.synchronize()
    return time.perf_counter()


model = LanguageModel(LAYERS, WIDTH, 2 if args.tiny else 16).cuda()
if world > 1:
    model = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
tokens = torch.randint(8192, (BATCH, LENGTH + 1), device="cuda")
for step in range(10 + args.steps):
    if step == 10:
        began = now()
    optimizer.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
seconds = now() - began
if rank == 0:
    print(f"throughput: {world * BATCH * args.steps / seconds:.2f} samples/s, "
          f"{1e3 * seconds / args.steps:.4f} ms per step, {args.steps} steps")
if world > 1:
    dist.destroy_process_group()
