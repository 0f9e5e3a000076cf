"""Image classification; photos are cropped, flipped and normalised with NumPy as they are read.

Truth
  report: C011
  class: input
  causes: input.serial_loader
  also: transfer.pageable_h2d
  never: sync.* launch.* precision.* compute.*
  fix: 8 persistent workers, pinned memory, non_blocking
  cpu: judged
"""
import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SIDE, BATCH = (96, 8) if args.tiny else (192, 64)


class Photos(Dataset):
    def __init__(self, count):
        self.count, self.random = count, np.random.default_rng(0)
        self.photo = self.random.integers(0, 256, (SIDE * 5 // 4, SIDE * 5 // 4, 3), dtype=np.uint8)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        top, left = self.random.integers(0, SIDE // 4, 2)
        image = self.photo[top:top + SIDE, left:left + SIDE].astype(np.float32) / 255
        if self.random.random() < 0.5:
            image = image[:, ::-1]
        image = np.power(image, self.random.uniform(0.8, 1.2))
        image = (image - image.mean((0, 1))) / (image.std((0, 1)) + 1e-5)
        return torch.from_numpy(np.ascontiguousarray(image.transpose(2, 0, 1))), index % 1000


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


workers = dict(num_workers=2 if args.tiny else 8, persistent_workers=True, pin_memory=True)
loader = DataLoader(Photos(BATCH * 40), batch_size=BATCH, shuffle=True,
                    **(workers if args.fixed else {}))
model = resnet(4 if args.tiny else 64, 1 if args.tiny else 4)
model = model.to(device, memory_format=torch.channels_last)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=device.type == "cuda")
meter, running = Meter(args.steps, BATCH, skip=5), True
while running:
    for images, labels in loader:
        images = images.to(device, non_blocking=args.fixed)
        images = images.contiguous(memory_format=torch.channels_last)
        labels = labels.to(device, non_blocking=args.fixed)
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        running = meter.step()
        if not running:
            break
meter.report()
