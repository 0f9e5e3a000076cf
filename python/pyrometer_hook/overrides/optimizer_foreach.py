"""optimizer.foreach: parameters updated many at a time."""
import sys

from .optimizer_kind import OptimizerKind, need_key
from .override import Refused


class Foreach(OptimizerKind):
    def install(self, torch, finder):
        self.wish = self.value == "on"
        self.wanted_values = {"foreach": self.wish}
        self.label = "foreach -> %s" % self.wish
        super().install(torch, finder)

    def wanted(self, group):
        need_key(group, "foreach")
        if group.get("fused"):
            raise Refused("it is fused already")
        if group["foreach"] == self.wish:
            raise Refused("foreach is %s already" % self.wish)
        if self.wish and group["foreach"] is None and self.by_default(group):
            raise Refused("torch updates these parameters many at a time already")
        if self.wish and any(p.is_sparse or (p.grad is not None and p.grad.is_sparse)
                             for p in group["params"]):
            raise Refused("gradients are sparse")
        return self.wanted_values

    @staticmethod
    def by_default(group):
        choose = getattr(sys.modules["torch.optim.optimizer"],
                         "_default_to_fused_or_foreach", None)
        if choose is None:
            return False
        return bool(choose(group["params"], group.get("differentiable", False),
                           use_fused=False)[1])


def make(name, value, on):
    return Foreach(name, value, on)
