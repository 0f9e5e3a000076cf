"""A recurrent layer written as a Python loop over time.

Truth
  report: own
  class: launch
  causes: launch.bound|launch.tiny_kernels
  also: memory.batch_headroom
  never: input.* transfer.* precision.* sync.* layout.*
  fix: nn.LSTM
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
LENGTH, BATCH, WIDTH = (6, 4, 16) if args.tiny else (96, 64, 256)


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


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(WIDTH, WIDTH)

    def forward(self, frames):
        state, outputs = None, []
        for frame in frames:
            state = self.cell(frame, state)
            outputs.append(state[0])
        return torch.stack(outputs)


class Fused(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(WIDTH, WIDTH)

    def forward(self, frames):
        return self.lstm(frames)[0]


torch.set_float32_matmul_precision("high")
model = nn.Sequential(Fused() if args.fixed else Loop(), nn.Linear(WIDTH, WIDTH)).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
frames = torch.randn(LENGTH, BATCH, WIDTH, device=device)
meter, running = Meter(args.steps, BATCH), True
while running:
    optimizer.zero_grad(set_to_none=True)
    loss = F.mse_loss(model(frames[:-1]), frames[1:])
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    running = meter.step()
meter.report()
