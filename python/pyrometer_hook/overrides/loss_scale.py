"""The scaled loss that fp16 needs, unscaled again before backward() returns.

So what the program does with gradients (clipping, logging) sees them as ever. A backward whose
gradients are not finite drops them: the optimizer then has nothing to do, as a skipped step.
"""
from ..patching import Patches, leave_no_trace
from ..steps import steps
from . import models

_START = 65536.0
_GROW_AFTER = 2000  # backwards without overflow
_FACTOR = 2.0
_LEAST = 1.0


class LossScale:
    def __init__(self, override, torch):
        self.override = override
        self.torch = torch
        self.scale = _START
        self.good = 0
        self.step = -1  # index of the step in which the last backward was
        self.inside = False
        self.patches = Patches()

    def install(self):
        self.patches.wrap(self.torch.autograd, "backward", self._make)

    def undo(self):
        self.patches.undo()

    def _make(self, original):
        def backward(tensors, grad_tensors=None, *args, **kwargs):
            override = self.override
            if not override.on or not override.is_proven or self.inside:
                return original(tensors, grad_tensors, *args, **kwargs)
            loss = self._loss(tensors, grad_tensors)
            if loss is None:
                return original(tensors, grad_tensors, *args, **kwargs)
            if self.step == steps.index:
                override.cannot("gradients are accumulated over several backwards")
                return original(tensors, grad_tensors, *args, **kwargs)
            self.step = steps.index
            self.inside = True
            try:
                result = original(loss * self.scale, grad_tensors, *args, **kwargs)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                self.inside = False
            override.guard(self._unscale)
            return result

        return backward

    def _loss(self, tensors, grad_tensors):
        if isinstance(tensors, (list, tuple)) and len(tensors) == 1:
            tensors = tensors[0]
        is_loss = isinstance(tensors, self.torch.Tensor) and tensors.numel() == 1
        return tensors if is_loss and grad_tensors is None else None

    def _unscale(self):
        torch = self.torch
        parameters = [parameter for optimizer in models.optimizers()
                      for group in optimizer.param_groups for parameter in group["params"]
                      if parameter.grad is not None]
        if not parameters:
            return
        grads = [parameter.grad for parameter in parameters]
        with torch.no_grad():
            torch._foreach_mul_(grads, 1.0 / self.scale)
            finite = torch.stack([torch.isfinite(grad).all().to(grads[0].device) for grad in grads])
            is_finite = bool(finite.all())
        if not is_finite:
            for parameter in parameters:
                parameter.grad = None
            self.scale = max(self.scale / _FACTOR, _LEAST)
            self.good = 0
            return
        self.good += 1
        if self.good >= _GROW_AFTER:
            self.scale *= _FACTOR
            self.good = 0
