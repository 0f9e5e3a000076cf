"""The injected library's C ABI (inject/hook_abi.h) through ctypes.

One range costs about 0.2 us: struct.pack into 40 bytes, then a call of two plain arguments that
keeps the interpreter lock (PyDLL). Nothing here raises but `Library()`.
"""
import ctypes
import struct

ABI = 1  # PYROMETER_HOOK_ABI

# RangeKind of src/ring/layout.h
USER, STEP, INPUT, OPTIMIZER, FORWARD, BACKWARD, CHECKPOINT, VALIDATION = range(8)
COMPILE, GC, LOGGING, LOADER_START, EPOCH, SYNC_CALL, ZERO_GRAD, PROFILER = range(8, 16)

# RangeFlags
NO_GRAD, SKIPPED, ESTIMATED = 1, 2, 4

# ControlBits
CAPTURE_OFF, SYNC_WINDOW, STACK_SAMPLER, END = 1, 2, 4, 8

pack_range = struct.Struct("=QQqqIHH").pack  # start, end, a, b, name, kind, flags

_MAX_NAMES = 8192  # in one process; further texts have no name


class Library:
    """Loads the library at `path`. Raises OSError or AttributeError where it does not fit."""

    def __init__(self, path):
        quick = ctypes.PyDLL(path)  # calls that return at once
        waiting = ctypes.CDLL(path)  # calls that may wait: without the interpreter lock
        quick.pyrometer_hook_abi.restype = ctypes.c_uint32
        abi = quick.pyrometer_hook_abi()
        if abi != ABI:
            raise OSError("hook ABI %d, not %d" % (abi, ABI))

        self.ranges = self._ranges_function(quick)
        self._name = quick.pyrometer_hook_name
        self._name.restype = ctypes.c_uint32
        self._name.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
        self.counter = quick.pyrometer_hook_counter
        self.counter.restype = None
        self.counter.argtypes = [ctypes.c_uint32, ctypes.c_uint64, ctypes.c_double]
        self._info = quick.pyrometer_hook_info
        self._info.restype = None
        self._info.argtypes = [ctypes.c_uint32, ctypes.c_uint32]
        self.control = quick.pyrometer_hook_control
        self.control.restype = ctypes.c_uint32
        self.active = quick.pyrometer_hook_active
        self.attach = waiting.pyrometer_hook_attach
        # `yield` is a word of Python's.
        self.give_way = waiting.pyrometer_hook_yield
        self.give_way.restype = None
        self.resume = waiting.pyrometer_hook_resume
        self.resume.restype = None
        self.retire = waiting.pyrometer_hook_retire
        self.retire.restype = None
        self._names = {}

    @staticmethod
    def _ranges_function(quick):
        """f(packed ranges, how many). Untyped on purpose: ctypes passes bytes and small ints
        faster than declared arguments."""
        ranges = quick.pyrometer_hook_ranges
        ranges.restype = None
        return ranges

    def name(self, text):
        """The id of `text` in this process; 0 where there is none."""
        number = self._names.get(text)
        if number is None:
            if len(self._names) >= _MAX_NAMES:
                return 0
            data = text.encode("utf-8", "replace")
            number = self._name(data, len(data))
            if number:
                self._names[text] = number
        return number

    def info(self, key, value):
        self._info(self.name(key), self.name(value))
