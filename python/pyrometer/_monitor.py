"""GPUs over time: the program runs beside this one, and a thread reads what it writes."""
import atexit
import collections
import math
import os
import signal
import subprocess
import tempfile
import threading
import time
import warnings
import weakref
from array import array
from dataclasses import dataclass
from datetime import datetime, timezone
from types import TracebackType
from typing import IO, Any, Deque, Dict, List, Optional, Tuple, Type

from ._binary import PyrometerError, binary, device_options
from ._gpu import NUMBERS, GpuList, parse
from ._statistics import GpuStatistics

_FIELDS = tuple(NUMBERS)
_NAN = float("nan")
_PATIENCE = 5.0  # s for the program to end when it is told to


@dataclass(frozen=True)
class Sample:
    """All GPUs at one moment."""

    time: float
    """Seconds since 1970."""
    gpus: GpuList


class _Series:
    """Samples of one GPU: numbers alone, since texts and reasons would take twenty times the room."""

    __slots__ = ("label", "name", "times", "rows")

    def __init__(self, maxlen: int) -> None:
        self.label = ""
        self.name: Optional[str] = None
        self.times: Deque[float] = collections.deque(maxlen=maxlen)
        self.rows: Deque["array[float]"] = collections.deque(maxlen=maxlen)


def _seconds(text: str) -> float:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")
    return moment.replace(tzinfo=timezone.utc).timestamp()


def _ending(code: int) -> str:
    if code >= 0:
        return "ended with %d" % code
    try:
        return "was ended by " + signal.Signals(-code).name
    except ValueError:
        return "was ended by signal %d" % -code


