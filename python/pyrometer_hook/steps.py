"""Training steps: where one ends, and how many samples it had.

A step ends with the optimizer step that ends an iteration. With several optimizers that is the
one that stepped last before any of them stepped again (GANs: discriminator, generator,
discriminator -> the generator ends a step). Programs without an optimizer: each forward of the
outermost module under no_grad is a step.
"""
import weakref

from . import library as lib
from .runtime import CONTROL_PERIOD_NS, rt

_SECOND = 1000 * 1000 * 1000
_LOST_MARKER = 3  # steps of another optimizer in one step after which that one ends steps
_MAX_WAITING = 64


class Steps:
    def __init__(self):
        self.index = 0
        self.start = 0  # ns; the present step's start, 0: none yet
        self.samples = 0  # in the present step
        self.last_samples = -1  # in the step that ended last, -1: unknown
        self.total_batches = 0  # of all loaders, since the start
        self.pending = 0  # samples of the last batch, not yet known to be trained on
        self.evaluated = False  # that batch was seen under no_grad
        self.has_optimizer = False  # one was made or has stepped
        self.in_validation = False
        self.by_program = False  # see told()
        self.at_boundary = []  # functions of (time ns); once a second, and while windows are open
        self.at_first = []  # functions of no argument, called at the first boundary
        self.stepped_in_validation = lambda: None
        self._waiting = []  # (weakref, end, samples, flags) of optimizers since the last boundary
        self._marker = None  # weakref
        self._due = 0
        self._slow_due = 0
        self._bits = 0

    # -- what the other parts tell ---------------------------------------------------------------

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
        marker = self._marker
        if marker is not None and marker() is optimizer and not self.in_validation:
            # The usual case, without a call more than needed.
            self.evaluated = False
            samples = self.last_samples = self.samples + self.pending or -1
            rt.emit(lib.STEP, flags, 0, self.start, end, self.index, samples)
            self.index += 1
            self.start = end
            self.samples = self.pending = 0
            if self._waiting:
                self._waiting = []
            if end >= self._due:
                self._periodic(end)
        else:
            self._stepped(optimizer, end, flags)

    def _stepped(self, optimizer, end, flags):
        self.has_optimizer = True
        if self.in_validation:
            self.stepped_in_validation()
        self.evaluated = False
        self._settle()
        self._first()
        waiting = self._waiting
        waiting.append((weakref.ref(optimizer), end, self.samples, flags))
        marker = self._marker() if self._marker is not None else None
        if marker is None:
            # Stepped before: what came last before this one ends an iteration.
            if sum(entry[0]() is optimizer for entry in waiting) >= 2:
                self._mark(waiting[-2][0])
        elif marker is optimizer:
            self._mark(self._marker)
        elif sum(entry[0]() is optimizer for entry in waiting) >= _LOST_MARKER:
            self._mark(waiting[-1][0])
        elif len(waiting) > _MAX_WAITING:
            del waiting[0]

    def _mark(self, marker):
        """Ends a step wherever the optimizer `marker` has stepped among those that wait."""
        self._marker = marker
        optimizer = marker()
        waiting, self._waiting = self._waiting, []
        total, told = self.samples, 0
        for ref, end, samples, flags in waiting:
            if ref() is optimizer:
                self.samples, told = samples - told, samples
                self._emit(end, flags)
        self.samples = total - told
        if waiting and waiting[-1][1] >= self._due:
            self._periodic(waiting[-1][1])

    def forward_ended(self, end):
        """The outermost forward of a program without optimizer ended."""
        self.evaluated = False
        self._settle()
        self._emit(end, 0)
        if end >= self._due:
            self._periodic(end)

    def told(self, end, samples):
        """The program says itself that a step ends (pyrometer.step): from now on it alone does."""
        if not self.by_program:
            self.by_program = True
            self._marker = None
            self._waiting = []
            self.optimizer_stepped = self._stepped_inside
            self.forward_ended = self._settle_forward
            self._first()
        self.evaluated = False
        self._settle()
        if samples:
            self.samples = samples
        self._emit(end, 0)
        if end >= self._due:
            self._periodic(end)

    def _stepped_inside(self, optimizer, end, flags=0):
        self.has_optimizer = True
        self.trained()

    def _settle_forward(self, end):
        self.trained()

    # -- boundaries ------------------------------------------------------------------------------

    def flush(self):
        """The process ends: the only step of a short run."""
        if self._marker is None and self._waiting:
            self._mark(self._waiting[-1][0])

    def _periodic(self, end):
        """What need not be done at every boundary."""
        self._due = end + CONTROL_PERIOD_NS
        bits = rt.control()
        if end >= self._slow_due or bits != self._bits:
            self._slow_due = end + _SECOND
            self._bits = bits
            for function in tuple(self.at_boundary):
                rt.guard("steps", function, end)

    def look_soon(self):
        """Calls `at_boundary` when the monitor's wishes are next looked at."""
        self._bits = -1

    def look_next(self):
        """Calls `at_boundary` when the next step ends."""
        self._due = self._slow_due = 0

    def _emit(self, end, flags):
        start = self.start
        if start and end > start:
            samples = self.last_samples = self.samples or -1
            rt.emit(lib.STEP, flags, 0, start, end, self.index, samples)
            self.index += 1
        self.start = end
        self.samples = 0

    def _first(self):
        if self.at_first:
            first, self.at_first = self.at_first, []
            for function in first:
                rt.guard("steps", function)


steps = Steps()


def install(torch, finder):
    rt.at_end.append(steps.flush)
