"""A small training, as anyone would write it: nothing in here knows of Pyrometer.

Its data loader does its work in the training process. `train_small.py --workers 2` is the remedy.
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    """Noisy sine waves to tell apart by their frequency; making one costs about a millisecond."""

    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        label = index % 10
        time = torch.linspace(0, 1, 1024)
        wave = sum(torch.sin(6.28 * (label + 1) * k * time + index) / k for k in range(1, 24))
        return wave + 0.1 * torch.randn(1024), label


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--steps", type=int, default=200)
    options = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(1024, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Waves(32 * options.steps), batch_size=32, num_workers=options.workers)
    for step, (waves, labels) in enumerate(loader):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(waves.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print("step %3d  loss %.3f" % (step, loss.item()))


if __name__ == "__main__":
    main()
