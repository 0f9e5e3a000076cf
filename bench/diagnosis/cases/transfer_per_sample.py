"""Detection with images of their own sizes in a list; each sample is sent to the device by itself.

Truth
  report: C034
  class: transfer
  causes: transfer.small_copies
  also: transfer.pageable_h2d launch.bound launch.tiny_kernels
  never: input.* precision.* launch.unfused_optimizer
  fix: one stacked, pinned batch
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=150)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
SAMPLES, SIDE, CLASSES = (8, 16, 4) if args.tiny else (256, 64, 20)


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


class Engine:
    """The loop that came with the model."""

    def __init__(self, model):
        self.model = model.to(device, memory_format=torch.channels_last)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def to_device(self, samples):
        images = [image.to(device) for image, _ in samples]
        boxes = [box.to(device) for _, box in samples]
        return torch.stack(images), torch.stack(boxes)

    def update(self, images, boxes):
        images = images.contiguous(memory_format=torch.channels_last)
        self.optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.l1_loss(self.model(images), boxes)
        loss.backward()
        self.optimizer.step()


samples = [(torch.randn(3, SIDE, SIDE), torch.rand(4)) for _ in range(SAMPLES)]
images = torch.stack([image for image, _ in samples])
boxes = torch.stack([box for _, box in samples])
if device.type == "cuda":
    images, boxes = images.pin_memory(), boxes.pin_memory()
engine = Engine(nn.Sequential(nn.Conv2d(3, 64, 4, stride=4), nn.ReLU(),
                              nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(),
                              nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 4)))
meter, running = Meter(args.steps, SAMPLES), True
while running:
    if args.fixed:
        batch = images.to(device, non_blocking=True), boxes.to(device, non_blocking=True)
    else:
        batch = engine.to_device(samples)
    engine.update(*batch)
    running = meter.step()
meter.report()
