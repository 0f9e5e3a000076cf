"""Layout and algorithm choice of convolutions."""
import itertools

import torch

from common import Case, Variant, adamw, fixed_batch, train_step
from models import ConvNet, class_loss, image_batch


def channels(env, fixed):
    """Also used with fixed=True as a healthy convolution net."""
    model = ConvNet(env.size(256, 8), env.size(8, 1)).to(env.device)
    images, labels = image_batch(env, env.size(128, 2), env.size(160, 32))
    if fixed:
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(images, labels),
                              class_loss, env, amp=True))


def set_benchmark(value):
    def enter():
        torch.backends.cudnn.benchmark = value
    return enter


def shapes():
    """Heights and widths, every pair once."""
    pairs = list(itertools.product(range(64, 160, 3), repeat=2))
    order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(0)).tolist()
    return itertools.cycle(pairs[i] for i in order)


def varying(env, fixed):
    model = ConvNet(env.size(32, 8), 1).to(env.device)
    batch, sizes = env.size(8, 2), shapes()

    def feed():
        height, width = next(sizes)
        return env.randn(batch, 3, height, width), env.labels(1000, batch)
    step = train_step(model, adamw(model.parameters(), env), feed, class_loss, env)
    return Variant(step, enter=set_benchmark(not fixed), warmup=1)


def benchmark_off(env, fixed):
    model = ConvNet(env.size(128, 8), env.size(6, 1)).to(env.device)
    batch = image_batch(env, env.size(64, 2), env.size(128, 32))
    step = train_step(model, adamw(model.parameters(), env), fixed_batch(*batch), class_loss, env,
                      amp=True)
    return Variant(step, enter=set_benchmark(fixed))


CASES = [
    Case("channels_first", "layout (channels-first convolutions)",
         "residual net, bf16 autocast, NCHW, batch 128x3x160x160; fix: channels_last",
         channels),
    # cuDNN plans are cached per process whichever way they were chosen, hence own_process.
    Case("cudnn_varying", "layout (cudnn.benchmark, new shape each step)",
         "cudnn.benchmark=True and a new image size every step; fix: benchmark=False",
         varying, active=6, max_steps=40, own_process=True),
    Case("cudnn_benchmark_off", "layout (cudnn.benchmark off, fixed shape)",
         "control-like: fixed shapes, benchmark=False; fix: True; small gain or none expected",
         benchmark_off, own_process=True),
]
