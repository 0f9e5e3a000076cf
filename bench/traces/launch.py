"""Launch causes: the host issues work more slowly than the device finishes it."""
import torch

from common import Case, Variant, adamw, captured, fixed_batch, train_step
from models import Transformer, deep_narrow, square_loss, token_loss, transformer_batch

NARROW_BLOCKS = 76      # four parameters each: 304


def small_transformer_step(env, **optimizer_options):
    """A transformer at batch 1: its kernels are shorter than their launches."""
    model = Transformer(env.size(4, 1), env.size(256, 16), env.size(4, 2)).to(env.device)
    batch = transformer_batch(env, 1, env.size(64, 4))
    return train_step(model, adamw(model.parameters(), env, **optimizer_options),
                      fixed_batch(*batch), token_loss, env)


def small_batch(env, fixed):
    step = small_transformer_step(env, capturable=fixed)
    return Variant(captured(step, env) if fixed else step)


def narrow_step(env, after=None, blocks=NARROW_BLOCKS, **optimizer_options):
    width = env.size(128, 8)
    model = deep_narrow(width, env.size(blocks, 2)).to(env.device)
    batch = env.randn(32, width), env.randn(32, width)
    return train_step(model, adamw(model.parameters(), env, **optimizer_options),
                      fixed_batch(*batch), square_loss, env, after=after and after(model))


def unfused(env, fixed):
    options = {"fused": True} if fixed else {"foreach": False, "fused": False}
    # Half as many blocks: a trace has some forty events per parameter here.
    return Variant(narrow_step(env, blocks=NARROW_BLOCKS // 2, **options))


def foreach(env, fixed):
    options = {"fused": True} if fixed else {"foreach": True}
    return Variant(narrow_step(env, **options))


def recurrent(env, fixed):
    batch, length, width = env.size(32, 2), env.size(48, 3), env.size(256, 8)
    cell = (torch.nn.LSTM(width, width) if fixed else torch.nn.LSTMCell(width, width))
    model = cell.to(env.device)
    inputs, targets = env.randn(length, batch, width), env.randn(length, batch, width)

    def unroll(sequence):
        state, outputs = None, []
        for frame in sequence:
            state = model(frame, state)
            outputs.append(state[0])
        return torch.stack(outputs)

    forward = (lambda x: model(x)[0]) if fixed else unroll
    return Variant(train_step(forward, adamw(model.parameters(), env),
                              fixed_batch(inputs, targets), square_loss, env))


DECAY = 0.999


def ema_update(fixed):
    """Keeps an exponential moving average of the model, per parameter or in one call."""
    def attach(model):
        live = [p.detach() for p in model.parameters()]
        average = [p.clone() for p in live]

        def update(_):
            if not fixed:
                for mean, value in zip(average, live):
                    mean.lerp_(value, 1 - DECAY)
            elif hasattr(torch, "_foreach_lerp_"):
                torch._foreach_lerp_(average, live, 1 - DECAY)
            else:
                torch._foreach_mul_(average, DECAY)
                torch._foreach_add_(average, live, alpha=1 - DECAY)
        return update
    return attach


def ema(env, fixed):
    return Variant(narrow_step(env, after=ema_update(fixed)))


CASES = [
    Case("small_batch", "idle.launch (batch 1)",
         "4-layer transformer, batch 1x64; fix: the whole step captured as a CUDA graph",
         small_batch, active=8),
    Case("unfused_optimizer", "idle.launch (optimizer)",
         "AdamW(foreach=False, fused=False) over 152 small parameters; fix: fused=True",
         unfused, active=4),
    Case("optimizer_foreach", "idle.launch (optimizer)",
         "AdamW(foreach=True) over 304 small parameters; fix: fused=True",
         foreach, active=4),
    Case("python_rnn", "idle.launch (eager loop)",
         "LSTMCell in a Python loop over 48 frames; fix: nn.LSTM",
         recurrent, active=4),
    Case("ema_loop", "idle.launch (per-parameter loop)",
         "moving average over 304 parameters, one lerp_ each; fix: _foreach_lerp_",
         ema, active=4),
]
