"""GPUs at one moment, from the JSON of `pyrometer stat` (docs/reference/stat-schema.md)."""
import json
import subprocess
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

from ._binary import PyrometerError, binary, device_options

Metric = Union[float, int, str, None]

# Numbers of a Gpu: its field and the name in catalog/metrics.json.
NUMBERS: Mapping[str, str] = {
    "utilization": "gpu.util",
    "memory_total": "gpu.memory_total",
    "memory_used": "gpu.memory_used",
    "memory_free": "gpu.memory_free",
    "memory_utilization": "gpu.util_memory",
    "power": "gpu.power",
    "power_limit": "gpu.power_limit",
    "energy": "gpu.energy",
    "temperature": "gpu.temperature",
    "temperature_memory": "gpu.temperature_memory",
    "fan": "gpu.fan",
    "clock_sm": "gpu.clock_sm",
    "clock_memory": "gpu.clock_memory",
    "sm_active": "gpu.sm_active",
    "sm_occupancy": "gpu.sm_occupancy",
    "tensor_active": "gpu.tensor_active",
    "dram_active": "gpu.dram_active",
    "pcie_tx": "gpu.pcie_tx",
    "pcie_rx": "gpu.pcie_rx",
    "nvlink_tx": "gpu.nvlink_tx",
    "nvlink_rx": "gpu.nvlink_rx",
}
TEXTS: Mapping[str, str] = {
    "name": "gpu.name",
    "uuid": "gpu.uuid",
    "vendor": "gpu.vendor",
    "pci_id": "gpu.pci_id",
    "parent_uuid": "gpu.parent_uuid",
    "mig_profile": "gpu.mig_profile",
    "driver_version": "gpu.driver_version",
}


@dataclass(frozen=True)
class Process:
    """A process that holds a GPU."""

    pid: int
    """Process id, on the host."""
    type: str
    """"compute" or "graphics"."""
    user: Optional[str] = None
    program: Optional[str] = None
    memory: Optional[float] = None
    """Device memory, bytes."""
    utilization: Optional[float] = None
    """Share of time in which its kernels ran, fraction."""
    container: Optional[str] = None
    slurm_job: Optional[str] = None
    pod: Optional[str] = None
    pod_namespace: Optional[str] = None
    recording: Optional[str] = None
    """What records it: "pyrometer 4242" with that program's process id."""
    rank: Optional[int] = None
    """Rank in its training, where that is known."""
    missing: Mapping[str, str] = field(default_factory=dict, repr=False)

    def reason(self, name: str) -> Optional[str]:
        """Why the field is None, in words; None where it is not missing."""
        key = {"memory": "memory_bytes", "utilization": "util"}.get(name, name)
        return self.missing.get(key)


@dataclass(frozen=True)
class Gpu:
    """A GPU, or a MIG instance, at one moment. What is missing is None: see reason()."""

    label: str
    """Number of the GPU, "0"; GPU/GPU instance/compute instance for a MIG instance, "0/7/0"."""
    kind: str
    """"gpu" or "mig"."""
    state: str
    """"ok", "lost" (fallen off the bus) or "asleep" (suspended; it is not woken to be read)."""
    name: Optional[str] = None
    uuid: Optional[str] = None
    vendor: Optional[str] = None
    """NVIDIA, AMD or Huawei; Demo where it is made up."""
    pci_id: Optional[str] = None
    parent_uuid: Optional[str] = None
    """Of a MIG instance: the UUID of the whole GPU."""
    mig_profile: Optional[str] = None
    driver_version: Optional[str] = None
    utilization: Optional[float] = None
    """Share of the driver's last sampling period in which a kernel ran, fraction."""
    memory_utilization: Optional[float] = None
    """Share of that period in which device memory was read or written, fraction."""
    memory_total: Optional[float] = None
    """Bytes."""
    memory_used: Optional[float] = None
    """Bytes, without what driver and firmware reserve."""
    memory_free: Optional[float] = None
    """Bytes."""
    power: Optional[float] = None
    """Board power, W."""
    power_limit: Optional[float] = None
    """W."""
    energy: Optional[float] = None
    """Energy since the driver was loaded, by the board's meter, J."""
    temperature: Optional[float] = None
    """Of the die, °C."""
    temperature_memory: Optional[float] = None
    """Of the device memory, °C."""
    fan: Optional[float] = None
    """Fan speed, fraction of the highest intended."""
    clock_sm: Optional[float] = None
    """MHz."""
    clock_memory: Optional[float] = None
    """MHz."""
    sm_active: Optional[float] = None
    """Share of SM time with a warp resident, fraction. As the next three: since the last reading."""
    sm_occupancy: Optional[float] = None
    """Resident warps of the most that there can be, fraction."""
    tensor_active: Optional[float] = None
    """Share of SM time in which a tensor pipe was active, fraction."""
    dram_active: Optional[float] = None
    """Device memory bandwidth used, fraction of the most possible."""
    pcie_tx: Optional[float] = None
    """From the GPU, bytes/s."""
    pcie_rx: Optional[float] = None
    """To the GPU, bytes/s."""
    nvlink_tx: Optional[float] = None
    """From the GPU, all links, bytes/s."""
    nvlink_rx: Optional[float] = None
    """To the GPU, all links, bytes/s."""
    throttled_by: Optional[Tuple[str, ...]] = None
    """What holds the clocks down: "power_cap", "thermal", …; empty: nothing."""
    processes: Tuple[Process, ...] = field(default=(), repr=False)
    metrics: Mapping[str, Metric] = field(default_factory=dict, repr=False)
    """All that was read, by the names and in the units of docs/reference/metrics.md."""
    missing: Mapping[str, str] = field(default_factory=dict, repr=False)

    def reason(self, name: str) -> Optional[str]:
        """Why a field, or a metric by its full name, is missing, in words; None where it is not.

        Raises KeyError for a name that is neither.
        """
        if name == "throttled_by":
            return self.missing.get("gpu.throttle_mask") if self.throttled_by is None else None
        key = NUMBERS.get(name) or TEXTS.get(name) or name
        if key not in self.metrics:
            if key not in NUMBERS.values() and key not in TEXTS.values():
                raise KeyError(name)
            return "this version of pyrometer does not read it"
        return self.missing.get(key) if self.metrics[key] is None else None


