"""loader.persistent_workers: workers live on between epochs."""
from .loader_site import LoaderOverride, need_workers
from .override import Override, Refused


class PersistentWorkers(LoaderOverride, Override):
    def install(self, torch, finder):
        self.torch = torch
        super().install(torch, finder)

    def change(self, loader, wanted):
        need_workers(loader, wanted)
        wish = self.value == "on"
        if loader.persistent_workers == wish:
            raise Refused("the loader's are %s already" % ("kept" if wish else "ended"))
        wanted["persistent_workers"] = wish
        if wish and getattr(loader, "_iterator", None) is not None:
            # The seed that a new iterator would draw: what comes after it stays the same.
            self.torch.empty((), dtype=self.torch.int64).random_(generator=loader.generator)
        return "persistent_workers %s -> %s" % (not wish, wish)


def make(name, value, on):
    return PersistentWorkers(name, value, on)
