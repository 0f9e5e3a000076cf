"""The outermost modules and the optimizers, once a step is over."""
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


class AfterFirstStep(Override):
    """Overrides that take hold of modules or optimizers when the first step is over, and of those
    that come later. Subclasses have look_at(thing) for each new one, which may raise Refused, and
    things(), and name what they are in `what`."""

    what = "module with parameters"

    def install(self, torch, finder):
        self.torch = torch
        self.known = []  # things that look_at was called with; they live as long as the program
        self.refusals = []
        self.waiting("for the first step")
        self.after_first_step(self.look)
        steps.at_boundary.append(self.guarded(self.look))

    def things(self):
        return outermost()

    def look(self, time=0):
        for thing in self.things():
            if any(thing is other for other in self.known):
                continue
            self.known.append(thing)
            try:
                self.look_at(thing)
            except Refused as refused:
                self.refusals.append("%s: %s" % (type(thing).__name__, refused))
        if not self.known:
            if steps.index == 0:
                return
            raise Refused("no %s was found" % self.what)
        if not self.taken():
            self.cannot("; ".join(dict.fromkeys(self.refusals)))

    def taken(self):
        """Whether it has an effect on anything."""
        raise NotImplementedError

    def look_at(self, thing):
        raise NotImplementedError


def optimizers():
    return list(rt.optimizers)
