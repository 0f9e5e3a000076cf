"""FLOPs of one step, by torch's FlopCounterMode; only where `pyrometer run --count-flops` asks.

The counter looks at every operator from Python, which slows the step that it counts: that step is
told of, so that it is neither compared nor kept. Operators that torch does not know (kernels of
one's own) count nothing, and code that torch.compile or a CUDA graph runs does not come by: there
nothing is counted.
"""
import os
from threading import get_ident

from . import library as lib
from .runtime import now, rt
from .steps import steps
from .sync_calls import torch_compiles

_PART = "flops"
_FIRST_STEP = 10  # those before it warm up: caches, algorithms that are tried out


class _Counter:
    def __init__(self, torch, kind, top_mode):
        self.torch = torch
        self.kind = kind  # FlopCounterMode
        self.top_mode = top_mode  # the dispatch mode entered last, None: none
        self.mode = None  # while it counts
        self.thread = 0
        self.start = 0
        self.first = 0  # index of the first step that is counted

    def boundary(self, time):
        if self.mode is None:
            if steps.index >= _FIRST_STEP:
                self._begin(time)
        # Modes are a stack of each thread: ours can go when it is on top again.
        elif get_ident() == self.thread and self.top_mode() is self.mode:
            self._end()
        else:
            steps.look_next()

    def _begin(self, time):
        cuda = self.torch.cuda
        if torch_compiles():
            return self.give_up("torch.compile is used, whose code the counter does not see")
        if self.top_mode() is not None:
            return self.give_up("the program has a dispatch mode of its own")
        if cuda.is_initialized() and cuda.is_current_stream_capturing():
            return None  # another time
        mode = self.kind(display=False)
        mode.__enter__()
        self.mode, self.thread, self.start, self.first = mode, get_ident(), time, steps.index
        steps.look_next()
        return None

    def _end(self):
        mode = self.stop()
        count = steps.index - self.first
        flops = mode.get_total_flops()
        if torch_compiles():
            return self.give_up("torch.compile is used, whose code the counter does not see")
        if flops <= 0 or count <= 0:
            return self.give_up("torch's counter saw no operator that it knows")
        if steps.last_samples <= 0:
            return self.give_up("how many samples the step had is not known")
        rt.info("flops.step", flops // count)
        rt.info("flops.samples", steps.last_samples)
        return self.forget()

    def stop(self):
        """Leaves the mode; returns it."""
        mode, self.mode = self.mode, None
        mode.__exit__(None, None, None)
        rt.emit(lib.PROFILER, 0, rt.name("flops"), self.start, now())
        return mode

    def give_up(self, reason):
        rt.info("flops.missing", reason)
        self.forget()

    def forget(self):
        undo = rt.part_off.pop(_PART, None)
        if undo is not None:
            undo()


def install(torch, finder):
    if os.environ.get("PYROMETER_COUNT_FLOPS") != "1":
        return

    def first_step():
        # Not imported before: it takes a while, and most of its kind never need it.
        try:
            from torch.utils._python_dispatch import _get_current_dispatch_mode
            from torch.utils.flop_counter import FlopCounterMode
        except ImportError:
            rt.info("flops.missing", "this torch has no FlopCounterMode (2.1 and newer have)")
            return
        counter = _Counter(torch, FlopCounterMode, _get_current_dispatch_mode)
        boundary = rt.guarded(_PART, counter.boundary)

        def undo():
            if boundary in steps.at_boundary:
                steps.at_boundary.remove(boundary)
            # After a failure the training must not go on being counted.
            if counter.mode is not None and counter.top_mode() is counter.mode:
                counter.stop()

        rt.part_off[_PART] = undo
        rt.at_end.append(undo)
        steps.at_boundary.append(boundary)

    steps.at_first.append(first_step)
