"""Environment variables, before torch is imported. Runs in every Python of the run: imports little.

Programs that Python starts inherit them, as the ranks of a launcher.
"""
import os

from .request import Request

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ALLOCATOR = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF")  # the newer torch reads the second first


def cores():
    """For this process: those that it may use, shared among the ranks of the machine."""
    try:
        count = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        count = os.cpu_count() or 1
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    return max(1, count // (int(ranks) if ranks.isdigit() and int(ranks) > 0 else 1))


def joined(theirs, ours):
    """Settings "key:value,key:value": ours, and those of theirs that we do not have."""
    keys = {item.partition(":")[0] for item in ours.split(",")}
    kept, depth, item = [], 0, ""
    for letter in theirs + ",":  # a value may be a list: [256:1,512:2]
        depth += (letter == "[") - (letter == "]")
        if letter != "," or depth > 0:
            item += letter
        elif item:
            if item.partition(":")[0].strip() not in keys:
                kept.append(item.strip())
            item = ""
    return ",".join(kept + ours.split(","))


def variables(request):
    """{name: value} to set."""
    wanted = {}
    for name, value in request.with_:
        if name.startswith("env."):
            wanted[name[len("env."):]] = value
        elif name == "threads":
            # Each rank counts for itself: a launcher leaves that to it.
            if value != "auto" or "LOCAL_WORLD_SIZE" in os.environ or not launches():
                count = str(cores()) if value == "auto" else value
                wanted.update((variable, count) for variable in THREADS)
        elif name == "allocator":
            for variable in ALLOCATOR:
                theirs = os.environ.get(variable, "")
                if variable == ALLOCATOR[0] or theirs:
                    wanted[variable] = joined(theirs, value)
    return wanted


def launches():
    """Whether this Python starts the ranks, as far as its arguments tell."""
    import sys

    words = " ".join(getattr(sys, "orig_argv", sys.argv)[:4])
    return "torchrun" in words or "torch.distributed" in words or "accelerate" in words


def apply():
    os.environ.update(variables(Request()))
