"""What all overrides have in common: a state, a status for the recording, and a way back."""
import sys

from ..patching import Patches
from ..runtime import rt
from ..steps import steps


class Refused(Exception):
    """Why an override cannot be applied, as a clause that follows "because"."""


class Override:
    """One override of the run.

    `on` says whether it shall have an effect at present: wrappers look at it, and a switchable
    override hears of its changes through `switched`. Nothing here raises into the program.
    """

    def __init__(self, name, value, on):
        self.name = name
        self.value = value
        self.on = on
        self.is_off = False  # it could not be applied, and everything is as it was
        self.is_applied = False
        self.patches = Patches()
        self.said = ""

    # -- for subclasses --------------------------------------------------------------------------

    def install(self, torch, finder):
        """Puts wrappers in place. May raise Refused; what it has wrapped is undone then."""
        raise NotImplementedError

    def switched(self):
        """`on` has changed, between two steps. May raise."""

    def undo(self):
        """Puts everything back. May be called at any time, and twice."""
        self.patches.undo()

    # -- status ----------------------------------------------------------------------------------

    def say(self, text):
        if text == self.said:
            return  # also from within a hot loop
        self.said = text
        rt.info("override." + self.name, text)

    def applied(self, text):
        if not self.is_off:
            self.is_applied = True
            self.say("applied: " + text)

    def waiting(self, text):
        if not self.is_off and not self.is_applied:
            self.say("waiting: " + text)

    def cannot(self, reason):
        """Everything is put back. Never raises."""
        if self.is_off:
            return
        self.is_off = True
        self.on = False
        try:
            self.undo()
        except Exception as error:
            reason += "; and it could not be put back: " + type(error).__name__
        self.say("cannot: because " + reason)

    def failed(self):
        """Call in an except block. What the error says may hold the user's data: it is not told."""
        error = sys.exc_info()[1]
        if isinstance(error, Refused):
            self.cannot(str(error))
            return
        where, trace = "", error.__traceback__
        while trace is not None:
            file = trace.tb_frame.f_code.co_filename.rpartition("/")[2].rstrip(">")
            where = " (%s:%d)" % (file, trace.tb_lineno)
            trace = trace.tb_next
        self.cannot("of " + type(error).__name__ + where)

    # -- called by the hook ----------------------------------------------------------------------

    def guard(self, function, *arguments):
        """Calls it; an error puts the override back."""
        if self.is_off:
            return
        try:
            function(*arguments)
        except Exception:
            self.failed()

    def guarded(self, function):
        return lambda *arguments: self.guard(function, *arguments)

    def after_first_step(self, function):
        """Calls it once when a step is over. A pass over the data before the model is made ends no
        step, although the hook's parts are told then."""

        def look(time=0):
            if not look.is_done and (steps.has_optimizer or steps.index > 0):
                look.is_done = True
                self.guard(function)

        look.is_done = False
        steps.at_first.append(look)
        steps.at_boundary.append(look)

    def switch(self, on):
        if not self.is_off and on != self.on:
            self.on = on
            self.guard(self.switched)
