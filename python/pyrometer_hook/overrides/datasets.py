"""Whether a dataset may be used in worker processes, as far as its attributes tell."""
import itertools
import os
import sys

from .override import Refused

_MOST = 1000  # things looked at
_LEAST_SHARED = 64 << 20  # bytes; containers have as much by default, and that is too little


def refuse_device_tensors(loader, torch):
    """A forked process cannot use CUDA; tensors on a GPU are not to be had in one."""
    seen = 0
    for thing in _things(loader.dataset):
        seen += 1
        if seen > _MOST:
            return
        if isinstance(thing, torch.Tensor) and thing.is_cuda:
            raise Refused("the dataset holds tensors on a GPU")
        if isinstance(thing, torch.nn.Module):
            parameter = next(thing.parameters(), None)
            if parameter is not None and parameter.is_cuda:
                raise Refused("the dataset holds a model on a GPU")


def _things(dataset, depth=0):
    """Its attributes and what they hold, two containers deep; Subset and the like as well."""
    values = getattr(dataset, "__dict__", {}).values()
    for value in list(values):
        yield value
        if isinstance(value, (list, tuple)):
            yield from itertools.islice(value, 100)
        elif isinstance(value, dict):
            yield from itertools.islice(list(value.values()), 100)
        elif depth < 3 and hasattr(value, "__getitem__") and hasattr(value, "__dict__"):
            yield from _things(value, depth + 1)


def shards_itself(dataset):
    """Whether an iterable dataset's __iter__ asks which worker it is in."""
    function = getattr(type(dataset), "__iter__", None)
    code = getattr(function, "__code__", None)
    return code is not None and _names(code, "get_worker_info")


def _names(code, name):
    if name in code.co_names or name in code.co_freevars:
        return True
    return any(_names(inner, name) for inner in code.co_consts if hasattr(inner, "co_names"))


def refuse_small_shared_memory():
    """Workers hand batches over in shared memory; where it is full they die."""
    try:
        info = os.statvfs("/dev/shm")
    except OSError:
        return
    free = info.f_bavail * info.f_frsize
    if free <= _LEAST_SHARED:
        raise Refused("/dev/shm has only %d MiB free (containers: --shm-size)" % (free >> 20))


def refuse_unguarded_script():
    """A worker that is not forked imports the script: it must do nothing then."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if not file:
        raise Refused("the program is no file that a worker could import")
    try:
        with open(file, encoding="utf-8", errors="replace") as script:
            text = script.read()
    except OSError:
        raise Refused("the script cannot be read") from None
    if "__main__" not in text:
        raise Refused("the script has no if __name__ == \"__main__\"")
