"""Puts in place what was asked for, once, when torch has been imported."""
import importlib

from ..runtime import rt
from .request import Request
from .table import TABLE


def make(name, value, on):
    module = importlib.import_module("." + TABLE[name][0], __package__)
    return module.make(name, value, on)


def install(torch, finder):
    """Never raises."""
    request = Request()
    alternating = []
    if request.seed is not None:
        _part("seed", "seed", torch, finder, request.seed)
    if request.losses:
        _part("loss", "loss", torch, finder, request.losses)
    for name, value in request.with_:
        _install(make, name, value, True, torch, finder)
    for name, value in request.alternate:
        if not TABLE[name][1]:
            rt.info("override." + name,
                    "cannot: because it cannot be put on and off within one process")
            request.alternate = alternating = []  # nothing is compared
            break
        override = _install(make, name, value, False, torch, finder)
        if override is not None:
            alternating.append(override)
    if request.is_trial:
        _part("trial", "trial", torch, finder, request, alternating)


def _install(factory, name, value, on, torch, finder):
    try:
        override = factory(name, value, on)
    except Exception:
        rt.failed("overrides")
        rt.info("override." + name, "cannot: because the hook has no such override")
        return None
    override.guard(override.install, torch, finder)
    return override


def _part(part, module, *arguments):
    try:
        importlib.import_module("." + module, __package__).install(*arguments)
    except Exception:
        rt.failed(part)
