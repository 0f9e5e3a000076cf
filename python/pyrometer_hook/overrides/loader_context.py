"""loader.context: how workers are started."""
from . import datasets
from .loader_site import LoaderOverride, need_workers
from .override import Override, Refused

_ATTRIBUTE = "_DataLoader__multiprocessing_context"


class Context(LoaderOverride, Override):
    def install(self, torch, finder):
        self.torch = torch
        super().install(torch, finder)

    def change(self, loader, wanted):
        need_workers(loader, wanted)
        if _ATTRIBUTE not in loader.__dict__:
            raise Refused("this torch keeps a loader's context elsewhere")
        processes = self.torch.multiprocessing
        own = loader.__dict__[_ATTRIBUTE]
        before = own.get_start_method() if own is not None else processes.get_start_method()
        if before == self.value:
            raise Refused("the workers are started by %s already" % before)
        if self.value == "fork":
            datasets.refuse_device_tensors(loader, self.torch)
        else:
            datasets.refuse_unguarded_script()
        wanted[_ATTRIBUTE] = processes.get_context(self.value)
        return "workers started by %s, not %s" % (self.value, before)


def make(name, value, on):
    return Context(name, value, on)
