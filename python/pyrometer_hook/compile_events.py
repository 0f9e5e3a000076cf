"""torch.compile: time spent compiling, recompilations, graph breaks."""
import sys

from . import library as lib
from .runtime import now, rt
from .steps import steps

_PART = "compile"


class _Compile:
    def __init__(self):
        self.depth = 0
        self.start = 0
        self.module = None
        self.told = {}

    def started(self, *_):
        if not self.depth:
            self.start = now()
        self.depth += 1

    def ended(self, *_):
        if self.depth:
            self.depth -= 1
            if not self.depth:
                rt.emit_or_keep(lib.COMPILE, 0, "torch.compile", self.start, now())

    def register(self, module):
        """`module` is torch._dynamo.callback (2.3+)."""
        self.module = module
        module.on_compile_start(self.started)
        module.on_compile_end(self.ended)

    def boundary(self, time):
        utils = sys.modules.get("torch._dynamo.utils")
        counters = getattr(utils, "counters", None)
        if counters is None:
            return
        # torch._dynamo.reset() forgets callbacks.
        handler = getattr(self.module, "callback_handler", None)
        callbacks = getattr(handler, "start_callbacks", None)
        if isinstance(callbacks, list) and self.started not in callbacks:
            self.depth = 0
            self.register(self.module)
        frames = dict(counters["frames"]) if "frames" in counters else {}
        self._tell("compile.frames", frames.get("total", 0))
        self._tell("compile.frames_ok", frames.get("ok", 0))
        if "graph_break" in counters:
            self._tell("compile.graph_breaks", sum(dict(counters["graph_break"]).values()))
        if "recompiles" in counters:
            self._tell("compile.recompiles", sum(dict(counters["recompiles"]).values()))
        if "stats" in counters:
            self._tell("compile.graphs", dict(counters["stats"]).get("unique_graphs", 0))

    def _tell(self, name, value):
        if self.told.get(name, 0) != value:
            self.told[name] = value
            rt.counter(name, value)


def install(torch, finder):
    state = _Compile()
    finder.after("torch._dynamo.callback", state.register)

    def undo():
        if state.boundary in steps.at_boundary:
            steps.at_boundary.remove(state.boundary)

    rt.part_off[_PART] = undo
    steps.at_boundary.append(rt.guarded(_PART, state.boundary))
