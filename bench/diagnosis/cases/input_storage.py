"""Many small files on storage where opening one takes 8 ms; CPU and GPU both idle.

Truth
  report: C009 C007
  class: input
  causes: input.slow_storage|input.bound
  also: input.bound steps.outliers
  never: input.serial_loader input.decode_bound host.* sync.* launch.* precision.* transfer.*
  fix: one packed file that is mapped
  predict: the fix removes the latency, where the finding adds workers
  cpu: judged
"""
import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser()
parser.add_argument("--fixed", action="store_true")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--tiny", action="store_true", help="toy sizes, for a test without a GPU")
args = parser.parse_args()
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
BATCH, OPEN_S, FILES = (4, 8e-3, 64) if args.tiny else (32, 8e-3, 2000)
folder = Path(tempfile.mkdtemp(prefix="tiles-"))


class Tiles(Dataset):
    def __init__(self):
        tile = np.random.default_rng(0).random((3, 48, 48), dtype=np.float32)
        for number in range(FILES):
            (folder / f"{number}.bin").write_bytes(tile.tobytes())
        packed = np.memmap(folder / "packed", np.float32, "w+", shape=(FILES, *tile.shape))
        packed[:] = tile
        self.packed = packed if args.fixed else None

    def __len__(self):
        return 1_000_000

    def __getitem__(self, index):
        number = index % FILES
        if self.packed is not None:
            return torch.from_numpy(np.array(self.packed[number])), index % 10
        time.sleep(OPEN_S)                  # the latency of a network file system
        data = np.fromfile(folder / f"{number}.bin", np.float32)
        return torch.from_numpy(data.reshape(3, 48, 48)), index % 10


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


def main():
    width = 8 if args.tiny else 1024
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 48 * 48, width), nn.ReLU(),
                          nn.Linear(width, 10)).to(device)
    optimizer = torch.optim.Adam(model.parameters(), fused=device.type == "cuda")
    loader = DataLoader(Tiles(), batch_size=BATCH, num_workers=2 if args.tiny else 6,
                        pin_memory=True)
    meter = Meter(args.steps, BATCH)
    for tiles, labels in loader:
        optimizer.zero_grad()
        with torch.autocast(device.type, torch.bfloat16):
            scores = model(tiles.to(device, non_blocking=True))
        F.cross_entropy(scores.float(), labels.to(device, non_blocking=True)).backward()
        optimizer.step()
        if not meter.step():
            break
    meter.report()


try:
    main()
finally:
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
