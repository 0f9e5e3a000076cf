"""backward(): Tensor.backward calls torch.autograd.backward, which is wrapped."""
from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt
from .steps import steps

_PART = "backward"


class _State:
    def __init__(self):
        self.inside = False  # also while autograd's own threads run checkpointed segments


# An instance: to set an attribute of a class costs a microsecond.
_state = _State()


def _make(original):
    def backward(*args, **kwargs):
        if not rt.on or _state.inside:
            return original(*args, **kwargs)
        _state.inside = True
        phase = rt.phase[0]
        rt.phase[0] = lib.PHASE_BACKWARD
        start = now()
        try:
            return original(*args, **kwargs)
        except BaseException as error:
            leave_no_trace(error)
            raise
        finally:
            end = now()
            _state.inside = False
            rt.phase[0] = phase
            if not steps.start:
                steps.start = start
            rt.emit(lib.BACKWARD, 0, 0, start, end)

    return backward


def install(torch, finder):
    patches = Patches()
    rt.part_off[_PART] = patches.undo
    if not patches.wrap(torch.autograd, "backward", _make):
        rt.off(_PART, "no torch.autograd.backward")
