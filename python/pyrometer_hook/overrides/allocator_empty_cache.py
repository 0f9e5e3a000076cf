"""allocator.empty_cache: torch.cuda.empty_cache() does nothing."""
from .device import need_gpu_build
from .override import Override, Refused


class EmptyCache(Override):
    def install(self, torch, finder):
        need_gpu_build(torch)

        def make(original):
            def empty_cache():
                if not self.on:
                    return original()
                self.applied("calls of torch.cuda.empty_cache() are passed over")
                return None

            return empty_cache

        if not self.patches.wrap_shared([torch.cuda.memory, torch.cuda], "empty_cache", make):
            raise Refused("this torch has no torch.cuda.empty_cache")
        self.waiting("for a call of torch.cuda.empty_cache()")


def make(name, value, on):
    return EmptyCache(name, value, on)
