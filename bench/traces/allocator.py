"""Memory causes: the caching allocator worked against, growth, and little room."""
import torch
from torch.nn import functional as F

from common import Case, Variant, adamw, fixed_batch, train_step
from models import mlp, square_loss


def release(env):
    if env.cuda:
        torch.cuda.empty_cache()


def wide_mlp(env, width, rows, layers, after=None):
    width, rows = env.size(width, 16), env.size(rows, 8)
    model = mlp(width, layers).to(env.device)
    batch = env.randn(rows, width), env.randn(rows, width)
    return model, batch, train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                                    square_loss, env, after=after)


def empty_cache(env, fixed):
    after = None if fixed else lambda _: release(env)
    _, _, step = wide_mlp(env, 2048, 16384, 6, after)       # about 1.5 GB of activations
    return Variant(step)


def growth(env, fixed):
    model, (inputs, targets), train = wide_mlp(env, 2048, 2048, 6)
    history = []

    def step():
        train()
        metric = F.l1_loss(model(inputs), targets)      # graph and activations stay reachable
        history.append(metric.detach() if fixed else metric)

    def forget():
        history.clear()
        release(env)
    return Variant(step, leave=forget)


FULL = 0.93         # share of the device's memory taken by the ballast
SPARE = 4 << 30     # bytes left to the step and to the libraries in any case


def near_limit(env, fixed):
    _, _, step = wide_mlp(env, 2048, 8192, 6)
    ballast = []

    def fill():
        size = 1 << 20
        if env.cuda:
            release(env)
            free, total = torch.cuda.mem_get_info()
            size = int(min(FULL * total, free - SPARE))
        ballast.append(torch.empty(size, dtype=torch.uint8, device=env.device))

    def drop():
        ballast.clear()
        release(env)
    return Variant(step) if fixed else Variant(step, enter=fill, leave=drop)


CASES = [
    Case("empty_cache", "allocator (empty_cache each step)",
         "torch.cuda.empty_cache() every step, about 1.5 GB of activations; fix: none",
         empty_cache, active=8),
    Case("alloc_growth", "allocator (growth, graphs retained)",
         "a list keeps a metric with its graph each step (about 0.2 GB); fix: detach()",
         growth, active=12, max_steps=40, profile_memory=True),
    Case("mem_near_limit", "allocator (peak near the limit)",
         "a ballast takes 93% of the device's memory; fix: no ballast; no time gain expected",
         near_limit, active=6, profile_memory=True),
]
