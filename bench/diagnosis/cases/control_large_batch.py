"""Control (counter): the spiking network at a large batch; capturing it as a graph gains nothing.

Truth
  report: C044
  class: control
  causes: none
  never: launch.* sync.* memory.batch_headroom
  fix: forward and backward replayed as CUDA graphs
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, WIDTH, TIME = (8, 16, 3) if args.tiny else (32768, 1024, 8)


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


class Spiking(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(2))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        volts, counts = [torch.zeros_like(x) for _ in self.layers], 0
        for _ in range(TIME):
            y = x
            for number, layer in enumerate(self.layers):
                volts[number] = volts[number] * 0.9 + layer(y)
                y = torch.sigmoid(4 * (volts[number] - 1))
                volts[number] = volts[number] - y.detach()
            counts = counts + y
        return self.head(counts)


model = Spiking().to(device, torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(BATCH, WIDTH, device=device, dtype=torch.bfloat16)
labels = torch.randint(10, (BATCH,), device=device)
forward = model
if args.fixed and device.type == "cuda":
    forward = torch.cuda.make_graphed_callables(model, (x.clone(),))
meter, running = Meter(args.steps, BATCH), True
while running:
    optimizer.zero_grad()
    F.cross_entropy(forward(x).float(), labels).backward()
    optimizer.step()
    running = meter.step()
meter.report()
