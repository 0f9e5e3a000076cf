"""DataLoader: waits for a batch, iterator construction, epochs, settings.

Wraps the one choke point of every iterator. Never makes an iterator and never draws a random
number.
"""
import dataclasses
from threading import get_ident

from . import library as lib
from .patching import Patches, leave_no_trace
from .runtime import now, rt
from .steps import steps

_PART = "loader"
_MAX_LOADERS = 16  # told apart; the rest share a number
_DEPTH = 6  # of containers looked into for a tensor
_ATTRIBUTE = "_pyrometer_epoch"


class _Epoch:
    """Lives as long as its iterator; what is left of an epoch at its death is told then."""

    __slots__ = ("start", "last", "index", "name", "workers", "multi")

    def __init__(self, start, index, name, workers, multi):
        self.start = start  # ns, 0: told
        self.last = 0
        self.index = index
        self.name = name
        self.workers = workers
        self.multi = multi

    def finish(self, end, flags):
        start, self.start = self.start, 0
        if start and end > start:
            rt.emit(lib.EPOCH, flags, self.name, start, end, self.index, -1)

    def __del__(self):
        try:
            if self.last:
                self.finish(self.last, lib.ESTIMATED)
        except Exception:
            pass


class _Loader:
    """What is known of the torch types here."""

    def __init__(self, torch):
        self.tensor = torch.Tensor
        self.patches = Patches()
        self.known = {}  # what a loader looks like: [its number, epochs]
        self.owner = 0  # ident of the thread inside a loader's call; calls inside it do not count


def samples_of(batch, tensor, depth=0):
    """Dim 0 of the first tensor in nested containers; 0: none."""
    if isinstance(batch, tensor):
        shape = batch.shape
        return shape[0] if shape else 0
    if depth < _DEPTH:
        kind = type(batch)
        if kind is list or kind is tuple:
            items = batch
        elif isinstance(batch, dict):
            items = dict.values(batch)
        elif isinstance(batch, (list, tuple)):
            items = batch
        elif hasattr(batch, "data") and type(batch).__name__ == "BatchEncoding":
            items = batch.data.values()
        elif dataclasses.is_dataclass(batch):
            items = [getattr(batch, field.name, None) for field in dataclasses.fields(batch)]
        else:
            return 0
        for item in items:
            found = samples_of(item, tensor, depth + 1)
            if found:
                return found
    return 0


def _ready(iterator):
    """Batches that wait for the loop; -1 unknown."""
    try:
        ready = iterator._data_queue.qsize()
        info = iterator._task_info.get(iterator._rcvd_idx)
        if info is not None and len(info) == 2:  # came out of order
            ready += 1
        return ready
    except Exception:
        return -1


def _unpinned(iterator):
    """lib.UNPINNED where workers are done with batches that the pin-memory thread has yet to pin."""
    try:
        if iterator._pin_memory and iterator._worker_result_queue.qsize():
            return lib.UNPINNED
    except Exception:
        pass
    return 0


def _wrap_next(loader):
    tensor = loader.tensor

    def make(original):
        def __next__(self):
            thread = get_ident()
            if not rt.on or loader.owner == thread:
                return original(self)
            phase = rt.phase[0]
            try:
                epoch = self.__dict__.get(_ATTRIBUTE)
                multi = epoch is not None and epoch.multi
                ready = _ready(self) if multi else -1
                flags = 0 if ready else _unpinned(self)
                rt.phase[0] = lib.PHASE_INPUT
                loader.owner = thread
                start = now()
            except Exception:
                rt.failed(_PART)
                return original(self)
            try:
                batch = original(self)
            except StopIteration:
                loader.owner = 0
                rt.phase[0] = phase
                if epoch is not None:
                    epoch.finish(now(), 0)
                raise
            except BaseException as error:
                loader.owner = 0
                rt.phase[0] = phase
                leave_no_trace(error)
                raise
            end = now()
            loader.owner = 0
            rt.phase[0] = phase
            try:
                if epoch is None:
                    rt.emit(lib.INPUT, flags, 0, start, end, ready, -1)
                else:
                    epoch.last = end
                    rt.emit(lib.INPUT, flags, epoch.name, start, end, ready, epoch.workers)
                if not steps.start:
                    steps.start = start
                steps.batch(samples_of(batch, tensor))
            except Exception:
                rt.failed(_PART)
            return batch

        return __next__

    return make


def _wrap_iter(loader):
    def make(original):
        def __iter__(self):
            thread = get_ident()
            if not rt.on or loader.owner == thread:
                return original(self)
            loader.owner = thread
            start = now()
            try:
                iterator = original(self)
            except BaseException as error:
                leave_no_trace(error)
                raise
            finally:
                loader.owner = 0
            try:
                _started(loader, self, iterator, start, now())
            except Exception:
                rt.failed(_PART)
            return iterator

        return __iter__

    return make


def _started(loader, data_loader, iterator, start, end):
    workers = data_loader.num_workers
    entry = _entry(loader, data_loader)
    if not steps.start:
        steps.start = start
    rt.attach()
    number = entry[0]
    name = rt.name("loader %d" % number)
    rt.emit(lib.LOADER_START, 0, name, start, end, -1, workers)
    if entry[1] == 0:
        _describe(data_loader, "loader.%d." % number)
    entry[1] += 1
    attributes = getattr(iterator, "__dict__", None)
    if attributes is None:
        return  # a subclass returned something of its own
    old = attributes.get(_ATTRIBUTE)
    if old is not None:  # persistent workers: the same iterator again
        old.finish(old.last, lib.ESTIMATED)
    multi = hasattr(iterator, "_data_queue")
    attributes[_ATTRIBUTE] = _Epoch(start, entry[1] - 1, name, workers, multi)


def _entry(loader, data_loader):
    """[number, epochs] of this loader. One made anew for every epoch is the same loader."""
    key = (
        type(data_loader.dataset),
        type(getattr(data_loader, "sampler", None)),
        data_loader.batch_size,
        data_loader.num_workers,
    )
    entry = loader.known.get(key)
    if entry is None:
        if len(loader.known) >= _MAX_LOADERS:
            return [_MAX_LOADERS, 1]
        entry = loader.known[key] = [len(loader.known), 0]
    return entry


def _describe(data_loader, prefix):
    for key in ("num_workers", "pin_memory", "persistent_workers", "prefetch_factor",
                "batch_size", "drop_last", "timeout"):
        value = getattr(data_loader, key, None)
        if value is None or isinstance(value, (bool, int, float)):
            rt.info(prefix + key, value)
    context = getattr(data_loader, "multiprocessing_context", None)
    if context is not None and hasattr(context, "get_start_method"):
        rt.info(prefix + "start_method", context.get_start_method(allow_none=True))
    rt.info(prefix + "dataset", type(data_loader.dataset).__name__)
    batch_sampler = getattr(data_loader, "batch_sampler", None)
    sampler = getattr(data_loader, "sampler", None)
    if data_loader.batch_size is None and isinstance(
            getattr(batch_sampler, "batch_size", None), int):
        rt.info(prefix + "batch_size", batch_sampler.batch_size)
    if sampler is not None:
        rt.info(prefix + "sampler", type(sampler).__name__)


def install(torch, finder):
    module = torch.utils.data.dataloader
    loader = _Loader(torch)
    patches = loader.patches
    rt.part_off[_PART] = patches.undo
    if not patches.wrap(module._BaseDataLoaderIter, "__next__", _wrap_next(loader)):
        rt.off(_PART, "no _BaseDataLoaderIter.__next__")
        return
    patches.wrap(module.DataLoader, "__iter__", _wrap_iter(loader))
