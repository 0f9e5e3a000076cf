"""Transfer causes: copies between host and device, and data made on the wrong side."""
import torch

from common import Case, Variant, adamw, train_step
from models import ConvNet, class_loss, image_batch, mlp, square_loss


def pageable(env, fixed):
    batch = env.size(64, 2)
    images = torch.randn(batch, 3, env.size(224, 32), env.size(224, 32))
    labels = torch.randint(1000, (batch,))
    if fixed:
        images, labels = env.pinned(images), env.pinned(labels)

    def feed():
        return (images.to(env.device, non_blocking=fixed),
                labels.to(env.device, non_blocking=fixed))
    model = ConvNet(env.size(32, 8), env.size(2, 1)).to(env.device)
    return Variant(train_step(model, adamw(model.parameters(), env), feed, class_loss, env))


FIELDS = 300


def many_small(env, fixed):
    width = 64
    fields = {f"field{i}": torch.randn(8, width) for i in range(env.size(FIELDS, 4))}
    packed = env.pinned(torch.stack(list(fields.values())))
    targets = env.randn(8, width)

    def one_by_one():
        moved = {name: tensor.to(env.device) for name, tensor in fields.items()}
        return torch.stack(list(moved.values())).mean(0), targets

    def at_once():
        return packed.to(env.device, non_blocking=True).mean(0), targets
    model = mlp(width, 3).to(env.device)
    feed = at_once if fixed else one_by_one
    return Variant(train_step(model, adamw(model.parameters(), env), feed, square_loss, env))


def host_created(env, fixed):
    rows, width = env.size(4096, 8), env.size(1024, 16)
    targets = env.randn(rows, width)

    def feed():
        noise = (torch.randn(rows, width, device=env.device) if fixed
                 else torch.randn(rows, width).to(env.device))
        return noise, targets
    model = mlp(width, 4).to(env.device)
    return Variant(train_step(model, adamw(model.parameters(), env), feed, square_loss, env))


def outputs_to_host(env, fixed):
    images, labels = image_batch(env, env.size(64, 2), env.size(128, 32))
    model = ConvNet(env.size(64, 8), env.size(4, 1))
    model.head = torch.nn.Identity()            # dense features: [batch, width]
    decoder = torch.nn.Linear(env.size(64, 8), env.size(100_000, 10))
    net = torch.nn.Sequential(model, decoder).to(env.device)
    optimizer = adamw(net.parameters(), env)
    labels = labels % env.size(100_000, 10)
    kept = []

    def step():
        optimizer.zero_grad(set_to_none=True)
        scores = net(images)
        loss = class_loss(scores, labels)
        loss.backward()
        optimizer.step()
        kept[:] = [scores.detach() if fixed else scores.detach().cpu()]
    return Variant(step)


CASES = [
    Case("h2d_pageable2", "copy.h2d from pageable memory",
         "64x3x224x224 fp32 batch copied from pageable memory each step, small model; "
         "fix: pinned + non_blocking",
         pageable, active=12),
    Case("h2d_many_small", "copy.h2d (many small copies)",
         "300 tensors of 2 KB copied one by one; fix: one packed pinned buffer, one copy",
         many_small, active=6),
    Case("host_created", "copy.h2d (created on the host)",
         "torch.randn(4096, 1024) on the CPU, then copied, each step; fix: device=",
         host_created, active=12),
    Case("d2h_in_step", "copy.d2h in the step",
         "64x100000 fp32 outputs copied to the host each step; fix: kept on the device",
         outputs_to_host, active=8),
]
