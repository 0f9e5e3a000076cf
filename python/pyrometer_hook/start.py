"""Puts all parts in place, once, when torch has been imported."""
import atexit
import os

from . import environment, loader, optimizer, steps
from .runtime import rt

# Order matters only where one part reads what another has set: steps come first.
PARTS = (
    ("steps", steps.install),
    ("loader", loader.install),
    ("optimizer", optimizer.install),
    ("environment", environment.install),
)


def _never():
    return False


def is_compiling_function(torch):
    """torch.compiler.is_compiling, which torch.compile takes as true while it traces.

    A wrapper that traced code may call asks this first and then is as good as not there.
    """
    compiler = getattr(torch, "compiler", None)
    function = getattr(compiler, "is_compiling", None)
    if function is not None:
        return function
    dynamo = getattr(torch, "_dynamo", None)
    return getattr(dynamo, "is_compiling", None) or _never


def start(torch, finder):
    """Never raises. `finder` is sitecustomize's: parts may wait for further modules with it."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=rt.after_fork)
    atexit.register(rt.end)
    for part, install in PARTS:
        try:
            install(torch, finder)
        except Exception:
            rt.failed(part)
