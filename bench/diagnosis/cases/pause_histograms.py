"""Histograms of all parameters and gradients are computed on the CPU and logged in each step.

Truth
  report: C082
  class: pauses
  causes: pauses.logging|launch.cpu_work|transfer.d2h_in_step|sync.blocking_calls
  also: launch.host_code launch.cpu_work transfer.d2h_in_step sync.blocking_calls
  never: input.* precision.* layout.* transfer.pageable_h2d launch.unfused_optimizer
  fix: logged every 500 steps
  predict: the cause has several names, whose fixes go less far
"""
import argparse
import json
import os
import tempfile
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
WIDTH, LAYERS, ROWS = (16, 2, 8) if args.tiny else (512, 12, 4096)
EVERY = 500 if args.fixed else 1


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


class Logger:
    def __init__(self, path):
        self.file = open(path, "w", encoding="utf-8")

    def histogram(self, name, tensor, step):
        counts = torch.histc(tensor.detach().float().cpu(), bins=64)
        self.file.write(json.dumps({"step": step, "name": name, "counts": counts.tolist()}) + "\n")


def train(logger):
    model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU())
                            for _ in range(LAYERS))).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
    x = torch.randn(ROWS, WIDTH, device=device)
    meter, step, running = Meter(args.steps, ROWS), 0, True
    while running:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.mse_loss(model(x), x)
        loss.backward()
        if step % EVERY == 0:
            for name, parameter in model.named_parameters():
                logger.histogram(name, parameter, step)
                logger.histogram(name + ".grad", parameter.grad, step)
        optimizer.step()
        running, step = meter.step(), step + 1
    meter.report()


with tempfile.TemporaryDirectory() as folder:
    train(Logger(os.path.join(folder, "log.jsonl")))
