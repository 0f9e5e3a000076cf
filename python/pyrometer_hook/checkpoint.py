"""Checkpoints: torch.save and load, distributed checkpoints, safetensors."""
import io
import os
from threading import get_ident

from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt

_PART = "checkpoint"
_SHORTEST_NS = 1000 * 1000  # in memory


class _State:
    def __init__(self):
        self.owner = 0  # ident of the thread inside one; calls inside it do not count


# An instance: to set an attribute of a class costs a microsecond.
_state = _State()


def _size(target):
    """Bytes of the file just written; -1 unknown. Asks nothing of objects of unknown types."""
    try:
        home = type(target).__module__  # "pathlib", in Python 3.13 "pathlib._local"
        if isinstance(target, (str, bytes)) or home.partition(".")[0] == "pathlib":
            return os.stat(target).st_size
        if type(target) in (io.BytesIO, io.BufferedWriter):
            return target.tell()
    except Exception:
        pass
    return -1


def _make(name, writes, position):
    """`position`: of the file among the arguments, -1: none."""

    def make(original):
        def checkpoint(*args, **kwargs):
            thread = get_ident()
            phase = rt.phase[0]
            # A dataset that loads its samples this way is input.
            if not rt.on or _state.owner == thread or phase == lib.PHASE_INPUT:
                return original(*args, **kwargs)
            _state.owner = thread
            rt.phase[0] = lib.PHASE_CHECKPOINT
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
                try:
                    target = None
                    if position >= 0:
                        target = args[position] if len(args) > position else kwargs.get("f")
                    # Pickling a tensor saves it to memory: not a checkpoint unless it is large.
                    if end - start > _SHORTEST_NS or type(target) is not io.BytesIO:
                        size = _size(target) if writes and target is not None else -1
                        rt.emit_or_keep(lib.CHECKPOINT, 0, name, start, end, size, -1)
                except Exception:
                    rt.failed(_PART)

        return checkpoint

    return make


def install(torch, finder):
    patches = Patches()
    rt.part_off[_PART] = patches.undo
    serialization = torch.serialization
    for name, writes, position in (("save", True, 1), ("load", False, 0)):
        patches.wrap_shared((serialization, torch), name, _make("torch." + name, writes, position))

    def distributed(module):
        homes = [module] + [
            value for key, value in vars(module).items()
            if key.startswith("state_dict_") and hasattr(value, "__file__")
        ]
        for name in ("save", "async_save", "load", "save_state_dict", "load_state_dict"):
            patches.wrap_shared(homes, name, _make("distributed " + name, "save" in name, -1))

    def safetensors(module):
        patches.wrap(module, "save_file", _make("safetensors.save_file", True, 1))
        patches.wrap(module, "load_file", _make("safetensors.load_file", False, -1))

    finder.after("torch.distributed.checkpoint", distributed)
    finder.after("safetensors.torch", safetensors)
