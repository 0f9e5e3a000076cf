"""Controls: nothing planted, so a diagnosis above 'info' is a false alarm."""
import torch

from common import Case, Variant, adamw, burn, captured, fixed_batch, start_tracer, train_step
from input import Feed, conv_variant, samples
from layout import channels
from models import Transformer, mlp, square_loss, token_loss, transformer_batch


def transformer(env, _fixed):
    model = Transformer(env.size(4, 1), env.size(1024, 16), env.size(16, 2)).to(env.device)
    batch = transformer_batch(env, env.size(16, 2), env.size(1024, 8))
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              token_loss, env, amp=True))


def conv(env, _fixed):
    return channels(env, True)


def elementwise(env, _fixed):
    rows, width = env.size(8192, 8), env.size(8192, 16)
    scale = torch.ones(width, device=env.device, requires_grad=True)
    shift = torch.zeros(width, device=env.device, requires_grad=True)
    optimizer = adamw([scale, shift], env)
    inputs, targets = env.randn(rows, width), env.randn(rows, width)

    def forward(x):
        for _ in range(4):
            x = torch.tanh(x * scale + shift)
        return x
    return Variant(train_step(forward, optimizer, fixed_batch(inputs, targets), square_loss, env))


def loader(env, _fixed):
    feed = Feed(env, samples(env, lambda: burn(1)), workers=8)
    return conv_variant(env, feed, width=384, blocks=8, warmup=10)


def big_mlp(env, _fixed):
    width, rows = env.size(8192, 16), env.size(8192, 8)
    model = mlp(width, 4).to(env.device)
    batch = env.randn(rows, width), env.randn(rows, width)
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              square_loss, env, amp=True))


def graph(env, _fixed):
    model = Transformer(env.size(4, 1), env.size(512, 16), env.size(8, 2)).to(env.device)
    model = model.to(torch.bfloat16)
    batch = transformer_batch(env, env.size(16, 1), env.size(256, 4))
    step = train_step(model, adamw(model.parameters(), env, capturable=True),
                      fixed_batch(*batch), token_loss, env)
    if env.cuda:
        start_tracer()
    return Variant(captured(step, env))


def accumulation(env, _fixed, micro_batches=4):
    model = Transformer(env.size(2, 1), env.size(1024, 16), env.size(16, 2)).to(env.device)
    optimizer = adamw(model.parameters(), env)
    tokens, targets = transformer_batch(env, env.size(16, 2), env.size(512, 8))

    def step():
        optimizer.zero_grad(set_to_none=True)
        for _ in range(micro_batches):
            with env.autocast():
                loss = token_loss(model(tokens), targets) / micro_batches
            loss.backward()
        optimizer.step()
    return Variant(step)


CASES = [
    Case(name, "none", f"control: {what}", build, control=True, active=active)
    for name, what, build, active in (
        ("ctl_transformer_bf16", "bf16 transformer, batch 16x1024, compute-bound", transformer, 4),
        ("ctl_conv_bf16", "bf16 residual net, channels_last, compute-bound", conv, 4),
        ("ctl_memory_bound", "element-wise chain on 8192x8192 fp32, memory-bound", elementwise, 6),
        ("ctl_loader_ok", "8 persistent pinned workers, 1 ms of CPU per sample, compute-bound",
         loader, 6),
        ("ctl_large_fp8less", "4-layer MLP of width 8192, bf16 autocast, compute-bound",
         big_mlp, 6),
        ("ctl_graph", "whole training step replayed as one CUDA graph", graph, 8),
        ("grad_accum_healthy", "4 accumulated micro-batches per step, compute-bound",
         accumulation, 4))
]
