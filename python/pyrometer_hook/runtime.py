"""What all parts share: whether records are taken, how, and what is known of the run.

`rt` is the one instance. Nothing is loaded or attached before the first thing worth recording, so
that launchers, loader workers and fork servers that merely import torch stay as they are.
"""
import os
import sys
import time

from . import library as lib

now = time.monotonic_ns  # ns, the clock of every record

_EARLY_LIMIT = 64  # records kept from before the process was worth recording
CONTROL_PERIOD_NS = 100 * 1000 * 1000  # between two looks at what the monitor wants

_WAITING, _ATTACHED, _OFF = range(3)


def _ignore(kind, flags, name, start, end, a=-1, b=-1):
    pass


class Runtime:
    """Emits records through the library. Any thread may call any method; none raises."""

    def __init__(self):
        self.on = True  # False: every wrapper goes straight to the original
        self.emit = self._first  # (kind, flags, name id, start ns, end ns, a, b)
        self.library = None
        self.phase = bytearray(1)  # [0]: what the training thread does, for the stack sampler
        self.at_attach = []  # functions called once when the process is attached
        self.at_fork = []  # functions called before a fork
        self.at_end = []  # functions called when the recording or the process ends
        self.errors = {}  # part: count
        self.part_off = {}  # part: function that undoes its patches
        self.modules = None  # modules.Modules, where forwards are seen
        self.optimizers = ()  # those that live
        self.optimizer_state = None  # of the optimizer part
        self.control_bits = 0
        self._state = _WAITING
        self._early = []
        self._infos = {}

    # -- life ------------------------------------------------------------------------------------

    def _first(self, kind, flags, name, start, end, a=-1, b=-1):
        """The first range: joins the session, then emits it."""
        if self.attach():
            self.emit(kind, flags, name, start, end, a, b)

    def attach(self):
        """Joins the session unless that was tried before. True while records are taken."""
        if self._state != _WAITING:
            return self._state == _ATTACHED
        self._state = _OFF  # also against recursion
        try:
            if is_loader_worker():
                return self.turn_off(retire=True)
            self.library = lib.Library(os.environ.get("PYROMETER_LIBRARY", ""))
            if self.library.attach() != 0:
                return self.turn_off()
        except Exception:
            return self.turn_off()
        self._state = _ATTACHED
        self.phase = self.library.phase
        self.emit = self._make_emit(self.library.ranges)
        early, self._early = self._early, []
        for function in early:
            self.guard("runtime", function)
        for function in self.at_attach:
            self.guard("runtime", function)
        return self._state == _ATTACHED

    @staticmethod
    def _make_emit(ranges):
        pack = lib.pack_range

        def emit(kind, flags, name, start, end, a=-1, b=-1):
            ranges(pack(start, end, a, b, name, kind, flags), 1)

        return emit

    def turn_off(self, retire=False):
        """Records nothing from here on. Returns False."""
        self.on = False
        self.emit = _ignore
        self._state = _OFF
        self._early = []
        if retire:
            try:
                # The library is here without us if the worker uses CUDA.
                library = self.library or lib.Library(os.environ.get("PYROMETER_LIBRARY", ""))
                library.retire()
            except Exception:
                pass
        self.library = None
        return False

    def before_fork(self):
        for function in self.at_fork:
            self.guard("runtime", function)

    def after_fork(self):
        """In a child: one that was forked from a recorded process is never recorded."""
        if self._state == _ATTACHED:
            self.turn_off()

    def end(self):
        """The process ends: what is open is closed and handed over."""
        if self._state == _ATTACHED and self.on:
            for function in self.at_end:
                self.guard("runtime", function)

    # -- records ---------------------------------------------------------------------------------

    @property
    def attached(self):
        return self._state == _ATTACHED

    def name(self, text):
        """The id of `text`, 0 before the process is attached."""
        library = self.library
        return library.name(text) if library is not None else 0

    def later(self, function):
        """Calls `function` now if attached, else when the process is (bounded)."""
        if self._state == _ATTACHED:
            function()
        elif self._state == _WAITING and len(self._early) < _EARLY_LIMIT:
            self._early.append(function)

    def emit_or_keep(self, kind, flags, text, start, end, a=-1, b=-1):
        """A range that does not by itself make the process worth recording."""
        self.later(lambda: self.emit(kind, flags, self.name(text), start, end, a, b))

    def counter(self, text, value, time_ns=None):
        library = self.library
        if library is not None and self._state == _ATTACHED:
            library.counter(library.name(text), time_ns or now(), float(value))

    def info(self, key, value):
        """A property of the process; said again only when it changed."""
        value = str(value)[:200]
        if self._infos.get(key) == value or len(self._infos) > 2000:
            return
        self._infos[key] = value

        def say():
            library = self.library
            if library is not None:
                library.info(key, value)

        self.later(say)

    def control(self):
        """Asks for the monitor's wishes: ControlBits."""
        if self._state == _ATTACHED:
            self.control_bits = self.library.control()
            if self.control_bits & lib.END:
                self.end()
                self.turn_off()
                self.control_bits = 0
        return self.control_bits

    # -- parts -----------------------------------------------------------------------------------

    def off(self, part, reason):
        """A part is not used here, or no longer."""
        self.info("hook." + part, "off: " + reason)

    def failed(self, part):
        """Call in an except block: the part undoes its patches and says why. Never raises."""
        try:
            self.errors[part] = self.errors.get(part, 0) + 1
            kind, _, trace = sys.exc_info()
            where = ""
            while trace is not None:
                code = trace.tb_frame.f_code
                where = " at %s:%d" % (code.co_filename.rpartition("/")[2], trace.tb_lineno)
                trace = trace.tb_next
            undo = self.part_off.pop(part, None)
            if undo is not None:
                undo()
            self.off(part, (kind.__name__ if kind else "error") + where)
            self.counter("hook.errors", sum(self.errors.values()))
        except Exception:
            pass

    def guarded(self, part, function):
        """`function`, after whose first error the part is off."""

        def call(*arguments):
            try:
                if part not in self.errors:
                    function(*arguments)
            except Exception:
                self.failed(part)

        return call

    def guard(self, part, function, *arguments):
        try:
            function(*arguments)
        except Exception:
            self.failed(part)


def is_loader_worker():
    """Whether this process is a DataLoader's worker."""
    data = sys.modules.get("torch.utils.data._utils.worker")
    return data is not None and getattr(data, "_worker_info", None) is not None


rt = Runtime()
