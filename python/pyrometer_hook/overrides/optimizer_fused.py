"""optimizer.fused: all parameters updated in one kernel."""
import sys

from .optimizer_kind import OptimizerKind, need_key
from .override import Refused


class Fused(OptimizerKind):
    label = "fused -> True"
    wanted_values = {"fused": True, "foreach": False}

    def wanted(self, group):
        need_key(group, "fused")
        if not hasattr(sys.modules["torch.optim.optimizer"], "_default_to_fused_or_foreach"):
            raise Refused("the fused form of torch 1 makes up its mind when the optimizer is made")
        if group["fused"]:
            raise Refused("it is fused already")
        if group.get("differentiable"):
            raise Refused("its steps are differentiated")
        for parameter in group["params"]:
            if not parameter.is_cuda:
                raise Refused("its parameters are on the CPU")
            if not parameter.is_floating_point():
                raise Refused("its parameters are no floating-point numbers")
            if parameter.grad is not None and (
                    parameter.grad.is_sparse or parameter.grad.stride() != parameter.stride()):
                raise Refused("gradients are laid out in another way than parameters")
        return {key: value for key, value in self.wanted_values.items() if key in group}

    def look_at(self, optimizer):
        for state in optimizer.state.values():
            for key, value in state.items():
                # The kernel walks parameters and averages in step.
                if key.startswith("exp_avg") and value.dtype not in (
                        self.torch.float32, self.torch.float16, self.torch.bfloat16):
                    raise Refused("its averages have an unusual type")
        super().look_at(optimizer)

    def ready(self, optimizer, on):
        """The fused kernel wants the count of steps on the device, the others on the CPU."""
        for parameter, state in optimizer.state.items():
            step = state.get("step")
            if isinstance(step, self.torch.Tensor):
                state["step"] = step.to(parameter.device) if on else step.cpu()


def make(name, value, on):
    return Fused(name, value, on)
