"""Pauses: work between steps that comes back every few steps."""
import gc
import os
import tempfile

import numpy as np
import torch
from torch.profiler import record_function

from common import Case, Variant, adamw, every, fixed_batch, train_step
from models import Transformer, mlp, square_loss, token_loss, transformer_batch

PERIOD = 4
NEVER = 10 ** 9         # a period longer than any block


def small_mlp(env, after_of, width=1024, rows=2048, layers=6):
    """A short step with `after_of(model, optimizer)` at its end."""
    width, rows = env.size(width, 16), env.size(rows, 8)
    model = mlp(width, layers).to(env.device)
    optimizer = adamw(model.parameters(), env)
    batch = env.randn(rows, width), env.randn(rows, width)
    return train_step(model, optimizer, fixed_batch(*batch), square_loss, env,
                      after=after_of(model, optimizer))


def checkpoint(env, fixed):
    folder = tempfile.TemporaryDirectory()      # removed with the last reference, in `save`

    def saver(model, optimizer):
        def save():
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()},
                       os.path.join(folder.name, "state.pt"))
        return every(NEVER if fixed else PERIOD, save)
    return Variant(small_mlp(env, saver), warmup=PERIOD)


def validation(env, fixed):
    model = Transformer(env.size(2, 1), env.size(512, 16), env.size(8, 2)).to(env.device)
    batch = transformer_batch(env, env.size(16, 2), env.size(256, 8))
    held_out = [transformer_batch(env, env.size(16, 2), env.size(256, 8))
                for _ in range(env.size(12, 2))]

    def validate():
        with record_function("validation"), torch.no_grad():
            model.eval()
            for tokens, targets in held_out:
                token_loss(model(tokens), targets).item()
            model.train()
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              token_loss, env, amp=True,
                              after=every(NEVER if fixed else PERIOD, validate)), warmup=PERIOD)


def histograms(env, fixed):
    def logger(model, _):
        written = {}

        def log():
            for name, parameter in model.named_parameters():
                values = parameter.detach().cpu().numpy()
                written[name] = np.histogram(values, bins=64)
        return every(NEVER if fixed else 1, log)
    return Variant(small_mlp(env, logger, width=512))


def collections(env, fixed):
    """Many live Python objects, and a full collection every few steps."""
    heap = [[i] for i in range(env.size(2_000_000, 1000))]

    def litter(_model, _optimizer):
        collect = every(PERIOD, gc.collect)

        def after(_):
            for _ in range(1000):
                ring = [heap]
                ring.append(ring)
            collect()
        return after

    def enter():
        gc.collect()
        if fixed:
            gc.freeze()

    def leave():
        gc.unfreeze()
    return Variant(small_mlp(env, litter, width=512), enter=enter, leave=leave, warmup=PERIOD)


CASES = [
    Case("checkpoint", "idle.checkpoint",
         "torch.save of model and optimizer every 4 steps; fix: none in the window",
         checkpoint, active=12, period=PERIOD, max_steps=100),
    Case("validation_pause", "idle / pause (validation)",
         "12 validation batches, fp32, each read back, every 4 steps; fix: none in the window",
         validation, active=8, period=PERIOD),
    Case("logging_hist", "pause (logging)",
         "histograms of all parameters on the CPU each step; fix: none in the window",
         histograms, active=8),
    Case("gc_pause", "host (garbage collection)",
         "2 M live Python objects, gc.collect() every 4 steps; fix: gc.freeze() first",
         collections, active=12, period=PERIOD, own_process=True),
]
