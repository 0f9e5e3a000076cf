"""Pauses of Python's cyclic garbage collector over 0.1 ms."""
import gc

from . import library as lib
from .runtime import now, rt

_PART = "gc"
_SHORTEST_NS = 100 * 1000


class _State:
    def __init__(self):
        self.start = 0


# An instance: to set an attribute of a class costs a microsecond.
_state = _State()


def _callback(phase, info):
    try:
        if phase == "start":
            _state.start = now()
        elif _state.start:
            start, _state.start = _state.start, 0
            end = now()
            if end - start > _SHORTEST_NS and rt.on:
                rt.emit(lib.GC, 0, 0, start, end,
                        info.get("generation", -1), info.get("collected", -1))
    except Exception:
        pass


def _remove():
    if _callback in gc.callbacks:
        gc.callbacks.remove(_callback)


def install(torch, finder):
    rt.part_off[_PART] = _remove
    rt.at_attach.append(lambda: gc.callbacks.append(_callback))
    rt.at_end.append(_remove)
