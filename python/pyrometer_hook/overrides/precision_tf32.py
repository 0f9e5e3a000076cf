"""precision.tf32: TF32 for products of FP32 matrices, and for convolutions."""
import warnings

from .device import need_capability, need_gpu_build
from .flag import Flag


class Tf32(Flag):
    label = "TF32 of (matrix products, convolutions)"

    def install(self, torch, finder):
        need_gpu_build(torch)
        self.torch = torch
        self.wish = (self.value == "on",) * 2
        super().install(torch, finder)

    def get(self):
        backends = self.torch.backends
        try:
            # torch 2.9+; there the old names cannot be read once a program has used these.
            return (backends.cuda.matmul.fp32_precision == "tf32",
                    backends.cudnn.conv.fp32_precision == "tf32")
        except (AttributeError, AssertionError):
            return bool(backends.cuda.matmul.allow_tf32), bool(backends.cudnn.allow_tf32)

    def set(self, value):
        backends = self.torch.backends
        with warnings.catch_warnings():
            # The old names set the new ones as well; set by the new ones, the old could not be read.
            warnings.simplefilter("ignore")
            backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32 = value

    def check(self):
        need_capability(self.torch, 8, "TF32")


def make(name, value, on):
    return Tf32(name, value, on)
