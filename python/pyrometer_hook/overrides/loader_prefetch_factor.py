"""loader.prefetch_factor: batches that each worker prepares ahead."""
from .loader_site import LoaderOverride, need_workers
from .override import Override, Refused


class PrefetchFactor(LoaderOverride, Override):
    def change(self, loader, wanted):
        need_workers(loader, wanted)
        before = loader.prefetch_factor
        if before == int(self.value):
            raise Refused("the loader's is %d already" % before)
        wanted["prefetch_factor"] = int(self.value)
        return "prefetch_factor %s -> %s" % (before, self.value)


def make(name, value, on):
    return PrefetchFactor(name, value, on)
