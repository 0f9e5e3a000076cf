"""GPUs as Pyrometer reads them, and marks of your own in its recordings.

    import pyrometer

    for gpu in pyrometer.gpus():
        print(gpu.label, gpu.name, gpu.utilization, gpu.reason("utilization"))

    with pyrometer.Monitor(interval=1.0) as monitor:
        train()
    for uuid, numbers in monitor.statistics().items():
        print(uuid, numbers["power"].mean, "W", numbers.energy, "J")

    with pyrometer.region("validation"):  # shows in the recording of `pyrometer run`
        validate()

A value that is missing is None, never 0, and `reason()` says why. Units are those of the fields'
descriptions: fractions from 0 to 1, bytes, watts, joules, degrees Celsius, megahertz, seconds.
"""
from ._binary import BinaryNotFound, PyrometerError, binary
from ._gpu import Gpu, GpuList, Process, gpus
from ._markers import is_recorded, region, step
from ._monitor import Monitor, Sample
from ._statistics import GpuStatistics, Statistic

__all__ = [
    "BinaryNotFound",
    "Gpu",
    "GpuList",
    "GpuStatistics",
    "Monitor",
    "Process",
    "PyrometerError",
    "Sample",
    "Statistic",
    "binary",
    "gpus",
    "is_recorded",
    "region",
    "step",
]
