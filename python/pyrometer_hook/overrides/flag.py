"""Overrides that are a setting of the process: set, set again after the first step, looked after."""
from ..steps import steps
from .override import Override, Refused


class Flag(Override):
    """Subclasses have get(), set(value), `wish` (the value wanted) and `label`.

    The program's own value is what it has set by the end of the first step.
    """

    label = ""

    def get(self):
        raise NotImplementedError

    def set(self, value):
        raise NotImplementedError

    def install(self, torch, finder):
        self.theirs = self.get()
        self.settled = False
        self.ours = False
        if self.on:
            self._put()
        self.waiting("for the first step")
        self.after_first_step(self.first)
        steps.at_boundary.append(self.guarded(self.look))

    def _put(self):
        self.set(self.wish)
        self.ours = True
        if self.get() != self.wish:
            raise Refused("%s stays %s" % (self.label, self.get()))

    def first(self):
        present = self.get()
        if not self.ours or present != self.wish:
            self.theirs = present  # the program has set it
        self.settled = True
        if self.theirs == self.wish:
            raise Refused("%s is %s already" % (self.label, self.wish))
        self.check()
        if self.on:
            self._put()
            self.applied("%s %s -> %s" % (self.label, self.theirs, self.wish))

    def check(self):
        """After the first step: may raise Refused."""

    def look(self, time):
        if self.settled and self.on and self.get() != self.wish:
            self.ours = False
            raise Refused("the program sets %s itself after the first step" % self.label)

    def switched(self):
        if self.on:
            self._put()
            self.applied("%s %s -> %s, in turns" % (self.label, self.theirs, self.wish))
        else:
            self.set(self.theirs)

    def undo(self):
        super().undo()
        if getattr(self, "ours", False):
            self.ours = False
            self.set(self.theirs)
