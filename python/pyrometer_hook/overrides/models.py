"""The outermost modules and the optimizers, once a step is over."""
import weakref

from ..runtime import rt
from ..steps import steps
from .override import Override, Refused


def outermost():
    """The outermost modules with parameters that live, as the hook's forward part knows them."""
    if rt.modules is None:
        return []
    return [module for module in (ref() for ref in rt.modules.tops) if module is not None]


def is_parallel(module):
    """A wrapper that has laid out gradients or parameters in its own way."""
    name = type(getattr(module, "_orig_mod", module)).__name__
    return name == "DistributedDataParallel" or name.startswith(("FSDP", "FullyShardedDataParallel"))


class Things:
    """Things and what goes with each, none of them kept alive."""

    def __init__(self):
        self._entries = []  # (weakref, value)

    def add(self, thing, value=None):
        self._entries = [entry for entry in self._entries if entry[0]() is not None]
        self._entries.append((weakref.ref(thing), value))

    def __contains__(self, thing):
        return any(ref() is thing for ref, _ in self._entries)

    def __iter__(self):
        """(thing, value) of those that live."""
        for ref, value in list(self._entries):
            thing = ref()
            if thing is not None:
                yield thing, value


class AfterFirstStep(Override):
    """Overrides that take hold of modules or optimizers when the first step is over, and of those
    that come later. Subclasses have look_at(thing) for each new one, which may raise Refused, and
    things(), and name what they are in `what`."""

    what = "module with parameters"
    has_known = False
    is_taken = False  # it has an effect on something

    def install(self, torch, finder):
        self.torch = torch
        self.known = Things()  # that look_at was called with
        self.refusals = []
        self.waiting("for the first step")
        self.after_first_step(self.look)
        steps.at_boundary.append(self.guarded(self.look))

    def things(self):
        return outermost()

    def look(self, time=0):
        for thing in self.things():
            if thing in self.known:
                continue
            self.known.add(thing)
            self.has_known = True
            try:
                self.look_at(thing)
                self.is_taken = True
            except Refused as refused:
                self.refusals.append("%s: %s" % (type(thing).__name__, refused))
        if not self.has_known:
            if steps.index == 0:
                return
            raise Refused("no %s was found" % self.what)
        if not self.is_taken:
            self.cannot("; ".join(dict.fromkeys(self.refusals)))

    def look_at(self, thing):
        raise NotImplementedError


def optimizers():
    return list(rt.optimizers)
