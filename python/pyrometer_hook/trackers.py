"""Experiment trackers: calls of summary writers, wandb and mlflow that take over 0.1 ms."""
from threading import get_ident

from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt

_PART = "logging"
_SHORTEST_NS = 100 * 1000


class _State:
    def __init__(self):
        self.owner = 0  # ident of the thread inside a call


# An instance: to set an attribute of a class costs a microsecond.
_state = _State()


def _make(name):
    def make(original):
        def log(*args, **kwargs):
            thread = get_ident()
            if not rt.on or _state.owner == thread:
                return original(*args, **kwargs)
            _state.owner = thread
            phase = rt.phase[0]
            rt.phase[0] = lib.PHASE_LOGGING
            start = now()
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                end = now()
                _state.owner = 0
                rt.phase[0] = phase
                if end - start > _SHORTEST_NS and rt.attached:
                    rt.emit(lib.LOGGING, 0, rt.name(name), start, end)

        return log

    return make


def install(torch, finder):
    patches = Patches()
    rt.part_off[_PART] = patches.undo

    def writer(module):
        kind = vars(module).get("SummaryWriter")
        if isinstance(kind, type):
            for name in list(vars(kind)):
                if name.startswith("add_") or name in ("flush", "close"):
                    patches.wrap(kind, name, _make("SummaryWriter." + name))

    def wandb(module):
        kind = vars(module).get("Run")
        if isinstance(kind, type):
            for name in ("log", "log_artifact", "save", "watch"):
                patches.wrap(kind, name, _make("wandb." + name))

    def mlflow(module):
        for name in ("log_metric", "log_metrics", "log_artifact", "log_figure", "log_image"):
            patches.wrap(module, name, _make("mlflow." + name))

    finder.after("torch.utils.tensorboard.writer", writer)
    finder.after("tensorboardX.writer", writer)
    finder.after("wandb.sdk.wandb_run", wandb)
    finder.after("mlflow.tracking.fluent", mlflow)
