"""A report in HTML is read back and written anew every ten steps; it grows all the time.

Truth
  report: C084
  class: pauses
  causes: launch.host_code|pauses.logging
  also: steps.outliers sync.blocking_calls
  never: input.* precision.* transfer.* layout.* launch.unfused_optimizer launch.tiny_kernels
  fix: lines appended to a file
  period: 10
  predict: no finding can know how small the work can be made
"""
import argparse
import os
import tempfile
import time

import torch
from torch import nn
from torch.nn import functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
ROWS, WIDTH, OLD_ROWS = (8, 16, 2000) if args.tiny else (4096, 1024, 20_000)


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


class Page:
    def __init__(self, folder):
        self.path = os.path.join(folder, "index.html")
        with open(self.path, "w", encoding="utf-8") as file:
            file.writelines(f"<tr><td>{i}</td><td>{i / 7:.4f}</td></tr>\n" for i in range(OLD_ROWS))

    def add(self, step, loss):
        line = f"<tr><td>{step}</td><td>{loss:.4f}</td></tr>\n"
        if args.fixed:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
            return
        with open(self.path, encoding="utf-8") as file:
            cells = [row.replace("</td></tr>", "").split("<td>")[1:] for row in file]
        cells.sort(key=lambda row: row[1])
        with open(self.path, "w", encoding="utf-8") as file:
            for row in cells:
                file.write("<tr><td>" + "<td>".join(row).strip() + "</td></tr>\n")
            file.write(line)


def train(page):
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.Linear(WIDTH, WIDTH)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
    x = torch.randn(ROWS, WIDTH, device=device)
    meter, step, running = Meter(args.steps, ROWS), 0, True
    while running:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            loss = F.mse_loss(model(x), x)
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            page.add(step, loss.item())
        running, step = meter.step(), step + 1
    meter.report()


with tempfile.TemporaryDirectory() as folder:
    train(Page(folder))
