"""Control: a bf16 residual network in channels_last, eight pinned persistent workers.

Truth
  report: C011
  class: control
  causes: none
  fix: none
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, SIDE = (2, 32) if args.tiny else (128, 128)


class Images(Dataset):
    def __init__(self):
        self.images = torch.randint(0, 256, (64, 3, SIDE, SIDE), dtype=torch.uint8)

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        return self.images[index % 64].flip(-1), index % 1000


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


torch.backends.cudnn.benchmark = True
model = resnet(4 if args.tiny else 256, 1 if args.tiny else 16)
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
loader = DataLoader(Images(), batch_size=BATCH, num_workers=1 if args.tiny else 8,
                    pin_memory=True, persistent_workers=True)
meter, running, epoch = Meter(args.steps, BATCH), True, 0
while running:
    for images, labels in loader:
        images = images.to(device, non_blocking=True).float().div_(255)
        images = images.contiguous(memory_format=torch.channels_last)
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.cross_entropy(model(images), labels.to(device, non_blocking=True))
        loss.backward()
        optimizer.step()
        running = meter.step()
        if not running:
            break
    epoch += 1
meter.report()
