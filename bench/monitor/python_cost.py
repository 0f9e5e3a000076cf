#!/usr/bin/env python3
"""What watching GPUs from a Python program costs: the package `pyrometer` beside polling with nvidia-ml-py.

usage: python_cost.py --pyrometer PATH [--stub FOLDER] [--pynvml FOLDER] [--gpus N] [--seconds S] [--rounds N]

--stub: folder of the simulated NVML (tests/stub_nvml in a build): N GPUs with two processes each; without it, the GPUs
of this machine. --pynvml: where nvidia-ml-py lies, if it is not installed. Polling reads what the readme of
nvidia-ml-py and gpustat read: utilization, memory, temperature, power, limit, clocks, fan and processes; the package
reads every metric of the catalogue (docs/reference/metrics.md). The two take turns. Processor time is that of this
process and of the program that the package runs; while nothing is measured, they wait.
"""
import argparse
import ctypes
import os
import pathlib
import resource
import statistics
import sys
import tempfile
import threading
import time

PYTHON = pathlib.Path(__file__).resolve().parents[2] / "python"


def own_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def ended_seconds():
    """Of programs that were run and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def running_seconds(pid):
    """Of all threads of a process, by the scheduler's account."""
    total = 0
    for task in pathlib.Path("/proc/%d/task" % pid).iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def resident_mib(pid):
    for line in pathlib.Path("/proc/%d/status" % pid).read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


class CtypesNvml:
    """The calls of nvidia-ml-py that are needed, made the same way: through ctypes, an error raised."""

    class Utilization(ctypes.Structure):
        _fields_ = [("gpu", ctypes.c_uint), ("memory", ctypes.c_uint)]

    class Memory(ctypes.Structure):
        _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]

    class Process(ctypes.Structure):
        _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("gpu", ctypes.c_uint),
                    ("compute", ctypes.c_uint)]

    NVMLError = ValueError

    def __init__(self):
        self._library = ctypes.CDLL("libnvidia-ml.so.1")

    def _call(self, name, *arguments):
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise ValueError("%s: %d" % (name, code))

    def _read(self, kind, name, *arguments):
        value = kind()
        self._call(name, *arguments, ctypes.byref(value))
        return getattr(value, "value", value)

    def _text(self, name, gpu):
        text = ctypes.create_string_buffer(96)
        self._call(name, gpu, text, ctypes.c_uint(96))
        return text.value.decode()

    def _processes(self, name, gpu):
        count = ctypes.c_uint(0)
        # With no room at first, as nvidia-ml-py asks.
        if getattr(self._library, name)(gpu, ctypes.byref(count), None) == 0:
            return []
        count = ctypes.c_uint(count.value * 2 + 5)
        entries = (self.Process * count.value)()
        self._call(name, gpu, ctypes.byref(count), entries)
        return [(entries[i].pid, entries[i].memory) for i in range(count.value)]

    def nvmlInit(self):
        self._call("nvmlInit_v2")

    def nvmlDeviceGetCount(self):
        return self._read(ctypes.c_uint, "nvmlDeviceGetCount_v2")

    def nvmlDeviceGetHandleByIndex(self, index):
        handle = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def nvmlDeviceGetName(self, gpu):
        return self._text("nvmlDeviceGetName", gpu)

    def nvmlDeviceGetUUID(self, gpu):
        return self._text("nvmlDeviceGetUUID", gpu)

    def nvmlDeviceGetUtilizationRates(self, gpu):
        return self._read(self.Utilization, "nvmlDeviceGetUtilizationRates", gpu)

    def nvmlDeviceGetMemoryInfo(self, gpu):
        return self._read(self.Memory, "nvmlDeviceGetMemoryInfo", gpu)

    def nvmlDeviceGetTemperature(self, gpu, which):
        return self._read(ctypes.c_uint, "nvmlDeviceGetTemperature", gpu, ctypes.c_uint(which))

    def nvmlDeviceGetPowerUsage(self, gpu):
        return self._read(ctypes.c_uint, "nvmlDeviceGetPowerUsage", gpu)

    def nvmlDeviceGetEnforcedPowerLimit(self, gpu):
        return self._read(ctypes.c_uint, "nvmlDeviceGetEnforcedPowerLimit", gpu)

    def nvmlDeviceGetClockInfo(self, gpu, which):
        return self._read(ctypes.c_uint, "nvmlDeviceGetClockInfo", gpu, ctypes.c_uint(which))

    def nvmlDeviceGetFanSpeed(self, gpu):
        return self._read(ctypes.c_uint, "nvmlDeviceGetFanSpeed", gpu)

    def nvmlDeviceGetComputeRunningProcesses(self, gpu):
        return self._processes("nvmlDeviceGetComputeRunningProcesses_v3", gpu)

    def nvmlDeviceGetGraphicsRunningProcesses(self, gpu):
        return self._processes("nvmlDeviceGetGraphicsRunningProcesses_v3", gpu)


