"""PYROMETER_SEED: seeds random number generators when torch has been imported.

A program that seeds them itself, later, has the last word: the recording says so.
"""
import random
import sys

from ..patching import Patches
from ..runtime import rt


def install(torch, finder, seed):
    patches = Patches()

    def make(original):
        def manual_seed(*args, **kwargs):
            rt.info("trial.seed.program", "calls torch.manual_seed itself")
            return original(*args, **kwargs)

        return manual_seed

    def numpy(module):
        # `numpy.random` is there once the package is.
        sys.modules["numpy.random"].seed(seed & 0xFFFFFFFF)

    random.seed(seed)
    torch.manual_seed(seed)  # of all devices; CUDA is not initialised by it
    finder.after("numpy", numpy)
    rt.info("trial.seed", seed)
    # After our own call. 1.13 and 2 have it in torch.random.
    patches.wrap_shared([torch.random, torch], "manual_seed", make)
