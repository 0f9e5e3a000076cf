"""Where the training thread is: its lines, sampled by a thread of the library while the monitor asks.

That thread reads Python's stack without asking for it (inject/stack_sampler.h), so this part only
prepares it and, before believing it, compares what it reads with what Python says. It counts
texts "stack <phase> <user's file:line function> | <innermost file:line function>".
"""
import sys
import sysconfig

from . import library as lib
from .places import folders, place
from .runtime import rt
from .steps import steps

_PART = "sampler"
_COMPARED = 32  # frames


def _why_not():
    if sys.implementation.name != "cpython":
        return sys.implementation.name + ", not CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "Python without its lock"
    return None


def _agrees(library):
    """Whether the library sees this thread's stack as Python does."""
    seen = library.sampler_look()
    frame, own = sys._getframe(1), []
    while frame is not None and len(own) < _COMPARED:
        own.append(place(frame).encode("utf-8", "replace"))
        frame = frame.f_back
    # The two innermost are sampler_look and this function, which is at another line by now.
    return len(seen) > 2 and seen[1].endswith(b" _agrees") and seen[2:len(own) + 2] == own


class _Sampler:
    def __init__(self):
        self.prepared = False
        self.running = False

    def boundary(self, time):
        if rt.control_bits & lib.STACK_SAMPLER and not self.running:
            self.start()

    def start(self):
        library = rt.library
        if not self.prepared:
            problem = _why_not() or library.sampler_prepare(sys.hexversion >> 16, folders())
            if not problem and not _agrees(library):
                problem = "Python %d.%d keeps its stack in an unknown way" % sys.version_info[:2]
            if problem:
                rt.part_off[_PART]()
                rt.off(_PART, problem)
                return
            self.prepared = True
        self.running = bool(library.sampler_start())

    def stop(self):
        if self.running:
            self.running = False
            rt.library.sampler_stop()

    def before_fork(self):
        # Python 3.12 warns of forks in processes with several threads.
        if self.running and rt.on:
            self.stop()
            steps.look_soon()


def install(torch, finder):
    sampler = _Sampler()
    boundary = rt.guarded(_PART, sampler.boundary)

    def undo():
        if boundary in steps.at_boundary:
            steps.at_boundary.remove(boundary)

    rt.part_off[_PART] = undo
    rt.at_end.append(sampler.stop)
    rt.at_fork.append(rt.guarded(_PART, sampler.before_fork))
    steps.at_boundary.append(boundary)
