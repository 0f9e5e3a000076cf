"""precision.autocast: forward of the outermost modules in bf16 or fp16, results in FP32."""
from .forward_site import ForwardOverride
from .loss_scale import LossScale
from .override import Refused


class Autocast(ForwardOverride):
    def install(self, torch, finder):
        self.dtype = torch.bfloat16 if self.value == "bf16" else torch.float16
        self.low = (torch.float16, torch.bfloat16)
        self.scale = LossScale(self, torch) if self.value == "fp16" else None
        super().install(torch, finder)
        if self.scale is not None:
            self.scale.install()

    def look_at(self, module):
        torch = self.torch
        kinds = {parameter.dtype for parameter in module.parameters()
                 if parameter.is_floating_point()}
        if kinds - {torch.float32}:
            raise Refused("its parameters are not in FP32 alone")
        device = next(module.parameters()).device.type
        if device == "cpu" and self.dtype == torch.float16:
            raise Refused("autocast has no fp16 on the CPU")
        if device not in ("cpu", "cuda"):
            raise Refused("its parameters are on a device of type " + device)
        if device == "cuda" and self.dtype == torch.bfloat16 and torch.version.cuda:
            if torch.cuda.get_device_capability(torch.cuda.current_device())[0] < 8:
                raise Refused("bf16 needs compute capability 8.0")
        self.cover(module)
        if self.on:
            self.told()

    def told(self):
        self.applied("forward under autocast(%s), results in FP32" % self.value)

    def switched(self):
        if self.on and self.is_taken:
            self.told()

    def around(self, module, call, args, kwargs):
        torch = self.torch
        if self.is_autocast():
            self.cannot("the program uses autocast itself")
            return call(args, kwargs)
        parameter = next(module.parameters(), None)
        kind = parameter.device.type if parameter is not None else "cpu"
        with torch.autocast(kind, dtype=self.dtype):
            result = call(args, kwargs)
        return self.full(result)

    def is_autocast(self):
        """Whether the program itself is under autocast here."""
        torch = self.torch
        if hasattr(torch, "get_autocast_dtype"):  # 2.4+, which warns of the other name
            return torch.is_autocast_enabled("cuda") or torch.is_autocast_enabled("cpu")
        return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()

    def full(self, result, depth=0):
        """`result` with FP32 in place of what is shorter; containers are made anew."""
        torch = self.torch
        if isinstance(result, torch.Tensor):
            return result.float() if result.dtype in self.low else result
        if depth > 5:
            return result
        if isinstance(result, tuple):
            parts = [self.full(item, depth + 1) for item in result]
            return type(result)(*parts) if hasattr(result, "_fields") else type(result)(parts)
        if isinstance(result, list):
            return type(result)([self.full(item, depth + 1) for item in result])
        if isinstance(result, dict):
            return type(result)({key: self.full(item, depth + 1) for key, item in result.items()})
        return result

    def undo(self):
        super().undo()
        if getattr(self, "scale", None) is not None:
            self.scale.undo()


def make(name, value, on):
    return Autocast(name, value, on)
