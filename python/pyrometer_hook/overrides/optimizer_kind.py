"""What optimizer.foreach and optimizer.fused share: a switch in the groups of an optimizer."""
from . import models
from .override import Refused


class OptimizerKind(models.AfterFirstStep):
    what = "optimizer"

    def install(self, torch, finder):
        self.changed = models.Things()  # optimizers, with [the group's own values]
        super().install(torch, finder)

    def things(self):
        return models.optimizers()

    def wanted(self, group):
        """{key: value} for a group. May raise Refused."""
        raise NotImplementedError

    def ready(self, optimizer, on):
        """The optimizer's state is made fit for it."""

    def look_at(self, optimizer):
        for group in optimizer.param_groups:
            self.wanted(group)
        theirs = [{key: group[key] for key in self.wanted(group)}
                  for group in optimizer.param_groups]
        self.changed.add(optimizer, theirs)
        if self.on:
            self.put(optimizer, theirs, True)
            self.told()

    def told(self):
        names = sorted({type(optimizer).__name__ for optimizer, _ in self.changed})
        self.applied("%s of %s" % (self.label, ", ".join(names)))

    def put(self, optimizer, theirs, on):
        self.ready(optimizer, on)
        for group, own in zip(optimizer.param_groups, theirs):
            group.update(self.wanted_values if on else own)

    def switched(self):
        for optimizer, theirs in self.changed:
            self.put(optimizer, theirs, self.on)
        if self.on and self.is_taken:
            self.told()

    def undo(self):
        super().undo()
        changed, self.changed = getattr(self, "changed", ()), models.Things()
        for optimizer, theirs in changed:
            self.put(optimizer, theirs, False)


def need_key(group, key):
    if key not in group:
        raise Refused("it has no %s form" % key)
