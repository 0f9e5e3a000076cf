"""transfer.non_blocking: copies from pinned memory to the GPU that do not wait."""
from .device import need_gpu_build
from .override import Override


class NonBlocking(Override):
    def install(self, torch, finder):
        need_gpu_build(torch)
        from ..start import is_compiling_function

        self.tensor = torch.Tensor
        self.device = torch.device
        self.is_compiling = is_compiling_function(torch)
        self.wrap("to", self.to_device)
        self.wrap("cuda", lambda args, kwargs: not (args[1:] or "non_blocking" in kwargs))
        self.waiting("for a copy from pinned memory to the GPU")

    def wrap(self, name, applies):
        original = getattr(self.tensor, name)  # inherited from the C class
        own = vars(self.tensor).get(name)

        def copy(tensor, *args, **kwargs):
            if self.on and not self.is_compiling():
                try:
                    if not tensor.is_cuda and applies(args, kwargs) and tensor.is_pinned():
                        kwargs = dict(kwargs, non_blocking=True)
                        self.applied("copies from pinned memory do not wait")
                except Exception:
                    self.failed()
            return original(tensor, *args, **kwargs)

        copy.__name__ = name
        copy.__qualname__ = getattr(original, "__qualname__", name)
        copy.__doc__ = original.__doc__
        if own is None:
            self.patches.add(self.tensor, name, copy)
        else:
            self.patches.wrap(self.tensor, name, lambda _: copy, hide=False)

    def to_device(self, args, kwargs):
        """Whether to(...) copies to a GPU and does not say how: to(device[, dtype])."""
        if "non_blocking" in kwargs or len(args) > 2:
            return False
        target = kwargs.get("device", args[0] if args else None)
        if isinstance(target, self.device):
            return target.type == "cuda"
        if isinstance(target, str):
            return target.startswith("cuda")
        if isinstance(target, int) and not isinstance(target, bool):
            return True
        return len(args) < 2 and isinstance(target, self.tensor) and target.is_cuda


def make(name, value, on):
    return NonBlocking(name, value, on)
