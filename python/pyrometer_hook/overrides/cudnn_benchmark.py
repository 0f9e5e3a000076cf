"""cudnn.benchmark: cuDNN's search for the fastest algorithm."""
from .device import need_gpu_build
from .flag import Flag
from .override import Refused


class Benchmark(Flag):
    label = "cudnn.benchmark"

    def install(self, torch, finder):
        need_gpu_build(torch)
        self.torch = torch
        if not torch.backends.cudnn.is_available():
            raise Refused("this torch has no cuDNN")
        self.wish = self.value == "on"
        super().install(torch, finder)

    def get(self):
        return bool(self.torch.backends.cudnn.benchmark)

    def set(self, value):
        self.torch.backends.cudnn.benchmark = value

    def check(self):
        if self.wish and self.torch.backends.cudnn.deterministic:
            raise Refused("the program asks for deterministic algorithms")


def make(name, value, on):
    return Benchmark(name, value, on)
