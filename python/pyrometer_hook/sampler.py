"""Where the training thread is: a low-rate sample of its Python stack, while the monitor asks.

At most 20 samples a second, fewer where one is dear. Told once a second as counters named
"stack <phase> <user's file:line function> | <innermost file:line function>", valued in samples.
"""
import _thread
import sys
import time

from . import library as lib
from .places import place, user_frame
from .runtime import now, rt
from .steps import steps

_PART = "sampler"
_PERIOD_NS = 50 * 1000 * 1000
_LONGEST_NS = 1000 * 1000 * 1000
_SHARE = 1000  # the CPU time of one sample is at most this part of the time between two
_TELL_NS = 1000 * 1000 * 1000


class _Sampler:
    def __init__(self):
        self.running = False
        self.stop = _thread.allocate_lock()  # held while sampling may go on
        self.counts = {}

    def boundary(self, time):
        if rt.control_bits & lib.STACK_SAMPLER and not self.running:
            self.start()

    def start(self):
        self.running = True
        if not self.stop.locked():
            self.stop.acquire()
        # Not threading.Thread: threading.enumerate() and the exit of the program stay as they are.
        _thread.start_new_thread(self._run, ())

    def end(self):
        if self.running and self.stop.locked():
            self.stop.release()

    def _run(self):
        try:
            wait, told = _PERIOD_NS, now()
            while rt.on and not self.stop.acquire(timeout=wait * 1e-9):
                start = time.thread_time_ns()
                self._sample()
                cost = time.thread_time_ns() - start
                wait = min(max(_PERIOD_NS, cost * _SHARE), _LONGEST_NS)
                end = now()
                if end - told > _TELL_NS:
                    self._tell(end)
                    told = end
                    if not rt.library or not rt.library.control() & lib.STACK_SAMPLER:
                        break
            self._tell(now())
        except Exception:
            rt.failed(_PART)
        finally:
            self.running = False

    def _sample(self):
        leaf = sys._current_frames().get(rt.main_thread)
        if leaf is None:
            return
        user = user_frame(leaf)
        text = "stack %s %s | %s" % (rt.phase, place(user) if user else "-", place(leaf))
        if text in self.counts or len(self.counts) < 200:
            self.counts[text] = self.counts.get(text, 0) + 1

    def _tell(self, time):
        counts, self.counts = self.counts, {}
        if rt.on:
            for text, count in counts.items():
                rt.counter(text, count, time)


def install(torch, finder):
    sampler = _Sampler()
    boundary = rt.guarded(_PART, sampler.boundary)
    rt.part_off[_PART] = lambda: steps.at_boundary.remove(boundary)
    rt.at_end.append(sampler.end)
    steps.at_boundary.append(boundary)
