"""What every case shares: its description, the environment it runs in, the usual training step."""
import contextlib
import os
import time
from dataclasses import dataclass, field
from typing import Callable

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

DEFAULT_THREADS = torch.get_num_threads()


def nothing():
    pass


@dataclass
class Variant:
    """One side of a case. `enter` and `leave` surround each timed or traced block."""
    step: Callable[[], object]
    enter: Callable[[], object] = nothing
    leave: Callable[[], object] = nothing
    warmup: int = 3


@dataclass(frozen=True)
class Case:
    """One planted cause. `build(env, fixed)` returns the Variant with the cause or without it."""
    name: str
    cause: str
    what: str
    build: Callable[["Env", bool], Variant]
    control: bool = False           # nothing planted: both sides are the same
    active: int = 4                 # traced steps
    period: int = 1                 # timed and traced blocks are whole multiples of this many steps
    max_steps: int = 200            # per timed block
    profile_memory: bool = False
    own_process: bool = False       # planted and fixed must not share a process
    planted_env: dict = field(default_factory=dict)
    gpus: int = 1
    needs: str = ""                 # attribute of torch the case cannot do without


class Ranks:
    """This process among its peers; with a single process every operation is the identity."""

    def __init__(self, rank=0, world=1):
        self.rank, self.world = rank, world

    def reduce_max(self, value, device):
        if self.world == 1:
            return value
        tensor = torch.tensor([float(value)], device=device)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        return tensor.item()

    def barrier(self, device):
        self.reduce_max(0, device)


@dataclass
class Env:
    device: torch.device
    tiny: bool = False
    ranks: Ranks = field(default_factory=Ranks)

    @property
    def cuda(self):
        return self.device.type == "cuda"

    def size(self, full, tiny):
        return tiny if self.tiny else full

    def sync(self):
        if self.cuda:
            torch.cuda.synchronize()

    def autocast(self, enabled=True, dtype=torch.bfloat16):
        if not enabled:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=dtype if self.cuda else torch.bfloat16)

    def randn(self, *shape):
        return torch.randn(*shape, device=self.device)

    def labels(self, classes, *shape):
        return torch.randint(classes, shape, device=self.device)

    def pinned(self, tensor):
        return tensor.pin_memory() if self.cuda else tensor


def reset_globals():
    """The settings every block starts from; a variant's `enter` changes what it needs.

    Only the allow_tf32 switches are used: mixing them with fp32_precision is an error.
    """
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = False
    torch.autograd.set_detect_anomaly(False)
    if torch.get_num_threads() != DEFAULT_THREADS:
        torch.set_num_threads(DEFAULT_THREADS)


@contextlib.contextmanager
def running(variant):
    reset_globals()
    variant.enter()
    try:
        yield
    finally:
        variant.leave()
        reset_globals()


def adamw(parameters, env, lr=1e-4, **options):
    """AdamW, fused on a GPU unless the options choose another implementation."""
    if env.cuda and not options.keys() & {"fused", "foreach"}:
        options["fused"] = True
    if not env.cuda:
        options.pop("fused", None)
        options.pop("capturable", None)
    return torch.optim.AdamW(parameters, lr=lr, **options)


def train_step(model, optimizer, batch, loss_of, env, amp=False, after=None):
    """The usual step: `batch()` gives (inputs, targets), `after(loss)` runs at its end."""
    def step():
        inputs, targets = batch()
        optimizer.zero_grad(set_to_none=True)
        with env.autocast(amp):
            loss = loss_of(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if after is not None:
            after(loss)
    return step


def fixed_batch(inputs, targets):
    return lambda: (inputs, targets)


def every(n, action):
    """A callable that runs `action` on each n-th call."""
    calls = 0

    def call(*_):
        nonlocal calls
        calls += 1
        if calls % n == 0:
            action()
    return call


def count_up(loops):
    total = 0
    for value in range(loops):
        total += value * value
    return total


def loops_per_ms(loops=50_000):
    def once():
        start = time.perf_counter()
        count_up(loops)
        return time.perf_counter() - start
    return loops / (1e3 * min(once() for _ in range(5)))


LOOPS_PER_MS = loops_per_ms()


def burn(milliseconds):
    """Python work that takes a free core the given time: CPU clocks can be too coarse to ask."""
    return count_up(int(milliseconds * LOOPS_PER_MS))


def start_tracer():
    """Initialise the device tracer: graphs captured before it may go untraced."""
    with profile(activities=[ProfilerActivity.CUDA]):
        pass


def captured(step, env):
    """The step as one CUDA graph; without a GPU, the step itself."""
    if not env.cuda:
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()

    def replay():
        graph.replay()
    # The graph reads the batch, the parameters and the optimizer's state where they lay when it was
    # captured, and does not own them: freed with the step, the next allocation overwrites them.
    replay.step = step
    return replay


def cores():
    return len(os.sched_getaffinity(0))
