"""Precision causes: matrix work at a slower rate than the device offers."""
import torch

from common import Case, Variant, adamw, fixed_batch, train_step
from models import (ConvNet, Transformer, class_loss, image_batch, mlp, square_loss, token_loss,
                    transformer_batch)


def no_amp(env, fixed):
    model = Transformer(env.size(4, 1), env.size(1024, 16), env.size(16, 2)).to(env.device)
    batch = transformer_batch(env, env.size(16, 2), env.size(512, 8))
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              token_loss, env, amp=fixed))


def no_tf32():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def conv_no_tf32(env, fixed):
    model = ConvNet(env.size(256, 8), env.size(6, 1)).to(env.device)
    batch = image_batch(env, env.size(64, 2), env.size(128, 32))
    step = train_step(model, adamw(model.parameters(), env), fixed_batch(*batch), class_loss, env)
    return Variant(step) if fixed else Variant(step, enter=no_tf32)


def grad_scaler(env):
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(env.device.type, enabled=env.cuda)
    return torch.cuda.amp.GradScaler(enabled=env.cuda)


def amp_tiny(env, fixed):
    width = env.size(128, 8)
    model = mlp(width, 4).to(env.device)
    optimizer, scaler = adamw(model.parameters(), env), grad_scaler(env)
    inputs, targets = env.randn(64, width), env.randn(64, width)
    plain = train_step(model, optimizer, fixed_batch(inputs, targets), square_loss, env)

    def scaled():
        optimizer.zero_grad(set_to_none=True)
        with env.autocast(dtype=torch.float16):
            loss = square_loss(model(inputs), targets)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return Variant(scaled if fixed else plain)


CASES = [
    Case("no_amp", "precision (fp32 with TF32)",
         "fp32 transformer with TF32, batch 16x512; fix: bf16 autocast",
         no_amp),
    Case("fp32_no_tf32_conv", "precision (TF32 off, convolutions)",
         "fp32 convolution net, TF32 off in cuDNN and matmul; fix: TF32 on",
         conv_no_tf32),
    Case("amp_tiny_counter", "none (AMP cannot help)",
         "control: tiny fp32 MLP, launch-bound; 'fix': fp16 autocast + GradScaler; "
         "no gain or a loss expected",
         amp_tiny, active=16),
]
