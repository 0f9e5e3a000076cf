"""gc: Python's garbage collector tuned, frozen, or off within bounds."""
import gc as collector

from ..steps import steps
from .override import Override, Refused

_RARER = 100  # times, for "tune"
_MOST_OBJECTS = 2000000  # made since the last collection, for "off": then one is due


class Collector(Override):
    def install(self, torch, finder):
        if not hasattr(collector, "freeze"):
            raise Refused("this Python has no gc.freeze")
        self.thresholds = None  # the program's
        self.waiting("for the first step")
        self.after_first_step(self.first)
        steps.at_boundary.append(self.guarded(self.look))

    def first(self):
        if not collector.isenabled():
            raise Refused("the program has switched the collector off")
        self.thresholds = collector.get_threshold()
        if self.on:
            self.switched()

    def switched(self):
        if self.thresholds is None:
            return
        if not self.on:
            self.restore()
            return
        if self.value == "off":
            collector.disable()
            self.applied("off; %d new objects make a collection due" % _MOST_OBJECTS)
            return
        collector.collect()
        collector.freeze()
        if self.value == "tune":
            first, *others = self.thresholds
            collector.set_threshold(max(first, 1) * _RARER, *others)
            self.applied("frozen; thresholds %s -> %s"
                         % (self.thresholds, collector.get_threshold()))
        else:
            self.applied("%d objects are passed over" % collector.get_freeze_count())

    def look(self, time):
        if self.on and self.value == "off" and self.thresholds is not None:
            if collector.isenabled():
                raise Refused("the program switches the collector on itself")
            if collector.get_count()[0] > _MOST_OBJECTS:
                collector.collect()

    def restore(self):
        collector.set_threshold(*self.thresholds)
        if self.value == "off":
            collector.enable()
        else:
            collector.unfreeze()

    def undo(self):
        super().undo()
        if getattr(self, "thresholds", None) is not None and self.is_applied:
            self.restore()


def make(name, value, on):
    return Collector(name, value, on)
