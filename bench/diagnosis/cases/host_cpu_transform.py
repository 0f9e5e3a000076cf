"""Augmentation on CPU tensors within the training loop.

Truth
  report: C091
  class: host
  causes: launch.cpu_work
  also: transfer.pageable_h2d transfer.host_created host.oversubscribed
  never: input.* precision.* launch.tiny_kernels layout.* sync.*
  fix: the same operators on the device
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, SIDE = (2, 16) if args.tiny else (64, 128)


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return F.relu(x + self.body(x))


def resnet(width, blocks, classes=1000):
    return nn.Sequential(nn.Conv2d(3, width, 7, stride=4, padding=3), nn.ReLU(),
                         *(Residual(width) for _ in range(blocks)),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, classes))


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


def augment(images):
    for shift in range(6):
        images = (images * 0.9 + 0.01 * shift).clamp(0, 1)
    return images.flip(-1)


raw = torch.rand(BATCH, 3, SIDE, SIDE).contiguous(memory_format=torch.channels_last)
if device.type == "cuda":
    raw = raw.pin_memory()
labels = torch.randint(1000, (BATCH,), device=device)
model = resnet(4 if args.tiny else 64, 1 if args.tiny else 2)
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
meter, running = Meter(args.steps, BATCH), True
while running:
    if args.fixed:
        images = augment(raw.to(device, non_blocking=True))
    else:
        images = augment(raw).to(device)
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
