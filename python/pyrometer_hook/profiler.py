"""Gives the GPU trace back while torch.profiler runs: two tracers in one process lose records."""
import os

from . import library as lib
from .patching import Patches
from .runtime import now, rt

_PART = "profiler"
_ATTRIBUTE = "_pyrometer_start"


class _State:
    def __init__(self):
        self.open = 0  # profilers that hold the trace


# An instance: to set an attribute of a class costs a microsecond.
_state = _State()


def _wrap_prepare(original):
    def _prepare_trace(self, *args, **kwargs):
        try:
            if rt.on and rt.attach() and _ATTRIBUTE not in self.__dict__:
                _state.open += 1
                if _state.open == 1:
                    rt.library.give_way()
                self.__dict__[_ATTRIBUTE] = now()
        except Exception:
            rt.failed(_PART)
        return original(self, *args, **kwargs)

    return _prepare_trace


def _wrap_exit(original):
    def __exit__(self, *args, **kwargs):
        try:
            return original(self, *args, **kwargs)
        finally:
            try:
                start = self.__dict__.pop(_ATTRIBUTE, 0)
                if start and rt.library is not None:
                    rt.emit(lib.PROFILER, 0, 0, start, now())
                    _state.open -= 1
                    if _state.open == 0:
                        rt.library.resume()
            except Exception:
                rt.failed(_PART)

    return __exit__


def install(torch, finder):
    patches = Patches()
    rt.part_off[_PART] = patches.undo
    kind = torch.autograd.profiler.profile
    if not ("_prepare_trace" in vars(kind) and "__exit__" in vars(kind)):
        rt.off(_PART, "torch.autograd.profiler.profile is not as known")
        return
    if os.environ.get("KINETO_USE_DAEMON"):
        rt.at_attach.append(_give_way_for_good)
        return
    patches.wrap(kind, "_prepare_trace", _wrap_prepare)
    patches.wrap(kind, "__exit__", _wrap_exit)


def _give_way_for_good():
    rt.library.give_way()
    rt.info("hook.profiler", "yielded: KINETO_USE_DAEMON is set")
