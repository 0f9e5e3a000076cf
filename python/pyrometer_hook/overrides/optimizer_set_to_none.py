"""optimizer.set_to_none: zero_grad() drops gradients instead of filling them with zeros."""
import inspect
import sys

from .override import Override, Refused


class SetToNone(Override):
    def install(self, torch, finder):
        optimizer = sys.modules["torch.optim.optimizer"].Optimizer
        found = [self.wrap(kind) for kind in (optimizer, torch.nn.Module)]
        if not any(found):
            raise Refused("this torch's zero_grad() has no set_to_none")
        self.waiting("for a zero_grad() that fills with zeros")

    def wrap(self, kind):
        parameter = inspect.signature(kind.zero_grad).parameters.get("set_to_none")
        if parameter is None:
            return False
        default = bool(parameter.default)

        def make(original):
            def zero_grad(owner, set_to_none=default, *args, **kwargs):
                if not set_to_none and self.on:
                    self.applied("set_to_none False -> True")
                    set_to_none = True
                return original(owner, set_to_none, *args, **kwargs)

            return zero_grad

        return self.patches.wrap(kind, "zero_grad", make, hide=False)


def make(name, value, on):
    return SetToNone(name, value, on)
