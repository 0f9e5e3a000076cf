"""Blocking tensor calls with the user's line, only inside a window that the monitor opens."""
import sys

from . import library as lib
from .patching import Patches, leave_no_trace
from .places import place, user_frame
from .runtime import now, rt
from .steps import steps

_PART = "sync"
_METHODS = ("item", "tolist", "cpu", "numpy", "nonzero", "__bool__", "__float__", "__int__",
            "__index__", "to", "cuda", "unique", "masked_select")
_SHORTEST_NS = 2000
_MOST = 2000  # records in one window


def torch_compiles():
    """Whether torch.compile has been at work: it looks at what it traces, such as Tensor.item."""
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return bool(counters) and bool(counters.get("frames"))


class _Window:
    def __init__(self, torch):
        self.torch = torch
        self.patches = Patches()
        self.open = False
        self.left = 0

    def boundary(self, time):
        wanted = bool(rt.control_bits & lib.SYNC_WINDOW)
        if wanted and not self.open and torch_compiles():
            rt.part_off[_PART]()
            rt.off(_PART, "torch.compile is used, which might compile anew for wrapped methods")
            return
        if wanted and not self.open:
            self.left = _MOST
            self._wrap()
        elif self.open and (not wanted or self.left <= 0):
            self.patches.undo()
        self.open = wanted

    def _wrap(self):
        tensor = self.torch.Tensor
        for name in _METHODS:
            original = getattr(tensor, name, None)
            if original is None:
                continue
            wrapper = self._make(name, original)
            if name in vars(tensor):
                self.patches.wrap(tensor, name, lambda _, made=wrapper: made)
            else:
                wrapper.__name__, wrapper.__doc__ = name, getattr(original, "__doc__", None)
                self.patches.add(tensor, name, wrapper)
        for owner, name in ((self.torch.cuda, "synchronize"),
                            (self.torch.cuda.Stream, "synchronize"),
                            (self.torch.cuda.Event, "synchronize")):
            self.patches.wrap(owner, name, lambda original: self._make("synchronize", original))

    def _make(self, name, original):
        window = self
        tensor = self.torch.Tensor

        def call(*args, **kwargs):
            if not rt.on or (args and isinstance(args[0], tensor) and not args[0].is_cuda
                             and name not in ("to", "cuda")):
                return original(*args, **kwargs)
            start = now()
            try:
                result = original(*args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            end = now()
            if end - start > _SHORTEST_NS and window.left > 0:
                window.tell(name, start, end, args, result)
            return result

        return call

    def tell(self, name, start, end, args, result):
        try:
            if name in ("to", "cuda") and (result is args[0] or not (
                    args[0].is_cuda or result.is_cuda)):
                return
            self.left -= 1
            user = user_frame(sys._getframe(2))
            text = "%s %s" % (name, place(user).partition(" ")[0] if user else "-")
            rt.emit(lib.SYNC_CALL, 0, rt.name(text), start, end)
        except Exception:
            rt.failed(_PART)


def install(torch, finder):
    window = _Window(torch)
    boundary = rt.guarded(_PART, window.boundary)

    def undo():
        window.patches.undo()
        if boundary in steps.at_boundary:
            steps.at_boundary.remove(boundary)

    rt.part_off[_PART] = undo
    rt.at_end.append(window.patches.undo)
    steps.at_boundary.append(boundary)
