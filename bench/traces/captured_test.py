#!/usr/bin/env python3
"""Checks that what common.captured() returns keeps the memory alive that its graph reads.

Needs PyTorch, no GPU: the graph and the streams are stand-ins. Without PyTorch it says so and passes.
"""
import gc
import sys
import types
import weakref

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(0)

import common


class Nothing:
    """Stands in for streams, graphs and the contexts they make."""

    def __init__(self, *_):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def replay(self):
        pass

    def wait_stream(self, _):
        pass


def main():
    for name in ("Stream", "stream", "CUDAGraph", "graph", "current_stream"):
        setattr(torch.cuda, name, Nothing)
    batch = torch.zeros(4)
    alive = weakref.ref(batch)
    replay = common.captured(lambda tensor=batch: tensor.sum(), types.SimpleNamespace(cuda=True))
    del batch
    gc.collect()
    replay()
    print("the batch is", "freed: a replay reads what lies there now" if alive() is None else "kept")
    return 1 if alive() is None else 0


if __name__ == "__main__":
    sys.exit(main())