class Monitor:
    """Samples GPUs in the background, the last `maxlen` times.

    with Monitor(interval=1.0) as monitor: …, or start() and stop(). Any thread may ask it.
    Memory: about 250 bytes for each GPU and sample. In a process made by fork it stands still and
    keeps what it has; start() begins anew there.

    interval: seconds between samples, 0.1 at least. maxlen: samples kept. gpu: which GPUs, as
    with gpus(). demo: a made-up fleet.
    """

    def __init__(self, interval: float = 1.0, maxlen: int = 3600, gpu: Optional[str] = None,
                 demo: bool = False) -> None:
        if not 0.1 <= interval <= 86400:
            raise ValueError("interval has to be from 0.1 to 86400 s, is %r" % (interval,))
        if maxlen < 1:
            raise ValueError("maxlen has to be at least 1, is %r" % (maxlen,))
        self.interval = interval
        self.maxlen = maxlen
        self._options = device_options(gpu, demo)
        self._changed = threading.Condition()
        self._latest: Optional[Sample] = None
        self._series: Dict[str, _Series] = {}
        self._times: Deque[float] = collections.deque(maxlen=maxlen)
        self._process: Optional["subprocess.Popen[bytes]"] = None
        self._thread: Optional[threading.Thread] = None
        self._stopping = False
        self._error: Optional[str] = None

    # -- life ------------------------------------------------------------------------------------

    def start(self) -> "Monitor":
        """Begins to sample, or goes on after stop(). Raises PyrometerError where it cannot."""
        if self.running:
            return self
        command = [binary(), "stat", "--ndjson", "--watch", "%g" % self.interval] + self._options
        said = tempfile.TemporaryFile()
        try:
            # A session of its own: Ctrl-C is this program's to deal with.
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=said, start_new_session=True)
        except OSError as error:
            said.close()
            raise PyrometerError("cannot run %s: %s" % (command[0], error)) from error
        self._stopping = False
        self._error = None
        self._process = process
        self._thread = threading.Thread(target=self._read, args=(process, said), daemon=True,
                                        name="pyrometer.Monitor")
        self._thread.start()
        _running.add(self)
        return self

    def stop(self) -> None:
        """Ends sampling; what was sampled stays. May be called again."""
        process, self._process = self._process, None
        thread, self._thread = self._thread, None
        _running.discard(self)
        if process is None:
            return
        self._stopping = True
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()  # a driver that hangs
            process.wait()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE)

    def __enter__(self) -> "Monitor":
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()

    def _after_fork(self) -> None:
        """In a child: thread and program are the parent's, and locks may be held for ever."""
        self._changed = threading.Condition()
        process = self._process
        if process is not None and process.stdout is not None:
            # Closing the file would wait for its lock. What it reads from has to go all the same, or
            # the program would not see the parent end.
            nothing = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nothing, process.stdout.fileno(), inheritable=False)
            os.close(nothing)
            process.returncode = 0  # not ours to wait for
            _of_parents.append(process)
        self._process = None
        self._thread = None

    # -- the thread ------------------------------------------------------------------------------

    def _read(self, process: "subprocess.Popen[bytes]", said: IO[bytes]) -> None:
        trouble = None
        assert process.stdout is not None
        with process.stdout, said:
            try:
                for line in process.stdout:
                    self._take(line)
            except PyrometerError as error:
                trouble = str(error)
                process.kill()
            except ValueError:
                pass  # closed
            code = process.wait()
            if self._stopping:
                return
            if trouble is None:
                said.seek(0)
                words = said.read().decode("utf-8", "replace").strip().splitlines()
                trouble = "pyrometer stat " + _ending(code) + (": " + words[-1] if words else "")
        with self._changed:
            self._error = trouble
            self._changed.notify_all()
        warnings.warn("pyrometer.Monitor has stopped: " + trouble, RuntimeWarning)

    def _take(self, line: bytes) -> None:
        gpus, text = parse(line)
        moment = _seconds(text)
        rows = []
        for gpu in gpus:
            values = (gpu.metrics.get(key) for key in NUMBERS.values())
            row = array("d", [v if isinstance(v, (int, float)) else _NAN for v in values])
            rows.append((gpu, row))
        with self._changed:
            self._latest = Sample(moment, gpus)
            self._times.append(moment)
            for gpu, row in rows:
                key = gpu.uuid or gpu.pci_id or gpu.label
                series = self._series.get(key)
                if series is None:
                    series = self._series[key] = _Series(self.maxlen)
                series.label = gpu.label
                series.name = gpu.name or series.name
                series.times.append(moment)
                series.rows.append(row)
            # GPUs and MIG instances that are gone, and out of sight.
            oldest = self._times[0]
            for key in [k for k, s in self._series.items() if s.times[-1] < oldest]:
                del self._series[key]
            self._changed.notify_all()

    # -- answers ---------------------------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Whether samples are being taken."""
        thread = self._thread
        return thread is not None and thread.is_alive() and self._error is None

    @property
    def error(self) -> Optional[str]:
        """Why it has stopped by itself; None where it has not."""
        return self._error

    @property
    def problem(self) -> Optional[str]:
        """Why there are no GPUs in the last sample; None where there are, or no sample yet."""
        latest = self._latest
        return latest.gpus.problem if latest is not None else None

    @property
    def latest(self) -> Optional[Sample]:
        """The last sample, with texts and reasons; None before the first."""
        return self._latest

    def __len__(self) -> int:
        """How many samples are kept."""
        return len(self._times)

    def wait(self, timeout: Optional[float] = None) -> Sample:
        """The next sample, after at most `timeout` seconds.

        Raises PyrometerError where it has stopped, TimeoutError where the time is over.
        """
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            before = self._latest
            while self._latest is before or self._latest is None:
                if self._error is not None:
                    raise PyrometerError(self._error)
                if not self.running:
                    raise PyrometerError("the monitor is not running")
                left = 1.0 if end is None else end - time.monotonic()
                if left <= 0:
                    raise TimeoutError("no sample within %g s" % (timeout or 0))
                self._changed.wait(min(left, 1.0))
            return self._latest

    def _rows(self, since: Optional[float], until: Optional[float], last: Optional[float]
              ) -> Dict[str, Tuple[_Series, List[float], List["array[float]"]]]:
        with self._changed:
            if last is not None and self._times:
                since = max(self._times[-1] - last, -math.inf if since is None else since)
            low = -math.inf if since is None else since
            high = math.inf if until is None else until
            found = {}
            for key, series in self._series.items():
                kept = [i for i, t in enumerate(series.times) if low <= t <= high]
                times, rows = list(series.times), list(series.rows)
                found[key] = (series, [times[i] for i in kept], [rows[i] for i in kept])
            return found

    def statistics(self, since: Optional[float] = None, until: Optional[float] = None,
                   last: Optional[float] = None) -> Dict[str, GpuStatistics]:
        """Statistics of each GPU by its UUID, over the samples kept: between the times `since` and
        `until` (seconds since 1970), or over the `last` seconds. A GPU without a sample there is
        left out."""
        return {
            key: GpuStatistics(
                series.label, series.name, times,
                {name: [row[i] for row in rows] for i, name in enumerate(_FIELDS)})
            for key, (series, times, rows) in self._rows(since, until, last).items() if times}

    def to_pandas(self, since: Optional[float] = None, until: Optional[float] = None,
                  last: Optional[float] = None) -> Any:
        """A DataFrame with a row for each GPU and sample: time (UTC), uuid, label, and the numbers
        of Gpu in their units, NaN where missing. Raises ImportError without pandas."""
        import pandas  # type: ignore[import]  # not needed for anything else

        columns: Dict[str, List[Any]] = {name: [] for name in ("time", "uuid", "label") + _FIELDS}
        for key, (series, times, rows) in self._rows(since, until, last).items():
            columns["time"] += times
            columns["uuid"] += [key] * len(times)
            columns["label"] += [series.label] * len(times)
            for i, name in enumerate(_FIELDS):
                columns[name] += [row[i] for row in rows]
        frame = pandas.DataFrame(columns)
        frame["time"] = pandas.to_datetime(frame["time"], unit="s", utc=True)
        return frame.sort_values(["time", "label"], ignore_index=True)


_running: "weakref.WeakSet[Monitor]" = weakref.WeakSet()
_of_parents: List["subprocess.Popen[bytes]"] = []  # never freed, since that would close them


def _stop_all() -> None:
    for monitor in list(_running):
        monitor.stop()


def _after_fork() -> None:
    for monitor in list(_running):
        monitor._after_fork()
    _running.clear()


atexit.register(_stop_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
