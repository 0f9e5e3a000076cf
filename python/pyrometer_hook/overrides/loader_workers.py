"""loader.workers: worker processes of the loaders."""
from . import datasets
from .early import cores
from .loader_site import LoaderOverride
from .override import Override, Refused

_MOST_BY_ITSELF = 8


class Workers(LoaderOverride, Override):
    def install(self, torch, finder):
        self.torch = torch
        self.count = min(cores(), _MOST_BY_ITSELF) if self.value == "auto" else int(self.value)
        super().install(torch, finder)

    def change(self, loader, wanted):
        before, count = loader.num_workers, self.count
        if before == count:
            raise Refused("the loader has %d workers already" % count)
        if count:
            self.check(loader, before, count)
        wanted["num_workers"] = count
        if count and getattr(loader, "prefetch_factor", None) is None:
            wanted["prefetch_factor"] = 2
        if not count:
            wanted["persistent_workers"] = False
            if getattr(loader, "timeout", 0):
                wanted["timeout"] = 0
        return "num_workers %d -> %d" % (before, count)

    def check(self, loader, before, count):
        data = self.torch.utils.data
        if isinstance(loader.dataset, data.IterableDataset) and count > max(before, 1):
            if before < 2 and not datasets.shards_itself(loader.dataset):
                raise Refused("the iterable dataset would give each sample once per worker")
        if not before:
            datasets.refuse_small_shared_memory()
            datasets.refuse_device_tensors(loader, self.torch)
            # What workers run first where they are not forked, Python 3.14's default: the program.
            context = getattr(loader, "multiprocessing_context", None)
            processes = context or self.torch.multiprocessing
            method = processes.get_start_method(allow_none=True)  # else it could be chosen no more
            if (method or processes.get_all_start_methods()[0]) != "fork":
                datasets.refuse_unguarded_script()


def make(name, value, on):
    return Workers(name, value, on)
