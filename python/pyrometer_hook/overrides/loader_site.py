"""Where loader overrides take hold: the moment in which a DataLoader makes its iterator.

The loader's attributes are changed for that moment alone, in its own dictionary, and read as the
program set them before and after. An iterator that cannot be made with the changes is made without.
"""
import functools
import sys

from ..patching import hidden
from .override import Refused

_MOST_TEXTS = 4  # in a status


class LoaderOverride:
    """Mixin of the overrides of loaders: `change(loader, wanted)` puts attributes into `wanted`,
    which holds those of the overrides before it, and returns what to say; or raises Refused."""

    def install(self, torch, finder):
        site(torch).add(self)
        self.done = {}  # what was done; as a set that keeps its order
        self.refused = {}
        self.waiting("for a DataLoader to be iterated")

    def undo(self):
        if _sites:
            _sites[0].remove(self)

    def note(self, outcome, text):
        if len(outcome) < _MOST_TEXTS:
            outcome[text] = True
        refused = ", and ".join(self.refused)
        if not self.done:
            # Others of the program's loaders may do: the override stays in place.
            self.say("cannot: because " + refused)
            return
        self.applied(", ".join(self.done)
                     + ("; not in each loader, because " + refused if refused else ""))


class LoaderSite:
    def __init__(self, torch):
        self.torch = torch
        self.overrides = []
        self.wrapped = None

    def add(self, override):
        self.overrides.append(override)
        if self.wrapped is None:
            self._wrap(self.torch.utils.data.dataloader.DataLoader)

    def remove(self, override):
        if override in self.overrides:
            self.overrides.remove(override)

    def _wrap(self, kind):
        original = vars(kind).get("__iter__")
        if original is None:
            raise Refused("this torch has no DataLoader.__iter__")
        site = self

        def __iter__(self):
            if not site.overrides or _in_worker():
                return original(self)
            return site.iterate(self, original)

        self.wrapped = functools.update_wrapper(hidden(__iter__), original)
        kind.__iter__ = self.wrapped

    # -- one iterator ----------------------------------------------------------------------------

    def iterate(self, loader, original):
        wanted, sayings = self._plan(loader)
        if not wanted:
            self._note(sayings)
            return original(loader)
        generators = self._generators(loader)
        try:
            iterator = self._with(loader, wanted, original)
        except Exception as error:
            reason = "the loader raised %s with it" % type(error).__name__
            # What was begun is let go of: workers end with the iterator.
            error.__traceback__ = None
            loader.__dict__["_iterator"] = None
            for generator, state in generators:
                generator.set_state(state)
        else:
            self._note(sayings)
            return iterator
        for override, _ in sayings:
            try:
                override.note(override.refused, reason)
            except Exception:
                override.failed()
        return original(loader)

    def _plan(self, loader):
        """({attribute: value}, [(override, what to say)])"""
        wanted, sayings = {}, []
        for override in list(self.overrides):
            try:
                said = override.change(loader, wanted)
                if said:
                    sayings.append((override, said))
            except Refused as refused:
                override.note(override.refused, str(refused))
            except Exception:
                override.failed()
        return wanted, sayings

    @staticmethod
    def _note(sayings):
        for override, said in sayings:
            try:
                override.note(override.done, said)
            except Exception:
                override.failed()

    def _generators(self, loader):
        """[(generator, its state)]: what making an iterator draws from."""
        generators = [self.torch.default_generator, getattr(loader, "generator", None),
                      getattr(getattr(loader, "sampler", None), "generator", None)]
        return [(one, one.get_state()) for one in generators
                if isinstance(one, self.torch.Generator)]

    @staticmethod
    def _with(loader, wanted, original):
        own = loader.__dict__
        missing = object()
        before = {name: own.get(name, missing) for name in wanted}
        own.update(wanted)
        try:
            return original(loader)
        finally:
            for name, value in before.items():
                if value is missing:
                    own.pop(name, None)
                else:
                    own[name] = value


_sites = []


def site(torch):
    if not _sites:
        _sites.append(LoaderSite(torch))
    return _sites[0]


def _in_worker():
    """A process that may have no children, as a worker whose dataset has a loader of its own."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.current_process().daemon


def workers_of(loader, wanted):
    return wanted.get("num_workers", loader.num_workers)


def need_workers(loader, wanted):
    if not workers_of(loader, wanted):
        raise Refused("the loader has no workers (use it with loader.workers)")
