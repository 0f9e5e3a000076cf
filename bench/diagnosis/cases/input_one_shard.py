"""Eight workers, but the data set is one shard: seven have nothing to do.

Truth
  report: C005
  class: input
  causes: input.bound|input.one_worker
  also: steps.outliers
  never: input.serial_loader input.too_few_workers input.respawned_workers sync.* launch.*
        precision.* transfer.*
  fix: as many shards as workers
  cpu: judged
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=40)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, SAMPLE_S = (4, 5e-3) if args.tiny else (32, 2e-3)
WORKERS = 2 if args.tiny else 8
SHARDS = WORKERS if args.fixed else 1


class Corpus(IterableDataset):
    def __iter__(self):
        worker = get_worker_info().id
        for _ in range(worker, SHARDS, WORKERS):
            while True:
                end = time.perf_counter() + SAMPLE_S
                while time.perf_counter() < end:
                    tokens = torch.randint(2048, (128,))
                yield tokens


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


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed, self.body = nn.Embedding(2048, width), nn.Linear(width, width)
        self.head = nn.Linear(width, 2048)

    def forward(self, tokens):
        return self.head(F.gelu(self.body(self.embed(tokens))))


model = Tagger(32 if args.tiny else 512).to(device)
optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
meter = Meter(args.steps, BATCH)
for tokens in DataLoader(Corpus(), batch_size=BATCH, num_workers=WORKERS, pin_memory=True):
    tokens = tokens.to(device, non_blocking=True)
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(tokens[:, :-1])
    F.cross_entropy(scores.flatten(0, 1).float(), tokens[:, 1:].flatten()).backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
