"""Pre-training; the training thread itself tokenises and packs text, in Python.

Truth
  report: C013
  class: input
  causes: launch.host_code|input.serial_loader
  also: steps.outliers launch.cpu_work
  never: sync.* precision.* input.respawned_workers launch.tiny_kernels
  fix: tokenised beforehand
  predict: no finding can know that the work can be done beforehand
"""
import argparse
import random
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
BATCH, LENGTH, WIDTH = (2, 64, 32) if args.tiny else (32, 1024, 768)
WORDS = ["".join(random.Random(i).choices("abcdefghij", k=6)) for i in range(500)]
LETTERS = "abcdefghij"
VOCABULARY = {piece: number for number, piece in enumerate(
    list(LETTERS + " ") + [a + b for a in LETTERS for b in LETTERS])}


def tokenise(text):
    """Greedy longest match of one or two letters."""
    tokens, at = [], 0
    while at < len(text):
        size = 2 if text[at:at + 2] in VOCABULARY else 1
        tokens.append(VOCABULARY[text[at:at + size]])
        at += size
    return tokens


def packed(source):
    """Rows of LENGTH + 1 tokens, cut from documents that follow each other."""
    buffer = []
    while True:
        rows = []
        while len(rows) < BATCH:
            while len(buffer) <= LENGTH:
                buffer += tokenise(" ".join(source.choices(WORDS, k=200)))
            rows.append(buffer[:LENGTH + 1])
            del buffer[:LENGTH + 1]
        yield torch.tensor(rows)


def ready(source):
    """The same rows, tokenised before training."""
    stream = packed(source)
    kept = [next(stream).pin_memory() if device.type == "cuda" else next(stream)
            for _ in range(8)]
    while True:
        yield from kept


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.norm1, self.norm2 = heads, nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(
            batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        if hasattr(F, "scaled_dot_product_attention"):
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            y = (q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5).softmax(-1) @ v
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, layers, width, heads, vocabulary=8192):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


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


model = LanguageModel(1 if args.tiny else 2, WIDTH, 2 if args.tiny else 12, 128).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=device.type == "cuda")
meter = Meter(args.steps, BATCH)
for rows in (ready if args.fixed else packed)(random.Random(0)):
    rows = rows.to(device, non_blocking=args.fixed)
    with torch.autocast(device.type, torch.bfloat16):
        scores = model(rows[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
