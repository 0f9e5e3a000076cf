"""Puts all parts in place, once, when torch has been imported."""
import atexit
import os

from . import (
    backward,
    checkpoint,
    compile_events,
    environment,
    flops,
    gc_pauses,
    loader,
    memory,
    modules,
    optimizer,
    overrides,
    profiler,
    sampler,
    steps,
    sync_calls,
    trackers,
)
from .runtime import rt

PARTS = (
    ("steps", steps.install),
    ("loader", loader.install),
    ("optimizer", optimizer.install),
    ("forward", modules.install),
    ("backward", backward.install),
    ("checkpoint", checkpoint.install),
    ("compile", compile_events.install),
    ("gc", gc_pauses.install),
    ("logging", trackers.install),
    ("profiler", profiler.install),
    ("environment", environment.install),
    ("memory", memory.install),
    ("sampler", sampler.install),
    ("sync", sync_calls.install),
    ("flops", flops.install),
)


def is_compiling_function(torch):
    """torch.compiler.is_compiling, which torch.compile takes as true while it traces.

    A wrapper that traced code may call asks this first and then is as good as not there.
    """
    compiler = getattr(torch, "compiler", None)
    function = getattr(compiler, "is_compiling", None)
    if function is not None:
        return function
    dynamo = getattr(torch, "_dynamo", None)
    # bool() is False, and no frame that a program's own tracer would be called for.
    return getattr(dynamo, "is_compiling", None) or bool


def start(torch, finder):
    """Never raises. `finder` is sitecustomize's: parts may wait for further modules with it."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=rt.before_fork, after_in_child=rt.after_fork)
    atexit.register(rt.end)
    for part, install in PARTS:
        try:
            install(torch, finder)
        except Exception:
            rt.failed(part)
    if overrides.asked():
        try:
            from .overrides.install import install

            install(torch, finder)
        except Exception:
            rt.failed("overrides")
