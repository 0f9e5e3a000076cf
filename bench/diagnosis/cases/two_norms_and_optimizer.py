"""Every gradient's norm is read, and then the optimizer goes through the parameters one by one.

Truth
  report: C039 C048
  class: launch
  causes: launch.unfused_optimizer sync.blocking_calls
  also: launch.bound launch.tiny_kernels launch.host_code pauses.logging memory.batch_headroom
  never: input.* precision.* transfer.* layout.*
  fix: norms in one call and unread, the fused optimizer
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
WIDTH, BLOCKS, ROWS = (8, 4, 8) if args.tiny else (256, 60, 1024)


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


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(BLOCKS))
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(BLOCKS))

    def forward(self, x):
        for norm, layer in zip(self.norms, self.layers):
            x = x + F.gelu(layer(norm(x)))
        return x


model = Mixer().to(device)
fused = dict(fused=True) if args.fixed and device.type == "cuda" else dict(foreach=args.fixed)
optimizer = torch.optim.AdamW(model.parameters(), **fused)
x = torch.randn(ROWS, WIDTH, device=device)
meter, running, norms = Meter(args.steps, ROWS), True, []
while running:
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.mse_loss(model(x), x)
    loss.backward()
    if args.fixed:
        norms = torch.nn.utils.clip_grad_norm_(model.parameters(), 1e9)
    else:
        norms = [p.grad.norm().item() for p in model.parameters()]
    optimizer.step()
    running = meter.step()
meter.report()
