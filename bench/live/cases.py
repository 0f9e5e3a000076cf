"""Training programs with one planted cause each.

usage: cases.py NAME [--fixed] [--steps N] [--trace FILE]

--trace records 12 steps with torch.profiler from step 40 on and writes them to FILE (its name with
.rankN before the ending where there are several ranks). Without it nothing is imported but torch.
"""
import argparse
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "traces"))
from models import ConvNet, Transformer, mlp  # noqa: E402


class Busy(Dataset):
    """Samples that cost a millisecond of CPU each."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        end = time.perf_counter() + 1e-3
        while time.perf_counter() < end:
            pass
        return torch.randn(256), index % 10


def tokens(batch, length):
    return (torch.randint(0, 8192, (batch, length), device="cuda"),
            torch.randint(0, 1024, (batch, length), device="cuda"))


def train_tokens(steps, model, batch, length, bf16, after=None):
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    x, y = tokens(batch, length)
    for step in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16, enabled=bf16):
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        optimizer.step()
        if after is not None:
            after(step, model, loss)
        yield


def healthy(steps, fixed):
    yield from train_tokens(steps, Transformer(12, 1536, 16), 16, 1024, True)


def loader_serial(steps, fixed):
    model = mlp(4096, 3, inputs=256, outputs=10).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
    loader = DataLoader(Busy(32 * steps), batch_size=32, num_workers=8 if fixed else 0,
                        pin_memory=fixed, persistent_workers=fixed)
    for x, y in loader:
        x, y = x.cuda(non_blocking=fixed), y.cuda(non_blocking=fixed)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()
        yield


def h2d_pageable(steps, fixed):
    model = ConvNet(64, 2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.randn(256, 3, 224, 224)
    if fixed:
        images = images.pin_memory()
    labels = torch.randint(0, 1000, (256,), device="cuda")
    for _ in range(steps):
        x = images.to("cuda", non_blocking=fixed)
        optimizer.zero_grad()
        with torch.autocast("cuda", torch.bfloat16):
            loss = F.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        yield


def launch_bound_mlp(steps, fixed):
    model = mlp(500, 2, inputs=1000, outputs=1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batch = 4096 if fixed else 32
    for _ in range(steps):
        where = "cuda" if fixed else "cpu"
        x = torch.randn(batch, 1000, device=where).cuda()
        y = torch.randn(batch, 1, device=where).cuda()
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        yield


def fp32_no_tf32(steps, fixed):
    torch.backends.cuda.matmul.allow_tf32 = False
    yield from train_tokens(steps, Transformer(6, 1024, 16), 16, 512, fixed)


def ckpt_sync(steps, fixed):
    def save(step, model, loss):
        if step % 5 == 4 and not fixed:
            torch.save(model.state_dict(), "/tmp/pyrometer_ckpt.pt")

    yield from train_tokens(steps, Transformer(6, 1024, 16), 8, 512, True, save)


def item_every_layer(steps, fixed):
    def look(step, model, loss):
        if not fixed:
            sum(float(p.grad.norm()) for p in model.parameters())

    yield from train_tokens(steps, Transformer(8, 768, 12), 8, 256, True, look)


def ddp_imbalance(steps, fixed):
    import torch.distributed as dist
    dist.init_process_group("nccl")
    rank = dist.get_rank()
    torch.cuda.set_device(rank)
    model = nn.parallel.DistributedDataParallel(Transformer(6, 1024, 16).cuda())
    yield from train_tokens(steps, model, 16, 512 if fixed or rank == 0 else 1024, True)
    dist.destroy_process_group()


CASES = {f.__name__: f for f in (healthy, loader_serial, h2d_pageable, launch_bound_mlp,
                                 fp32_no_tf32, ckpt_sync, item_every_layer, ddp_imbalance)}


def trace_name(name):
    rank = os.environ.get("RANK")
    return name if rank is None else name.replace(".json", ".rank%s.json" % rank)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(CASES))
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--trace")
    options = parser.parse_args()
    profiler = None
    if options.trace:
        from torch.profiler import ProfilerActivity, profile, schedule
        profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                           schedule=schedule(wait=36, warmup=4, active=12, repeat=1),
                           on_trace_ready=lambda p: p.export_chrome_trace(
                               trace_name(options.trace)))
        profiler.start()
    ends = []
    for _ in CASES[options.name](options.steps, options.fixed):
        ends.append(time.monotonic())
        if profiler is not None:
            profiler.step()
    torch.cuda.synchronize()
    last = time.monotonic()
    if profiler is not None:
        profiler.stop()
    skip = min(len(ends) - 2, 20)
    print("%s%s: %.3f ms per step" % (options.name, " fixed" if options.fixed else "",
                                      1e3 * (last - ends[skip]) / (len(ends) - 1 - skip)))


if __name__ == "__main__":
    main()
