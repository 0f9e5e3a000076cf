"""The injected library's C ABI (inject/hook_abi.h) through ctypes.

One range costs about 0.2 us: struct.pack into 40 bytes, then a call of two plain arguments that
keeps the interpreter lock (PyDLL). Nothing here raises but `Library()`.
"""
import ctypes
import struct

ABI = 2  # PYROMETER_HOOK_ABI

# RangeKind of src/ring/layout.h
USER, STEP, INPUT, OPTIMIZER, FORWARD, BACKWARD, CHECKPOINT, VALIDATION = range(8)
COMPILE, GC, LOGGING, LOADER_START, EPOCH, SYNC_CALL, ZERO_GRAD, PROFILER = range(8, 16)

# RangeFlags
NO_GRAD, SKIPPED, ESTIMATED, UNPINNED = 1, 2, 4, 8

# pyrometer_hook_phase
PHASE_HOST, PHASE_INPUT, PHASE_FORWARD, PHASE_BACKWARD = range(4)
PHASE_OPTIMIZER, PHASE_CHECKPOINT, PHASE_LOGGING = range(4, 7)

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
        byte = quick.pyrometer_hook_phase_byte
        byte.restype = ctypes.POINTER(ctypes.c_uint8 * 1)
        self.phase = memoryview(byte().contents).cast("B")
        self._prepare = quick.pyrometer_hook_sampler_prepare
        self._prepare.restype = ctypes.c_char_p
        self._prepare.argtypes = [ctypes.c_uint32, ctypes.c_char_p]
        self._look = quick.pyrometer_hook_sampler_look
        self._look.restype = ctypes.c_uint32
        self._look.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
        self.sampler_start = quick.pyrometer_hook_sampler_start
        self.sampler_stop = waiting.pyrometer_hook_sampler_stop
        self.sampler_stop.restype = None
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

    def sampler_prepare(self, version, folders):
        """None, or why this thread's stack cannot be sampled."""
        problem = self._prepare(version, folders.encode("utf-8", "replace"))
        return problem.decode() if problem else None

    def sampler_look(self):
        """What the sampler sees of the thread that prepared it: places, innermost first."""
        buffer = ctypes.create_string_buffer(1 << 16)
        length = self._look(buffer, len(buffer))
        return buffer.raw[:length].split(b"\n")[:-1]

    def info(self, key, value):
        self._info(self.name(key), self.name(value))
