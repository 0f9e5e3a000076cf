"""Accuracy and a confusion matrix are computed on the CPU and printed in every step.

Truth
  report: C037 C039
  class: sync
  causes: sync.blocking_calls|transfer.d2h_in_step
  also: launch.cpu_work launch.bound pauses.logging launch.host_code
  never: input.* precision.* layout.* transfer.pageable_h2d
  fix: metrics accumulate on the device
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH, CLASSES = (32, 16, 4) if args.tiny else (16384, 512, 100)


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


class Metrics:
    def __init__(self):
        self.correct = torch.zeros((), device=device)

    def update(self, scores, labels, loss):
        if args.fixed:
            self.correct += (scores.argmax(1) == labels).float().mean()
            return
        guesses, truth = scores.float().cpu().argmax(1), labels.cpu()
        cells = torch.bincount(truth * CLASSES + guesses, minlength=CLASSES ** 2)
        recall = cells.view(CLASSES, CLASSES).diagonal().float() / truth.bincount(
            minlength=CLASSES).clamp(min=1)
        self.line = f"loss {loss.item():.4f} recall {recall.mean().item():.3f}"


model = nn.Sequential(nn.Linear(WIDTH, 1024), nn.ReLU(), nn.Linear(1024, CLASSES)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
x = torch.randn(ROWS, WIDTH, device=device)
labels = torch.randint(CLASSES, (ROWS,), device=device)
meter, metrics = Meter(args.steps, ROWS), Metrics()
while True:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(x)
        loss = F.cross_entropy(scores, labels)
    loss.backward()
    optimizer.step()
    metrics.update(scores.detach(), labels, loss)
    if not meter.step():
        break
meter.report()
