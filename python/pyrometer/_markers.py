"""Marks in the recording of `pyrometer run`, through the injected library (inject/hook_abi.h).

Where the process is not recorded, region() gives an object that does nothing and step() returns.
"""
import ctypes
import os
import struct
import sys
import time
from functools import wraps
from types import TracebackType
from typing import Any, Callable, Dict, Optional, Type, TypeVar

_ABIS = (1, 2)  # PYROMETER_HOOK_ABI: what is used here is the same in both
_USER, _STEP = 0, 1  # RangeKind of src/ring/layout.h
_MOST_NAMES = 8192  # in one process; further ones show as nameless
_pack = struct.Struct("=QQqqIHH").pack  # start, end, a, b, name, kind, flags
_now = time.monotonic_ns

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Records:
    """The library, joined to the session. Raises where it cannot be."""

    def __init__(self, path: str) -> None:
        quick = ctypes.PyDLL(path)  # calls that return at once keep the interpreter lock
        quick.pyrometer_hook_abi.restype = ctypes.c_uint32
        if quick.pyrometer_hook_abi() not in _ABIS:
            raise OSError("another hook ABI")
        if ctypes.CDLL(path).pyrometer_hook_attach() != 0:
            raise OSError("not recorded")
        self._ranges = quick.pyrometer_hook_ranges
        self._ranges.restype = None
        self._name = quick.pyrometer_hook_name
        self._name.restype = ctypes.c_uint32
        self._name.argtypes = [ctypes.c_char_p, ctypes.c_uint32]
        self._ids: Dict[str, int] = {}
        self.steps = 0
        self.step_start = 0  # ns; 0: not known

    def name(self, text: str) -> int:
        number = self._ids.get(text)
        if number is None:
            if len(self._ids) >= _MOST_NAMES:
                return 0
            data = text.encode("utf-8", "replace")
            number = self._name(data, len(data))
            self._ids[text] = number
        return number

    def emit(self, kind: int, name: int, start: int, end: int, a: int = -1, b: int = -1) -> None:
        self._ranges(_pack(start, end, a, b, name, kind, 0), 1)


class Region:
    """A stretch of the program: `with`, or a decorator of a function."""

    __slots__ = ("_name", "_start")

    def __init__(self, name: str) -> None:
        self._name = name
        self._start = 0

    def __enter__(self) -> None:
        self._start = _now()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        records = _records
        if records is not None:
            records.emit(_USER, records.name(self._name), self._start, _now())

    def __call__(self, function: _Function) -> _Function:
        name = self._name

        @wraps(function)
        def marked(*arguments: Any, **named: Any) -> Any:
            with region(name):
                return function(*arguments, **named)

        return marked  # type: ignore[return-value]


class _NoRegion(Region):
    """Does nothing, and may be entered any number of times at once."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        pass

    def __call__(self, function: _Function) -> _Function:
        return function


_NO_REGION = _NoRegion("")
_records: Optional[_Records] = None
_is_known = False  # whether this process is recorded


def _is_loader_worker() -> bool:
    """Whether this process is a DataLoader's worker, which is never recorded."""
    worker = sys.modules.get("torch.utils.data._utils.worker")
    return getattr(worker, "_worker_info", None) is not None


def _find() -> None:
    """Joins the recording, if there is one; tried once."""
    global _records, _is_known
    _is_known = True
    path = os.environ.get("PYROMETER_LIBRARY")
    if not path or not os.environ.get("PYROMETER_SESSION") or _is_loader_worker():
        return
    try:
        _records = _Records(path)
    except (OSError, AttributeError):
        _records = None  # over, out of room, or of another version: as if it were not there


def _after_fork() -> None:
    """A process that was forked from a recorded one is not recorded."""
    global _records
    _records = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def is_recorded() -> bool:
    """Whether marks of this process go into a recording."""
    if not _is_known:
        _find()
    return _records is not None


def region(name: str) -> Region:
    """Marks a stretch of the program by a name: `with region("validation"):` or `@region("load")`.

    Shows in the recording as a host range of the type "user". Names that Pyrometer knows ("validation",
    "checkpoint", "data loading", "logging" …) count as that in the analysis. Names are text of your
    choice; a few hundred different ones at most are sensible.
    """
    if not _is_known:
        _find()
    return Region(name) if _records is not None else _NO_REGION


def step(samples: Optional[int] = None) -> None:
    """Marks the end of a training step, and with it the beginning of the next.

    `samples`: how many were trained on in it. The first call begins the first step unless the hook
    has seen it begin. Once called, steps are those of these calls alone. For loops that Pyrometer
    does not see the steps of by itself: it does where an optimizer of PyTorch steps.
    """
    if not _is_known:
        _find()
    records = _records
    if records is None:
        return
    end = _now()
    hook = sys.modules.get("pyrometer_hook.steps")
    if hook is not None:
        told = getattr(getattr(hook, "steps", None), "told", None)
        if told is not None:  # an older hook tells of its own steps alone
            told(end, samples or 0)
        return
    if records.step_start:
        records.emit(_STEP, 0, records.step_start, end, records.steps, samples or -1)
        records.steps += 1
    records.step_start = end
