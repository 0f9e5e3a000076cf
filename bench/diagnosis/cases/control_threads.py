"""Control (counter): workers with far too many threads, but the GPU sets the pace.

Truth
  report: C099
  class: control
  causes: none
  never: host.oversubscribed input.*
  fix: one thread per worker
"""
import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
WIDTH, LAYERS, LENGTH, BATCH = (32, 1, 16, 2) if args.tiny else (1280, 12, 1024, 16)


class Corpus(Dataset):
    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        mixing = torch.randn(128, 128)
        for _ in range(3):
            mixing = mixing @ mixing / 12
        return torch.randint(8192, (LENGTH + 1,))


def too_many(_):
    torch.set_num_threads(1 if args.fixed else 16)


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


model = LanguageModel(LAYERS, WIDTH, 2 if args.tiny else 20).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=device.type == "cuda")
loader = DataLoader(Corpus(), batch_size=BATCH, num_workers=1 if args.tiny else 4, pin_memory=True,
                    worker_init_fn=too_many)
meter = Meter(args.steps, BATCH)
for tokens in loader:
    tokens = tokens.to(device, non_blocking=True)
    optimizer.zero_grad()
    with torch.autocast(device.type, torch.bfloat16):
        loss = F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    if not meter.step():
        break
meter.report()
