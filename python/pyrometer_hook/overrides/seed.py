"""PYROMETER_SEED: seeds random number generators when torch has been imported.

A program that seeds them itself, later, has the last word: the recording says so.
"""
import random

from ..patching import Patches
from ..runtime import rt


def install(torch, finder, seed):
    patches = Patches()

    def make(original):
        def manual_seed(*args, **kwargs):
            rt.info("trial.seed.program", "calls torch.manual_seed itself")
            return original(*args, **kwargs)

        return manual_seed

    def numpy(numpy_random):
        numpy_random.seed(seed & 0xFFFFFFFF)

    random.seed(seed)
    torch.manual_seed(seed)  # of all devices; CUDA is not initialised by it
    finder.after("numpy.random", numpy)  # numpy 2 imports it when it is first asked for
    rt.info("trial.seed", seed)
    # After our own call. 1.13 and 2 have it in torch.random.
    patches.wrap_shared([torch.random, torch], "manual_seed", make)
