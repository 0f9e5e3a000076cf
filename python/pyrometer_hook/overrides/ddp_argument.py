"""Overrides that are an argument of DistributedDataParallel."""
import inspect

from ..patching import leave_no_trace
from .override import Override, Refused


class DdpArgument(Override):
    """Subclasses have `argument` and wish()."""

    argument = ""
    usual = None  # what None stands for, where torch takes that

    def wish(self):
        raise NotImplementedError

    def install(self, torch, finder):
        kind = getattr(torch.nn.parallel, "DistributedDataParallel", None)
        if kind is None:
            raise Refused("this torch has no DistributedDataParallel")
        signature = inspect.signature(kind.__init__)
        if self.argument not in signature.parameters:
            raise Refused("this torch's DistributedDataParallel has no " + self.argument)

        def make(original):
            def __init__(module, *args, **kwargs):
                changed = None
                try:
                    if self.on:
                        changed = self.change(signature, module, args, kwargs)
                except Exception:
                    self.failed()
                try:
                    if changed is None:
                        return original(module, *args, **kwargs)
                    original(module, *changed.args[1:], **changed.kwargs)
                except BaseException as error:
                    leave_no_trace(error)
                    raise

            return __init__

        self.patches.wrap(kind, "__init__", make)
        self.waiting("for a DistributedDataParallel to be made")

    def change(self, signature, module, args, kwargs):
        """The arguments with ours, None: leave them."""
        bound = signature.bind(module, *args, **kwargs)
        default = signature.parameters[self.argument].default
        theirs = bound.arguments.get(self.argument, default)
        if theirs is None:
            theirs = self.usual
        if theirs == self.wish():
            raise Refused("%s is %s already" % (self.argument, theirs))
        bound.arguments[self.argument] = self.wish()
        self.applied("%s %s -> %s" % (self.argument, theirs, self.wish()))
        return bound