def poller():
    """How it polls, and a function that reads all GPUs."""
    try:
        import pynvml as n
        name = "polling with nvidia-ml-py"
    except ImportError:
        n = CtypesNvml()
        name = "polling through ctypes, as nvidia-ml-py does"
    n.nvmlInit()
    handles = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]

    def value(call, *arguments):
        try:
            return call(*arguments)
        except n.NVMLError:
            return None

    def poll():
        rows = []
        for gpu in handles:
            rows.append([value(call, gpu, *more) for call, *more in (
                (n.nvmlDeviceGetName,), (n.nvmlDeviceGetUUID,), (n.nvmlDeviceGetUtilizationRates,),
                (n.nvmlDeviceGetMemoryInfo,), (n.nvmlDeviceGetTemperature, 0), (n.nvmlDeviceGetPowerUsage,),
                (n.nvmlDeviceGetEnforcedPowerLimit,), (n.nvmlDeviceGetClockInfo, 1), (n.nvmlDeviceGetClockInfo, 2),
                (n.nvmlDeviceGetFanSpeed,), (n.nvmlDeviceGetComputeRunningProcesses,),
                (n.nvmlDeviceGetGraphicsRunningProcesses,))])
        return rows

    return name, poll


def spread(values, factor):
    ordered = sorted(values)
    return "%.2f (%.2f to %.2f)" % (statistics.median(ordered) * factor, ordered[len(ordered) // 10] * factor,
                                    ordered[-1 - len(ordered) // 10] * factor)


def one_look(package, way, poll, rounds):
    def measured(call):
        wall, own, ended = time.perf_counter(), own_seconds(), ended_seconds()
        call()
        return time.perf_counter() - wall, own_seconds() - own + ended_seconds() - ended

    calls = {"pyrometer.gpus()": package.gpus, way + ", once initialised": poll}
    results = {name: [] for name in calls}
    for number in range(rounds + 1):
        for name, call in calls.items():
            result = measured(call)
            if number > 0:  # the first reads files from the disk
                results[name].append(result)
    print("| one look | wall time, ms: median (10th to 90th percentile) | processor time, ms: median |")
    print("|---|---:|---:|")
    for name, taken in results.items():
        print("| %s | %s | %.2f |" % (name, spread([t[0] for t in taken], 1e3),
                                      statistics.median(t[1] for t in taken) * 1e3))


def watching(package, way, poll, seconds):
    print("\n| a look every second | in this process, % of a core | beside it, % of a core | memory beside it, MiB |")
    print("|---|---:|---:|---:|")
    before = own_seconds()
    time.sleep(seconds)
    idle = own_seconds() - before
    with package.Monitor(interval=1.0) as monitor:
        time.sleep(2)
        child = monitor._process.pid
        own, beside, begin = own_seconds(), running_seconds(child), time.perf_counter()
        time.sleep(seconds)
        wall = time.perf_counter() - begin
        print("| pyrometer.Monitor | %.3f | %.3f | %.1f |" % (
            100 * (own_seconds() - own - idle) / wall, 100 * (running_seconds(child) - beside) / wall,
            resident_mib(child)))
    over = threading.Event()

    def loop():
        while not over.wait(1.0):
            poll()

    thread = threading.Thread(target=loop, daemon=True)
    thread.start()
    time.sleep(2)
    own, begin = own_seconds(), time.perf_counter()
    time.sleep(seconds)
    print("| a thread, %s | %.3f | 0 | 0 |" % (
        way, 100 * (own_seconds() - own - idle) / (time.perf_counter() - begin)))
    over.set()
    thread.join()


def run(options):
    sys.path.insert(0, str(PYTHON))
    import pyrometer as package
    way, poll = poller()
    print("%d GPUs" % len(package.gpus()))
    one_look(package, way, poll, options.rounds)
    watching(package, way, poll, options.seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pyrometer", required=True)
    parser.add_argument("--stub")
    parser.add_argument("--pynvml")
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    if options.stub and "PYROMETER_STUB_NVML" not in os.environ:
        # The loader looks at its search path as a program starts.
        with tempfile.TemporaryDirectory() as folder:
            world = pathlib.Path(folder) / "world"
            world.write_text("gpus %d\n" % options.gpus + "".join(
                "gpu%d process %d compute 1000 10\n" % (gpu, 600000 + 10 * gpu + i)
                for gpu in range(options.gpus) for i in range(2)), encoding="utf-8")
            environment = dict(os.environ, LD_LIBRARY_PATH=options.stub, PYROMETER_STUB_NVML=str(world),
                               PYROMETER_BINARY=os.path.abspath(options.pyrometer))
            if options.pynvml:
                environment["PYTHONPATH"] = options.pynvml
            child = os.spawnve(os.P_WAIT, sys.executable, [sys.executable, *sys.argv], environment)
            sys.exit(child)
    os.environ.setdefault("PYROMETER_BINARY", os.path.abspath(options.pyrometer))
    run(options)


if __name__ == "__main__":
    main()
