"""PYROMETER_LOSS: the losses of the first steps, for comparing variants.

A loss is the one number that backward() is called on; of a step with several, their mean. It is
copied on its device at that moment and read only when enough steps are over.
"""
import bisect
import math
import weakref

from .. import library as lib
from ..patching import Patches, leave_no_trace
from ..runtime import now, rt

_PART = "loss"
_MOST = 100000  # numbers kept at most


class Losses:
    def __init__(self, torch, steps):
        self.torch = torch
        self.wanted = steps
        self.kept = []  # (time ns, tensor)
        self.ends = []  # of steps
        self.scaled = None  # (weakref of GradScaler's result, the loss itself)
        self.patches = Patches()
        self.inside = False

    # -- during a step ---------------------------------------------------------------------------

    def keep(self, tensors):
        if isinstance(tensors, (list, tuple)):
            if len(tensors) != 1:
                return
            tensors = tensors[0]
        torch = self.torch
        if not isinstance(tensors, torch.Tensor) or tensors.numel() != 1 or len(self.kept) > _MOST:
            return
        if torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing():
            return  # a copy would become part of the program's CUDA graph
        scaled, self.scaled = self.scaled, None
        if scaled is not None and scaled[0]() is tensors:
            value = scaled[1]  # copied when it was scaled
        else:
            with torch.no_grad():
                value = tensors.detach().clone()
        self.kept.append((now(), value))

    def scaling(self, result, loss):
        torch = self.torch
        both = isinstance(result, torch.Tensor) and isinstance(loss, torch.Tensor)
        if both and loss.numel() == 1:
            with torch.no_grad():
                self.scaled = (weakref.ref(result), loss.detach().clone())

    # -- when a step is over ---------------------------------------------------------------------

    def step_ended(self, end):
        self.ends.append(end)
        # One step later: the last of them has been computed by then, or nearly so.
        if len(self.ends) > self.wanted:
            self.write()

    def write(self):
        """Reads them, which waits for the device once."""
        kept, self.kept = self.kept, []
        ends, self.ends = self.ends[:self.wanted], []
        self.wanted = 0
        self.patches.undo()
        sums = [[] for _ in ends]
        for time, value in kept:
            step = bisect.bisect_left(ends, time)
            if step < len(ends):
                sums[step].append(float(value))
        bad = None
        for step, (end, values) in enumerate(zip(ends, sums)):
            if not values:
                continue
            mean = math.fsum(values) / len(values) if all(map(math.isfinite, values)) else math.nan
            if math.isfinite(mean):
                rt.counter("loss", mean, end)
            elif bad is None:
                bad = step
                rt.info("loss.not_finite", "step %d" % step)
        rt.info("loss.steps", sum(1 for values in sums if values))

    def at_end(self):
        if self.wanted:
            self.write()


def install(torch, finder, count):
    losses = Losses(torch, count)
    rt.part_off[_PART] = losses.patches.undo

    def make_backward(original):
        def backward(*args, **kwargs):
            if losses.inside or not losses.wanted or not rt.on:
                return original(*args, **kwargs)
            losses.inside = True
            try:
                losses.keep(args[0] if args else kwargs.get("tensors"))
            except Exception:
                rt.failed(_PART)
            try:
                return original(*args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                losses.inside = False

        return backward

    def make_scale(original):
        def scale(self, outputs, *args, **kwargs):
            result = original(self, outputs, *args, **kwargs)
            try:
                if losses.wanted:
                    losses.scaling(result, outputs)
            except Exception:
                rt.failed(_PART)
            return result

        return scale

    def attached():
        inner = rt.emit
        step = lib.STEP

        def emit(kind, flags, name, start, end, a=-1, b=-1):
            inner(kind, flags, name, start, end, a, b)
            if kind == step and losses.wanted:
                rt.guard(_PART, losses.step_ended, end)

        rt.emit = emit

    losses.patches.wrap(torch.autograd, "backward", make_backward)
    from ..optimizer import scalers

    for kind in scalers(torch):
        losses.patches.wrap(kind, "scale", make_scale)
    rt.at_attach.append(attached)
    rt.at_end.append(losses.at_end)
