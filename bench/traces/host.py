"""Host causes: settings that slow every operator or stop the host."""
import torch

from common import Case, Variant, adamw, cores, fixed_batch, train_step
from models import (ConvNet, Transformer, class_loss, mlp, square_loss, token_loss,
                    transformer_batch)

TOO_MANY = 64


def oversubscribed(env, fixed):
    side = env.size(64, 16)
    raw, labels = torch.rand(env.size(64, 2), 3, side, side), env.labels(1000, env.size(64, 2))

    def feed():
        images = raw
        for shift in range(6):
            images = (images * 0.9 + 0.01 * shift).clamp(0, 1)
        return images.to(env.device), labels
    model = ConvNet(env.size(32, 8), 1).to(env.device)
    step = train_step(model, adamw(model.parameters(), env), feed, class_loss, env)
    threads = min(8, cores()) if fixed else env.size(TOO_MANY, 4)
    return Variant(step, enter=lambda: torch.set_num_threads(threads))


def anomaly(env, fixed):
    model = Transformer(env.size(3, 1), env.size(256, 16), env.size(4, 2)).to(env.device)
    batch = transformer_batch(env, env.size(4, 1), env.size(128, 4))
    step = train_step(model, adamw(model.parameters(), env), fixed_batch(*batch), token_loss, env)
    return Variant(step, enter=lambda: torch.autograd.set_detect_anomaly(not fixed))


def blocking(env, fixed):
    """The cause is in the environment alone: both sides run the same step."""
    model = Transformer(env.size(4, 1), env.size(512, 16), env.size(8, 2)).to(env.device)
    batch = transformer_batch(env, env.size(8, 1), env.size(256, 4))
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              token_loss, env, amp=True))


def specialise_floats():
    """Have a changed Python float recompile every time, and never give up compiling."""
    import torch._dynamo.config as config
    for name, value in (("specialize_float", True), ("automatic_dynamic_shapes", False),
                        ("recompile_limit", 10_000), ("cache_size_limit", 10_000),
                        ("accumulated_recompile_limit", 10_000),
                        ("accumulated_cache_size_limit", 10_000)):
        if hasattr(config, name):
            setattr(config, name, value)


def recompile(env, fixed):
    specialise_floats()
    width = env.size(512, 16)
    model = mlp(width, 3).to(env.device)
    calls = 0

    # aot_eager: no compiler toolchain needed, and the recompilations stay short.
    @torch.compile(backend="aot_eager")
    def scaled(x, scale):
        return torch.tanh(x * scale) + scale

    def forward(x):
        nonlocal calls
        calls += 1
        scale = 1.0 + calls * 1e-4
        return scaled(model(x), torch.tensor(scale) if fixed else scale)
    batch = env.randn(256, width), env.randn(256, width)
    return Variant(train_step(forward, adamw(model.parameters(), env), fixed_batch(*batch),
                              square_loss, env))


CASES = [
    Case("thread_oversub", "host (thread oversubscription)",
         "CPU transform in the main process with 64 intra-op threads; fix: 8 threads",
         oversubscribed, active=12),
    Case("anomaly_mode", "host (anomaly mode)",
         "autograd anomaly detection on, 3-layer transformer; fix: off",
         anomaly),
    Case("launch_blocking", "host (CUDA_LAUNCH_BLOCKING=1)",
         "CUDA_LAUNCH_BLOCKING=1, 4-layer transformer, bf16 autocast; fix: unset",
         blocking, planted_env={"CUDA_LAUNCH_BLOCKING": "1"}, own_process=True),
    Case("recompile", "compile (recompilation each step)",
         "torch.compile (aot_eager) called with a Python float that changes each step; "
         "fix: a tensor",
         recompile, active=8, max_steps=40, needs="compile"),
]
