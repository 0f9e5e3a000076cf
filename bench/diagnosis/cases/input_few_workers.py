"""Image classification with a transform of 25 ms per sample, fed by two loader workers.

Truth
  report: C001 C003
  class: input
  causes: input.too_few_workers|input.bound
  also: input.bound
  never: input.serial_loader input.respawned_workers sync.* launch.* precision.* transfer.*
  fix: 12 workers
  cpu: judged
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
BATCH, WORK_S = (4, 4e-3) if args.tiny else (32, 25e-3)
WORKERS = 12 if args.fixed else 2


def augment(image):
    """Stands for decoding and augmentation: keeps a core busy."""
    end = time.perf_counter() + WORK_S
    while time.perf_counter() < end:
        image = image.flip(-1)
    return image


class Samples(Dataset):
    def __len__(self):
        return 100_000

    def __getitem__(self, index):
        return augment(torch.randn(3, 64, 64)), index % 1000


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


class Trainer:
    def __init__(self, model, loader, meter):
        self.model, self.loader, self.meter = model, loader, meter
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def training_step(self, batch):
        images, labels = (part.to(device, non_blocking=True) for part in batch)
        with torch.autocast(device.type, torch.bfloat16):
            return F.cross_entropy(self.model(images), labels)

    def fit(self):
        self.model.train()
        for batch in self.loader:
            self.optimizer.zero_grad()
            self.training_step(batch).backward()
            self.optimizer.step()
            if not self.meter.step():
                break
        self.meter.report()


loader = DataLoader(Samples(), batch_size=BATCH, num_workers=WORKERS, pin_memory=True,
                    persistent_workers=True)
Trainer(resnet(4 if args.tiny else 64, 1 if args.tiny else 4).to(device), loader,
        Meter(args.steps, BATCH)).fit()
