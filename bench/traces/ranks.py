"""Two-GPU causes: data-parallel training with one rank or the communication at fault."""
import contextlib

from torch.nn.parallel import DistributedDataParallel

from common import Case, Variant, adamw, burn, fixed_batch, train_step
from input import Feed, samples
from models import (ConvNet, Transformer, class_loss, deep_narrow, mlp, square_loss, token_loss,
                    transformer_batch)
from sync import masked_step

SLOW_RANK = 1


def parallel(env, model, **options):
    devices = [env.device] if env.cuda else None
    return DistributedDataParallel(model.to(env.device), device_ids=devices,
                                   gradient_as_bucket_view=True, **options)


def is_slow(env):
    return env.ranks.rank == SLOW_RANK


def transformer_variant(env, batch=8, layers=4, after=None, amp=True, **options):
    model = Transformer(env.size(layers, 1), env.size(1024, 16), env.size(16, 2))
    model = parallel(env, model, **options)
    tokens = transformer_batch(env, env.size(batch, max(1, batch // 8)), env.size(1024, 8))
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*tokens),
                              token_loss, env, amp=amp, after=after))


def healthy(env, _fixed):
    return transformer_variant(env)


def imbalance(env, fixed):
    batch = 12 if fixed else 16 if is_slow(env) else 8
    return transformer_variant(env, batch=batch)


def slow_input(env, fixed):
    slow = is_slow(env) and not fixed
    feed = Feed(env, samples(env, lambda: burn(1)), workers=0 if slow else 4, pinned=not slow)
    model = parallel(env, ConvNet(env.size(128, 8), env.size(6, 1)))
    step = train_step(model, adamw(model.parameters(), env), feed, class_loss, env)
    return Variant(step, enter=feed.open, leave=feed.close, warmup=6)


def slow_host(env, fixed):
    slow = is_slow(env) and not fixed
    return transformer_variant(env, batch=4, after=(lambda _: burn(20)) if slow else None)


def accumulate(env, fixed, micro_batches=4):
    model = parallel(env, mlp(env.size(4096, 16), 6))
    optimizer = adamw(model.parameters(), env)
    inputs, targets = (env.randn(env.size(1024, 4), env.size(4096, 16)) for _ in range(2))

    def step():
        optimizer.zero_grad(set_to_none=True)
        for micro in range(micro_batches):
            local = fixed and micro < micro_batches - 1
            with model.no_sync() if local else contextlib.nullcontext():
                with env.autocast():
                    loss = square_loss(model(inputs), targets) / micro_batches
                loss.backward()
        optimizer.step()
    return Variant(step)


def exposed(env, fixed):
    width, rows = env.size(8192, 16), env.size(2048 if fixed else 32, 4)
    model = parallel(env, mlp(width, 4))
    batch = env.randn(rows, width), env.randn(rows, width)
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              square_loss, env, amp=True))


def small_buckets(env, fixed):
    model = parallel(env, deep_narrow(env.size(768, 8), env.size(48, 2)),
                     bucket_cap_mb=25 if fixed else 1)
    width = env.size(768, 8)
    batch = env.randn(env.size(512, 4), width), env.randn(env.size(512, 4), width)
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              square_loss, env))


def find_unused(env, fixed):
    return transformer_variant(env, batch=4, find_unused_parameters=not fixed)


def item_reads(env, fixed):
    return Variant(masked_step(env, fixed, env.size(10, 2), lambda model: parallel(env, model)))


CASES = [
    Case("ddp_healthy2", "none",
         "control, 2 GPUs: bf16 transformer, batch 8x1024 per rank",
         healthy, control=True, gpus=2),
    Case("ddp_imbalance2", "comm.skew (compute)",
         "2 GPUs, rank 1 has batch 16, rank 0 has 8; fix: 12 each (same total)",
         imbalance, gpus=2),
    Case("ddp_slow_input", "comm.skew (input of one rank)",
         "2 GPUs, rank 1 has num_workers=0 and 1 ms of CPU per sample, batch 32; "
         "fix: 4 pinned persistent workers as on rank 0",
         slow_input, active=8, gpus=2),
    Case("ddp_slow_host", "comm.skew (host of one rank)",
         "2 GPUs, rank 1 spends 20 ms per step in Python; fix: none spent",
         slow_host, gpus=2),
    Case("ddp_no_sync_missing", "comm (accumulation without no_sync)",
         "2 GPUs, 4 accumulated micro-batches, gradients reduced in each; fix: no_sync()",
         accumulate, gpus=2),
    Case("ddp_exposed_comm", "comm.exposed",
         "2 GPUs, 268 M parameters, batch 32 per rank; fix: batch 2048 "
         "(samples per step x64, ms/step as given)",
         exposed, active=6, gpus=2),
    Case("ddp_small_buckets", "comm (bucket_cap_mb=1)",
         "2 GPUs, 48 linear layers of width 768, bucket_cap_mb=1; fix: 25",
         small_buckets, active=6, gpus=2),
    Case("ddp_find_unused", "none (find_unused_parameters)",
         "control, 2 GPUs: find_unused_parameters=True though all are used; fix: False; "
         "no gain expected",
         find_unused, gpus=2),
    Case("ddp_item_sync", "sync (many blocking reads), 2 GPUs",
         "2 GPUs, 40 .item() reads per step between small kernels; fix: counts on the device",
         item_reads, active=6, gpus=2),
]
