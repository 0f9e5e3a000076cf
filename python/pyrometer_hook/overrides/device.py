"""What is known of the GPU without asking CUDA before the program does."""
from .override import Refused


def need_gpu_build(torch):
    if not torch.version.cuda and not getattr(torch.version, "hip", None):
        raise Refused("this torch is not built for GPUs")


def need_capability(torch, major, what):
    cuda = torch.cuda
    if not cuda.is_initialized():
        raise Refused("the program used no GPU in its first step")
    if torch.version.cuda and cuda.get_device_capability(cuda.current_device())[0] < major:
        raise Refused("%s needs compute capability %d.0" % (what, major))
