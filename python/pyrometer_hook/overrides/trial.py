"""A trial: each step recorded on its own, overrides put on and off in turns, an end of our choice.

Everything here happens when a step has been recorded, in the thread that trains.
"""
from .. import library as lib
from ..runtime import rt
from . import stopping

RANGE_TRIAL_STEP = 16  # RangeKind::kTrialStep
_FIRST = 3  # steps before turns begin: the first ones are slow and put overrides in place
_TURNS = (False, True, True, False)


class Trial:
    def __init__(self, request, alternating):
        self.block = request.block
        self.alternating = alternating
        self.seen = 0  # steps so far
        self.variant = ""  # of the step under way
        self.names = {}
        self.stop = stopping.make(request)

    def attached(self):
        """Steps pass through here from now on."""
        inner = rt.emit
        step = lib.STEP
        names = self.names = {text: rt.name(text) if text else 0 for text in ("", "on", "off")}

        def emit(kind, flags, name, start, end, a=-1, b=-1):
            inner(kind, flags, name, start, end, a, b)
            if kind == step:
                inner(RANGE_TRIAL_STEP, flags, names[self.variant], start, end, a, b)
                self.step_ended(end)

        rt.emit = emit

    def step_ended(self, end):
        self.seen += 1
        if self.alternating:
            rt.guard("trial", self.take_turn)
        if self.stop is not None:
            self.stop.step_ended(self.seen, end)  # may raise SystemExit

    def take_turn(self):
        """Chooses the variant of the step that begins."""
        turn = self.seen - _FIRST
        if turn < 0:
            return
        if any(override.is_off for override in self.alternating):
            # Some of what was to be compared is missing: nothing is compared.
            self.alternating, self.variant = [], ""
            return
        on = _TURNS[turn // self.block % len(_TURNS)]
        variant = "on" if on else "off"
        if variant != self.variant:
            self.variant = variant
            for override in self.alternating:
                override.switch(on)


def install(torch, finder, request, alternating):
    trial = Trial(request, alternating)
    rt.at_attach.append(trial.attached)