class GpuList(List[Gpu]):
    """A list of GPUs; `problem` says why it is empty."""

    def __init__(self, gpus: Any = (), host: str = "", problem: Optional[str] = None) -> None:
        super().__init__(gpus)
        self.host = host
        """Name of the machine."""
        self.problem = problem
        """Why no GPU can be read, in words; None where one can."""


def _process(given: Mapping[str, Any]) -> Process:
    return Process(
        pid=given["pid"], type=given.get("type", "compute"), user=given.get("user"),
        program=given.get("program"), memory=given.get("memory_bytes"),
        utilization=given.get("util"), container=given.get("container"),
        slurm_job=given.get("slurm_job"), pod=given.get("pod"),
        pod_namespace=given.get("pod_namespace"), recording=given.get("recording"),
        rank=given.get("rank"), missing=given.get("missing", {}))


def _gpu(given: Mapping[str, Any]) -> Gpu:
    metrics: Mapping[str, Any] = given["metrics"]
    values: Dict[str, Any] = {name: metrics.get(key) for name, key in NUMBERS.items()}
    values.update((name, metrics.get(key)) for name, key in TEXTS.items())
    throttled = given.get("throttled_by")
    return Gpu(
        label=given["label"], kind=given["kind"], state=given["state"],
        throttled_by=None if throttled is None else tuple(throttled),
        processes=tuple(_process(one) for one in given.get("processes", ())),
        metrics=metrics, missing=given.get("missing", {}), **values)


def parse(line: Union[str, bytes]) -> Tuple[GpuList, str]:
    """GPUs of one document, and its time. Raises PyrometerError."""
    try:
        document = json.loads(line)
        if not document["schema"].startswith("pyrometer.stat/1"):
            raise ValueError("schema " + document["schema"])
        problem = document.get("problem")
        text = None
        if problem:
            text = problem["message"] + (". " + problem["advice"] if problem["advice"] else "")
        found = GpuList((_gpu(one) for one in document["devices"]), document["host"], text)
        return found, document["time"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PyrometerError("not what `pyrometer stat` writes: %r" % (error,)) from error


def gpus(gpu: Optional[str] = None, demo: bool = False, timeout: float = 30.0) -> GpuList:
    """All GPUs, or those that `gpu` names: numbers, UUIDs or PCI addresses with commas between.

    Where none can be read the list is empty and its `problem` says why. `demo`: a made-up fleet.
    `timeout`: seconds that the driver has to answer. Raises PyrometerError where the program
    cannot be run, fails in another way, or takes longer.
    """
    command = [binary(), "stat", "--ndjson"] + device_options(gpu, demo)
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise PyrometerError("the driver has not answered within %g s" % timeout) from error
    except OSError as error:
        raise PyrometerError("cannot run %s: %s" % (command[0], error)) from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        found = parse(done.stdout)[0] if done.stdout.strip() else None
        # Without a GPU the document says why; anything else is the caller's to know.
        if found is not None and found.problem:
            return found
        raise PyrometerError(said or "pyrometer stat ended with %d" % done.returncode)
    return parse(done.stdout)[0]
