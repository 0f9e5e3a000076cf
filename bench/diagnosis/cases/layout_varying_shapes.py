"""Images of ever new sizes with cudnn.benchmark on.

Truth
  report: C059
  class: layout
  causes: layout.cudnn_benchmark
  also: allocator.calls_in_step memory.fluctuation steps.outliers sync.blocking_calls
        layout.channels_first
  never: input.* transfer.* precision.* launch.unfused_optimizer
  fix: cudnn.benchmark off
"""
import argparse
import random
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, LEAST, MOST = (1, 32, 40) if args.tiny else (8, 300, 500)


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


torch.backends.cudnn.benchmark = not args.fixed
sizes = random.Random(0)
model = resnet(4 if args.tiny else 64, 1 if args.tiny else 4)
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
labels = torch.randint(1000, (BATCH,), device=device)
meter, running = Meter(args.steps, BATCH, skip=3), True
while running:
    height, width = sizes.randint(LEAST, MOST), sizes.randint(LEAST, MOST)
    images = torch.randn(BATCH, 3, height, width, device=device)
    images = images.contiguous(memory_format=torch.channels_last)
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    running = meter.step()
meter.report()
