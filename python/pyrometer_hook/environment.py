"""Properties of the run that explain its speed: versions, precision, settings, model, ranks.

Names of classes, numbers and booleans only: no paths, no arguments, no texts of the user's.
"""
import os
import platform
import sys

from .runtime import rt
from .steps import steps

_PART = "environment"

# Environment variables whose values are recorded, if they look like a number or one short word.
VARIABLES = (
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUBLAS_WORKSPACE_CONFIG",
    "NVIDIA_TF32_OVERRIDE",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "TORCH_SHOW_CPP_STACKTRACES",
    "TORCHDYNAMO_DISABLE",
    "TORCH_COMPILE_DISABLE",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "OMP_PROC_BIND",
    "TOKENIZERS_PARALLELISM",
    "NCCL_P2P_DISABLE",
    "NCCL_IB_DISABLE",
    "NCCL_SHM_DISABLE",
    "TORCH_NCCL_BLOCKING_WAIT",
    "NCCL_BLOCKING_WAIT",
    "KINETO_USE_DAEMON",
    "PYTHONDEVMODE",
    "PYTHONMALLOC",
)
_RANKS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")


class _Environment:
    def __init__(self, torch):
        self.torch = torch
        self.device_told = False
        self.ranks_told = False
        self.optimizers_told = 0

    # -- once ------------------------------------------------------------------------------------

    def versions(self):
        """When the process is attached."""
        torch = self.torch
        rt.info("python.version", platform.python_version())
        rt.info("python.implementation", sys.implementation.name)
        rt.info("python.debug", hasattr(sys, "gettotalrefcount"))
        gil = getattr(sys, "_is_gil_enabled", None)
        if gil is not None:
            rt.info("python.gil", gil())
        rt.info("python.dev_mode", sys.flags.dev_mode)
        rt.info("torch.version", torch.__version__)
        cuda, hip = torch.version.cuda, getattr(torch.version, "hip", None)
        rt.info("torch.cuda_build", cuda or ("hip " + hip if hip else "none"))
        rt.info("torch.debug_build", getattr(torch.version, "debug", False))
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        if visible is not None and visible.strip().partition(",")[0] in ("", "-1"):
            rt.info("cuda.hidden", "CUDA_VISIBLE_DEVICES=" + visible)
        for name in VARIABLES:
            value = os.environ.get(name, "")
            if value and len(value) <= 20 and value.replace(":", "").replace(".", "").isalnum():
                rt.info("env." + name, value)
        for name in _RANKS:
            value = os.environ.get(name, "")
            if value.isdigit():
                rt.info("env." + name, value)

    # -- at a step boundary, at most once a second -----------------------------------------------

    def changing(self, time):
        self._flags()
        self._optimizers()
        if not self.device_told:
            self._device()
        if not self.ranks_told:
            self._ranks()

    def _flags(self):
        torch = self.torch
        rt.info("python.trace", _is_traced(sys.gettrace(), (0, 1)))
        rt.info("python.profile", _is_traced(sys.getprofile(), (2,)))
        rt.info("torch.threads", torch.get_num_threads())
        rt.info("autograd.anomaly", torch.is_anomaly_enabled())
        cudnn = torch.backends.cudnn
        rt.info("cudnn.enabled", cudnn.enabled)
        rt.info("cudnn.benchmark", cudnn.benchmark)
        rt.info("cudnn.deterministic", cudnn.deterministic)
        rt.info("torch.deterministic", torch.are_deterministic_algorithms_enabled())
        matmul = torch.backends.cuda.matmul
        # torch 2.9+ has fp32_precision; reading allow_tf32 there warns, and raises where a
        # program uses the new names.
        backends = torch.backends
        if hasattr(type(backends), "fp32_precision") or _has(matmul, "fp32_precision"):
            rt.info("matmul.fp32_precision", matmul.fp32_precision)
            conv = getattr(cudnn, "conv", None)
            if conv is not None:
                rt.info("cudnn.fp32_precision", conv.fp32_precision)
        else:
            rt.info("matmul.allow_tf32", matmul.allow_tf32)
            rt.info("cudnn.allow_tf32", cudnn.allow_tf32)
            if hasattr(torch, "get_float32_matmul_precision"):
                rt.info("matmul.precision", torch.get_float32_matmul_precision())

    def _optimizers(self):
        optimizers = list(getattr(rt, "optimizers", ()))
        if len(optimizers) == self.optimizers_told:
            return
        self.optimizers_told = len(optimizers)
        rt.info("optimizer.count", len(optimizers))
        for number, optimizer in enumerate(optimizers[:8]):
            prefix = "optimizer.%d." % number
            rt.info(prefix + "class", type(optimizer).__name__)
            groups = optimizer.param_groups
            rt.info(prefix + "groups", len(groups))
            rt.info(prefix + "tensors", sum(len(group["params"]) for group in groups))
            for key in ("fused", "foreach", "capturable", "differentiable"):
                value = optimizer.defaults.get(key, "")
                if value is None or isinstance(value, bool):
                    rt.info(prefix + key, value)

    def _device(self):
        """Only once the program itself has initialised CUDA: asking earlier could do it."""
        cuda = self.torch.cuda
        if not (self.torch.version.cuda and cuda.is_initialized()):
            rt.info("cuda.initialized", False)
            return
        self.device_told = True
        rt.info("cuda.initialized", True)
        device = cuda.current_device()
        rt.info("cuda.device", device)
        rt.info("cuda.device_count", cuda.device_count())
        rt.info("cuda.device_name", cuda.get_device_name(device))
        rt.info("cuda.capability", "%d.%d" % cuda.get_device_capability(device))
        rt.info("cuda.architectures", " ".join(cuda.get_arch_list()))
        version = self.torch.backends.cudnn.version()
        rt.info("cudnn.version", version)
        allocator = getattr(cuda.memory, "get_allocator_backend", None)
        if allocator is not None:
            rt.info("cuda.allocator", allocator())

    def _ranks(self):
        distributed = self.torch.distributed
        if not (distributed.is_available() and distributed.is_initialized()):
            return
        self.ranks_told = True
        rt.info("distributed.rank", distributed.get_rank())
        rt.info("distributed.world_size", distributed.get_world_size())
        rt.info("distributed.backend", distributed.get_backend())


def _is_traced(function, tools):
    """Of the thread that trains; sys.monitoring (3.12+) has such tools by number, for all."""
    if function is not None:
        return True
    monitoring = getattr(sys, "monitoring", None)
    return monitoring is not None and any(
        monitoring.get_tool(tool) is not None for tool in tools)


def _has(object_, name):
    """hasattr, where looking may raise something else."""
    try:
        getattr(object_, name)
    except Exception:
        return False
    return True


def install(torch, finder):
    environment = _Environment(torch)

    changing = rt.guarded(_PART, environment.changing)
    rt.part_off[_PART] = lambda: steps.at_boundary.remove(changing)
    rt.at_attach.append(environment.versions)
    steps.at_boundary.append(changing)
