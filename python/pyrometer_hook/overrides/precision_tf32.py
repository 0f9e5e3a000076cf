"""precision.tf32: TF32 for products of FP32 matrices, and for convolutions."""
import warnings

from .device import need_capability, need_gpu_build
from .flag import Flag


class Tf32(Flag):
    label = "TF32 of matrix products and convolutions"

    def install(self, torch, finder):
        need_gpu_build(torch)
        self.torch = torch
        self.wish = (self.value == "on",) * 2
        super().install(torch, finder)

    def get(self):
        backends = self.torch.backends
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # 2.9+ has other names; the old ones change both
            return bool(backends.cuda.matmul.allow_tf32), bool(backends.cudnn.allow_tf32)

    def set(self, value):
        backends = self.torch.backends
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32 = value

    def check(self):
        need_capability(self.torch, 8, "TF32")


def make(name, value, on):
    return Tf32(name, value, on)
