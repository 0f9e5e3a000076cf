"""Synchronisation causes: the host reads values from the device and waits."""
import torch

from common import Case, Variant, adamw, fixed_batch, train_step
from models import Transformer, class_loss, mlp, token_loss, transformer_batch

BLOCKS, READS = 28, 4       # 112 reads per step


def masked_terms(x, reads, fixed):
    """Sums over the elements above thresholds, each divided by how many there are.

    Without the fix the host reads each count.
    """
    terms = 0.0
    for read in range(reads):
        mask = x.detach() > 0.1 * read
        count = mask.sum().clamp(min=1)
        terms = terms + (x * mask).sum() / (count if fixed else count.item())
    return terms


class MaskedBlocks(torch.nn.Module):
    """Small blocks, with masked loss terms after each."""

    def __init__(self, width, blocks, fixed):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(width, width) for _ in range(blocks))
        self.fixed = fixed

    def forward(self, x):
        loss = 0.0
        for layer in self.layers:
            x = torch.tanh(layer(x))
            loss = loss + masked_terms(x, READS, self.fixed)
        return loss


def masked_step(env, fixed, blocks, wrap=lambda model: model):
    width = env.size(256, 16)
    model = wrap(MaskedBlocks(width, blocks, fixed).to(env.device))
    return train_step(model, adamw(model.parameters(), env),
                      fixed_batch(env.randn(128, width), None), lambda loss, _: loss, env)


def many_items(env, fixed):
    return Variant(masked_step(env, fixed, env.size(BLOCKS, 2)))


def item_bound(env, fixed):
    model = Transformer(env.size(4, 1), env.size(1024, 32), env.size(16, 2)).to(env.device)
    batch = transformer_batch(env, env.size(16, 2), env.size(1024, 8))
    log = []
    after = None if fixed else lambda loss: log.append(loss.item())
    return Variant(train_step(model, adamw(model.parameters(), env), fixed_batch(*batch),
                              token_loss, env, amp=True, after=after))


def boolean_masks(env, fixed):
    width = env.size(512, 16)
    model = mlp(width, 3).to(env.device)
    optimizer = adamw(model.parameters(), env)
    inputs = env.randn(env.size(512, 8), width)
    masks = [env.randn(inputs.shape[0]) > 0 for _ in range(env.size(20, 2))]

    def step():
        optimizer.zero_grad(set_to_none=True)
        outputs = model(inputs).square().mean(1)
        if fixed:
            loss = sum((outputs * mask).sum() / mask.sum() for mask in masks)
        else:
            loss = sum(outputs[mask].mean() for mask in masks)
        loss.backward()
        optimizer.step()
    return Variant(step)


def host_metrics(env, fixed):
    classes, rows = 100, env.size(8192, 16)
    model = mlp(env.size(512, 16), 4, outputs=classes).to(env.device)
    optimizer = adamw(model.parameters(), env)
    inputs, targets = env.randn(rows, env.size(512, 16)), env.labels(classes, rows)
    correct = torch.zeros((), device=env.device)
    lines = []

    def step():
        optimizer.zero_grad(set_to_none=True)
        scores = model(inputs)
        loss = class_loss(scores, targets)
        loss.backward()
        optimizer.step()
        if fixed:
            correct.add_((scores.detach().argmax(1) == targets).float().mean())
            return
        guesses, truth = scores.detach().cpu().argmax(1), targets.cpu()
        confusion = torch.bincount(truth * classes + guesses, minlength=classes * classes)
        accuracy = (guesses == truth).float().mean().item()
        lines[:] = [f"loss {loss.item():.4f} accuracy {accuracy:.3f} seen {confusion.sum().item()}"]
    return Variant(step)


CASES = [
    Case("item_sync", "sync (many blocking reads)",
         "112 .item() reads of mask counts per step between small kernels; "
         "fix: counts stay on the device",
         many_items),
    Case("item_sync_bound", "none (one read per step, device-bound)",
         "control: loss.item() once a step in a bf16 transformer, batch 16x1024; "
         "fix: never read; no gain expected",
         item_bound),
    Case("nonzero_mask", "sync (boolean-mask indexing)",
         "x[mask] 20 times per step, a nonzero and a wait each; fix: multiply by the mask",
         boolean_masks),
    Case("print_metrics", "sync / copy.d2h (metrics on the CPU)",
         "accuracy and confusion counts on the CPU each step; fix: accumulated on the device",
         host_metrics, active=12),
]
