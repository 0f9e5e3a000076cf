"""Ends the program at the end of a step, as sys.exit() does: finally blocks and atexit run.

The ranks of a job end at the same step: the first that finds the time over writes into the
session's folder, which all of a machine share, at which step that is.
"""
import ctypes
import math
import os
import sys
import threading

from ..runtime import rt

_SECOND = 1000 * 1000 * 1000
_MARGIN = 3  # steps: ranks are at most one apart, as each step has a reduction
_ATTEMPTS = 3
_FILE = "stop-after"


class Stop:
    def __init__(self, last, seconds, fewest=0):
        self.last = last  # steps, None: not known yet
        self.seconds = seconds
        self.fewest = fewest  # steps, also when the seconds are over
        self.first_end = 0  # ns
        self.attempts = 0
        self.shared = None

    def step_ended(self, count, end):
        """`count` steps are over. Raises SystemExit where it is enough."""
        try:
            if not self.first_end:
                self.first_end = end
                self.shared = _shared_file()  # by now it is known whether there are ranks
            if self.last is None:
                self.last = self._look(count, end)
            if self.last is None or count < self.last:
                return
            self.attempts += 1
            if self.attempts > _ATTEMPTS:
                self.last = math.inf
                rt.info("trial.stop", "cannot: because the program goes on after SystemExit")
                return
            rt.info("trial.stop", "applied: after %d steps" % count)
        except Exception:
            rt.failed("trial")
            self.last = math.inf
            return
        self._end()

    def _look(self, count, end):
        """The number of steps after which to end, once that is known."""
        if self.shared and os.path.exists(self.shared):
            with open(self.shared) as file:
                text = file.read()
            return int(text) if text.isdigit() else None  # else: being written
        if count < self.fewest or end - self.first_end < self.seconds * _SECOND:
            return None
        if not self.shared:
            return count
        try:
            file = os.open(self.shared, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        except FileExistsError:
            return None
        os.write(file, str(count + _MARGIN).encode())
        os.close(file)
        return count + _MARGIN

    @staticmethod
    def _end():
        main = threading.main_thread()
        if threading.current_thread() is not main:
            # SystemExit ends this thread alone; the main one gets its own.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(main.ident), ctypes.py_object(SystemExit))
        raise SystemExit(0)


def _shared_file():
    folder = os.environ.get("PYROMETER_SESSION", "")
    if not folder or _ranks() < 2:
        return None
    # One launch after another in the same run: each has a port of its own.
    port = os.environ.get("MASTER_PORT", "")
    return os.path.join(folder, _FILE + ("-" + port if port.isdigit() else ""))


def _ranks():
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed.get_world_size()
    ranks = os.environ.get("WORLD_SIZE", "")
    return int(ranks) if ranks.isdigit() else 1


def make(request):
    if request.stop_seconds is not None:
        return Stop(None, request.stop_seconds, request.stop_steps or 0)
    if request.stop_steps is not None:
        return Stop(request.stop_steps, 0)
    return None
