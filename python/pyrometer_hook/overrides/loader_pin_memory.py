"""loader.pin_memory: batches in page-locked memory."""
from .loader_site import LoaderOverride
from .override import Override, Refused


class PinMemory(LoaderOverride, Override):
    def install(self, torch, finder):
        if not torch.version.cuda and not getattr(torch.version, "hip", None):
            raise Refused("this torch is not built for GPUs")
        self.torch = torch
        super().install(torch, finder)

    def change(self, loader, wanted):
        wish = self.value == "on"
        if bool(loader.pin_memory) == wish:
            raise Refused("the loader %s already" % ("pins" if wish else "does not pin"))
        # To pin is to initialise CUDA, which only the program may do.
        if wish and not self.torch.cuda.is_initialized():
            self.waiting("for the program to use a GPU before it makes a loader's iterator")
            return None
        wanted["pin_memory"] = wish
        return "pin_memory %s -> %s" % (not wish, wish)


def make(name, value, on):
    return PinMemory(name, value, on)
