"""Input causes: the step waits for the data loader."""
import time

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from common import Case, Variant, adamw, burn, train_step
from models import ConvNet, class_loss

BATCH = 32


class Samples(Dataset):
    """Ready-made samples whose retrieval costs what `work` costs."""

    def __init__(self, count, side, work):
        self.count, self.work = count, work
        self.image = np.random.default_rng(0).standard_normal((3, side, side), dtype=np.float32)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        self.work()
        return self.image, index % 1000


class Photos(Dataset):
    """8-bit images that are cropped, flipped, gamma-corrected and normalised with NumPy."""

    def __init__(self, count, side):
        self.count, self.side, self.random = count, side, np.random.default_rng(0)
        self.photo = self.random.integers(0, 256, (side * 5 // 4, side * 5 // 4, 3), dtype=np.uint8)

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        top, left = self.random.integers(0, self.side // 4, 2)
        image = self.photo[top:top + self.side, left:left + self.side]
        if self.random.random() < 0.5:
            image = image[:, ::-1]
        image = np.power(image.astype(np.float32) / 255, self.random.uniform(0.8, 1.2))
        image = (image - image.mean((0, 1))) / (image.std((0, 1)) + 1e-5)
        return np.ascontiguousarray(image.transpose(2, 0, 1), dtype=np.float32), index % 1000


def collate(samples):
    images, labels = zip(*samples)
    return torch.from_numpy(np.stack(images)), torch.tensor(labels)


class Feed:
    """An endless stream of device batches; the loader lives from `open` to `close` only."""

    def __init__(self, env, dataset, workers, persistent=True, pinned=True, batch=BATCH):
        self.env, self.pinned = env, pinned and env.cuda
        workers = min(workers, 2) if env.tiny else workers
        self.options = dict(dataset=dataset, batch_size=batch, num_workers=workers,
                            collate_fn=collate, pin_memory=self.pinned,
                            persistent_workers=persistent and workers > 0)
        self.loader = self.batches = None

    def open(self):
        self.loader = DataLoader(**self.options)
        self.batches = iter(self.loader)

    def close(self):
        self.loader = self.batches = None

    def __call__(self):
        try:
            images, labels = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            images, labels = next(self.batches)
        to = dict(device=self.env.device, non_blocking=self.pinned)
        return images.to(**to), labels.to(**to)


ENDLESS = 10_000_000


def conv_variant(env, feed, width=64, blocks=4, warmup=3):
    """A small convolution net that trains on what `feed` gives."""
    model = ConvNet(env.size(width, 8), env.size(blocks, 1)).to(env.device)
    step = train_step(model, adamw(model.parameters(), env), feed, class_loss, env)
    return Variant(step, enter=feed.open, leave=feed.close, warmup=warmup)


def samples(env, work, count=ENDLESS):
    return Samples(count, env.size(160, 32), work)


def few_workers(env, fixed):
    data = samples(env, lambda: burn(env.size(6, 1)))
    return conv_variant(env, Feed(env, data, workers=12 if fixed else 2))


def serial(env, fixed):
    data = Photos(ENDLESS, env.size(192, 32))
    return conv_variant(env, Feed(env, data, workers=8 if fixed else 0, pinned=fixed))


EPOCH_STEPS = 6


def respawn(env, fixed):
    batch = env.size(BATCH, 4)
    data = samples(env, lambda: burn(1), count=EPOCH_STEPS * batch)
    feed = Feed(env, data, workers=8, persistent=fixed, batch=batch)
    return conv_variant(env, feed, warmup=EPOCH_STEPS)


def bursts(env, fixed):
    data = samples(env, lambda: time.sleep(env.size(8e-3, 1e-3)))
    return conv_variant(env, Feed(env, data, workers=16 if fixed else 4), warmup=4)


CASES = [
    Case("loader_few_workers", "idle.input (too few workers)",
         "2 loader workers, 6 ms of CPU per sample, batch 32; fix: 12 workers",
         few_workers, active=12, period=12),
    Case("loader_serial2", "idle.input (serial loader)",
         "num_workers=0, NumPy crop/flip/gamma/normalise per sample, batch 32; "
         "fix: 8 persistent workers, pinned, non_blocking",
         serial, active=8),
    Case("loader_respawn", "idle.input (workers re-created)",
         "epochs of 6 steps, 8 workers that are not persistent, 1 ms of CPU per sample; "
         "fix: persistent_workers=True",
         respawn, active=12, period=EPOCH_STEPS),
    Case("loader_bursts", "idle.input (bursts, storage latency)",
         "4 workers, 8 ms of sleep per sample, batch 32: a burst of batches every 4 steps; "
         "fix: 16 workers",
         bursts, active=16, period=16),
]
