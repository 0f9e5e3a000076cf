"""The caching allocator's numbers, at a step boundary at most once a second."""
from .runtime import rt
from .steps import steps

_PART = "memory"

# Counter: path in torch.cuda.memory_stats_as_nested_dict().
COUNTERS = {
    "memory.allocated_bytes": ("allocated_bytes", "all", "current"),
    "memory.allocated_peak_bytes": ("allocated_bytes", "all", "peak"),
    "memory.reserved_bytes": ("reserved_bytes", "all", "current"),
    "memory.reserved_peak_bytes": ("reserved_bytes", "all", "peak"),
    "memory.inactive_split_bytes": ("inactive_split_bytes", "all", "current"),
    "memory.alloc_retries": ("num_alloc_retries",),
    "memory.ooms": ("num_ooms",),
    "memory.segments": ("segment", "all", "current"),
}


def install(torch, finder):
    cuda = torch.cuda

    def boundary(time):
        if not cuda.is_initialized():
            return
        stats = cuda.memory_stats_as_nested_dict(cuda.current_device())
        if not stats:
            return
        for name, path in COUNTERS.items():
            value = stats
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if isinstance(value, int):
                rt.counter(name, value, time)

    if not (torch.version.cuda and hasattr(cuda, "memory_stats_as_nested_dict")):
        return
    boundary = rt.guarded(_PART, boundary)
    rt.part_off[_PART] = lambda: steps.at_boundary.remove(boundary)
    steps.at_boundary.append(boundary)
