"""allocator: settings of the caching allocator. early.py sets the variable; this looks after it."""
import os

from ..steps import steps
from .device import need_gpu_build
from .early import ALLOCATOR
from .override import Override, Refused


class Allocator(Override):
    def install(self, torch, finder):
        need_gpu_build(torch)
        self.torch = torch
        self.waiting("for the program to use a GPU")
        steps.at_first.append(self.guarded(self.look))
        steps.at_boundary.append(self.guarded(self.look))

    def look(self, time=0):
        if self.is_applied or not self.torch.cuda.is_initialized():
            return
        settings = [os.environ.get(name, "") for name in ALLOCATOR]
        ours = set(self.value.split(","))
        if not any(ours <= set(text.split(",")) for text in settings):
            raise Refused("the program sets %s itself" % ALLOCATOR[0])
        self.applied("%s=%s" % (ALLOCATOR[0], settings[0]))


def make(name, value, on):
    return Allocator(name, value, on)
