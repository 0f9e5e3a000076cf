"""What the figures of a scoreboard belong to: the machine, the versions, the day."""
import os
import shlex
import subprocess
import sys
import time

TORCH = """import platform, torch
print(torch.__version__, torch.version.cuda or "-", platform.python_version(), sep=",")
print(torch.cuda.device_count())"""


def _output(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def gpu_count(python):
    """GPUs that torch sees; 0 where it sees none or is not there."""
    output = _output([python, "-c", TORCH])
    return int(output.splitlines()[1]) if output else 0


def program_version(pyrometer):
    output = _output([str(pyrometer), "--version"])
    return output.splitlines()[0] if output else None


def facts(pyrometer, python):
    """A dictionary of strings; what cannot be had is None."""
    torch = _output([python, "-c", TORCH])
    version, cuda, interpreter = torch.splitlines()[0].split(",") if torch else (None,) * 3
    gpus = _output(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"])
    names = gpus.splitlines() if gpus else []
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "gpus": ", ".join(sorted({line.split(", ")[0] for line in names})) or None,
        "gpu_count": str(len(names)),
        "driver": names[0].split(", ")[-1] if names else None,
        "torch": version, "cuda": cuda, "python": interpreter,
        "cores": str(len(os.sched_getaffinity(0))),
        "pyrometer": program_version(pyrometer),
        "command": shlex.join([os.path.relpath(sys.argv[0])] + sys.argv[1:]),
    }
