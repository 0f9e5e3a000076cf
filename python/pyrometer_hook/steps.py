"""Training steps: where one ends, and how many samples it had.

A step ends with the optimizer step that ends an iteration. With several optimizers that is the
one that stepped last before any of them stepped again (GANs: discriminator, generator,
discriminator -> the generator ends a step). Programs without an optimizer: each forward of the
outermost module under no_grad is a step.
"""
import weakref

from . import library as lib
from .runtime import rt

_SECOND = 1000 * 1000 * 1000
_LOST_MARKER = 16  # steps of other optimizers after which the marked one is given up


class Steps:
    def __init__(self):
        self.index = 0
        self.start = 0  # ns; the present step's start, 0: none yet
        self.samples = 0  # in the present step
        self.total_batches = 0  # of all loaders, since the start
        self.pending = 0  # samples of the last batch, not yet known to be trained on
        self.evaluated = False  # that batch was seen under no_grad
        self.has_optimizer = False  # one was made or has stepped
        self.in_validation = False
        self.at_boundary = []  # functions of (time ns); once a second, and while windows are open
        self.at_first = []  # functions of no argument, called at the first boundary
        self.stepped_in_validation = lambda: None
        self._waiting = []  # boundaries before the marker is known
        self._seen = {}  # id: weakref, optimizers that stepped before the marker was known
        self._marker = None  # weakref
        self._others = 0  # steps of other optimizers since the last boundary
        self._slow_due = 0

    # -- what the other parts tell ---------------------------------------------------------------

    def begin(self, time):
        """A loader wait or a forward starts: the first one starts the first step."""
        if not self.start:
            self.start = time

    def batch(self, samples):
        """The loop got a batch of `samples`, 0: unknown."""
        self._settle()
        self.pending = samples
        self.evaluated = self.in_validation
        self.total_batches += 1
        if self.total_batches == 2 and not self.has_optimizer:
            self._first()

    def trained(self):
        """The last batch went through a forward with gradients."""
        self.evaluated = False
        self._settle()

    def _settle(self):
        if self.pending:
            if not self.evaluated:
                self.samples += self.pending
            self.pending = 0

    def optimizer_stepped(self, optimizer, end, flags=0):
        """`optimizer` finished a step (or GradScaler skipped it) at `end` ns."""
        self.has_optimizer = True
        if self.in_validation:
            self.stepped_in_validation()
        self.evaluated = False
        if self._marker is not None:
            marker = self._marker()
            if marker is optimizer:
                self._others = 0
                self._boundary(end, flags)
                return
            self._others += 1
            if marker is not None and self._others < _LOST_MARKER:
                return
            self._marker = None  # look again, from here
            self._waiting, self._seen, self._others = [], {}, 0
        seen = self._seen.get(id(optimizer))
        if seen is not None and seen() is optimizer:
            self._mark()
            self.optimizer_stepped(optimizer, end, flags)
            return
        self._seen[id(optimizer)] = weakref.ref(optimizer)
        self._settle()
        self._first()
        self._waiting.append((weakref.ref(optimizer), end, self.samples, flags))

    def forward_ended(self, end):
        """The outermost forward of a program without optimizer ended."""
        self.evaluated = False
        self._boundary(end, lib.NO_GRAD)

    # -- boundaries ------------------------------------------------------------------------------

    def _mark(self):
        """The optimizer that stepped last ends a step; the first step has ended there."""
        self._marker, end, samples, flags = self._waiting[-1]
        self._waiting, self._seen = [], {}
        now_samples, self.samples = self.samples, samples
        self._emit(end, flags, settle=False)
        self.samples = now_samples - samples

    def flush(self):
        """The process ends: the only step of a short run."""
        if self._marker is None and self._waiting:
            self._mark()

    def _boundary(self, end, flags):
        self._emit(end, flags)
        bits = rt.control(end)
        if end >= self._slow_due or bits:
            self._slow_due = end + _SECOND
            for function in tuple(self.at_boundary):
                rt._guard("steps", function, end)

    def _emit(self, end, flags, settle=True):
        if settle:
            self._settle()
        start = self.start
        if start and end > start:
            samples = self.samples if self.samples else -1
            rt.emit(lib.STEP, flags & lib.SKIPPED, 0, start, end, self.index, samples)
            self.index += 1
        self.start = end
        self.samples = 0
        if self.at_first:
            self._first()

    def _first(self):
        if self.at_first:
            first, self.at_first = self.at_first, []
            for function in first:
                rt._guard("steps", function)


steps = Steps()


def install(torch, finder):
    rt.at_end.append(steps.flush)
