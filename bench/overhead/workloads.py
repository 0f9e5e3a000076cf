"""Plain training programs for measuring what recording costs. Nothing here knows of Pyrometer.

usage: workloads.py NAME [--seconds N] [--tell FILE]

mlp          two layers 1000-500-1, batch 32 on the device: bound by launching
transformer  4 layers of width 512, 16x256 tokens, fp32 with TF32
large        12 layers of width 1536, 16x1024 tokens, bf16 autocast: bound by the GPU
conv         residual network, 64x3x128x128, 8 loader workers, bf16 autocast

Prints steps and seconds; --tell writes the end of every step, ns of CLOCK_MONOTONIC, one per line.
--profile-turns switches torch.profiler on and off in turns and prints what its steps take more.
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


class Images(Dataset):
    """Random images, made with about a millisecond of CPU work each."""

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        image = torch.rand(3, 128, 128)
        return (image - 0.5) / 0.25, index % 1000


def device():
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def run_mlp():
    model = mlp(500, 2, inputs=1000, outputs=1).to(device())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(32, 1000, device=device())
    targets = torch.randn(32, 1, device=device())
    while True:
        optimizer.zero_grad()
        F.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        yield


def run_transformer(layers=4, width=512, heads=8, batch=16, length=256, bf16=False):
    torch.backends.cuda.matmul.allow_tf32 = True
    model = Transformer(layers, width, heads).to(device())
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(0, 8192, (batch, length), device=device())
    targets = torch.randint(0, 1024, (batch, length), device=device())
    while True:
        optimizer.zero_grad()
        with torch.autocast(device().type, torch.bfloat16, enabled=bf16):
            scores = model(tokens)
            loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten())
        loss.backward()
        optimizer.step()
        yield


def run_conv():
    torch.backends.cudnn.benchmark = True
    model = ConvNet(128, 8).to(device(), memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loader = DataLoader(Images(), batch_size=64, num_workers=8, pin_memory=True,
                        persistent_workers=True)
    for images, labels in loader:
        images = images.to(device(), non_blocking=True, memory_format=torch.channels_last)
        labels = labels.to(device(), non_blocking=True)
        optimizer.zero_grad()
        with torch.autocast(device().type, torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        yield


WORKLOADS = {
    "mlp": run_mlp,
    "transformer": run_transformer,
    "large": lambda: run_transformer(12, 1536, 16, 16, 1024, bf16=True),
    "conv": run_conv,
}


def turns_of_profiler(steps, seconds):
    """Ends of steps, ns, and whether torch.profiler ran: turns of half a second, on and off."""
    from torch.profiler import ProfilerActivity, profile
    begin = time.monotonic()
    ends, watched = [], []
    while time.monotonic() - begin < seconds:
        for on in (True, False):
            profiler = profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) if on else None
            if profiler is not None:
                profiler.start()
            for _ in range(3):  # settles
                next(steps)
            torch.cuda.synchronize()
            turn = time.monotonic()
            count = 0
            while time.monotonic() - turn < 0.5 or count < 4:
                next(steps)
                count += 1
            torch.cuda.synchronize()
            ends.append((time.monotonic() - turn) / count)
            watched.append(on)
            if profiler is not None:
                profiler.stop()
    return ends, watched


def print_turns(name, means, watched):
    """The cost of a watched step: each watched turn against the mean of its neighbours."""
    import math
    import statistics
    ratios = [math.log(means[i]) - (math.log(means[i - 1]) + math.log(means[i + 1])) / 2
              for i in range(1, len(means) - 1) if watched[i]]
    if len(ratios) < 3:
        print("%s: too few turns" % name)
        return
    mean = statistics.fmean(ratios)
    error = 1.155 * 2.1 * statistics.stdev(ratios) / math.sqrt(len(ratios))
    print("%s: %+.2f%% (95%% interval %+.2f%% to %+.2f%%, %d comparisons), %.3f ms per step"
          % (name, 100 * math.expm1(mean), 100 * math.expm1(mean - error),
             100 * math.expm1(mean + error), len(ratios),
             1e3 * statistics.median(m for m, w in zip(means, watched) if not w)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", choices=sorted(WORKLOADS))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--tell")
    parser.add_argument("--profile-turns", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    if options.profile_turns:
        steps = WORKLOADS[options.name]()
        for _ in range(30):
            next(steps)
        print_turns(options.name + " torch.profiler", *turns_of_profiler(steps, options.seconds))
        return
    ends = []
    begin = time.monotonic()
    for _ in WORKLOADS[options.name]():
        ends.append(time.monotonic_ns())
        if time.monotonic() - begin > options.seconds:
            break
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    print("%s: %d steps in %.1f s" % (options.name, len(ends), time.monotonic() - begin))
    if options.tell:
        with open(options.tell, "w") as file:
            file.write("".join("%d\n" % end for end in ends))


if __name__ == "__main__":
    main()
