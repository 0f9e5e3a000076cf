"""Runs the scripts: plain, under `pyrometer run`, with a neighbour beside, within a CPU quota."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
THROUGHPUT = re.compile(r"^throughput: ([0-9.]+) samples/s, ([0-9.]+) ms per step, (\d+) steps$",
                        re.M)
CGROUP = Path("/sys/fs/cgroup")
QUOTA_PERIOD_US = 100_000


class RunError(RuntimeError):
    """A script or pyrometer that failed; says how and what it printed last."""


class Unavailable(RuntimeError):
    """The machine lacks what the case needs."""


def throughput(text):
    """What a script prints at its end, as a dictionary; None where it did not."""
    match = THROUGHPUT.search(text)
    if not match:
        return None
    return {"samples_per_s": float(match[1]), "ms_per_step": float(match[2]),
            "steps": int(match[3])}


def _end(process):
    """Ends a process with everything it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def finish(command, env, timeout_s, prepare=None):
    """Runs a command to its end and returns what it printed; RunError where it fails."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, errors="replace", start_new_session=True,
                               preexec_fn=prepare)
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise RunError(f"took more than {timeout_s:.0f} s") from None
    finally:
        _end(process)
        process.stdout.close()
    if process.returncode != 0:
        last = " | ".join(output.strip().splitlines()[-5:])
        raise RunError(f"exit status {process.returncode}: {last[-600:]}")
    return output


@contextlib.contextmanager
def quota(cores):
    """A callable that puts the calling process under a CPU quota; None without one.

    Needs a writable cgroup v2 hierarchy or v1 cpu controller: Unavailable otherwise.
    """
    if not cores:
        yield None
        return
    v2 = (CGROUP / "cgroup.controllers").exists()
    group = (CGROUP if v2 else CGROUP / "cpu") / f"diagnosis-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        raise Unavailable(f"no cgroup can be made: {error.strerror}") from None
    try:
        limit = int(cores * QUOTA_PERIOD_US)
        if v2:
            (group / "cpu.max").write_text(f"{limit} {QUOTA_PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(QUOTA_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(limit))
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    except OSError as error:
        raise Unavailable(f"no CPU quota can be set: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            group.rmdir()


@contextlib.contextmanager
def neighbour(script, python, env):
    """Another process on the machine while the block runs, once it says that it works."""
    if not script:
        yield
        return
    process = subprocess.Popen([python, str(HERE / "beside" / script)], env=env, text=True,
                               stdout=subprocess.PIPE, start_new_session=True)
    try:
        if process.stdout.readline().strip() != "working":
            raise RunError(f"{script}, which runs beside the case, did not start")
        yield
    finally:
        _end(process)
        process.stdout.close()


class Runner:
    """Runs variants of the cases with one interpreter, device and size."""

    def __init__(self, pyrometer, python=sys.executable, device="cuda", tiny=False, timeout_s=180):
        self.pyrometer, self.python, self.device = str(pyrometer), python, device
        self.tiny, self.timeout_s = tiny, timeout_s

    def environment(self, truth):
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", TQDM_DISABLE="1")
        if self.device == "cpu":
            env["CUDA_VISIBLE_DEVICES"] = "-1"  # as ""; a script that hides them itself says ""
        else:                               # no more than it needs: the others would be unused
            visible = os.environ.get("CUDA_VISIBLE_DEVICES")
            devices = visible.split(",") if visible else [str(i) for i in range(truth.gpus)]
            env["CUDA_VISIBLE_DEVICES"] = ",".join(devices[:truth.gpus])
        return env

    def command(self, truth, fixed, steps):
        launch = truth.launch[1 if fixed else 0]
        command = [self.python]
        if launch == "torchrun":
            command += ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node",
                        str(truth.gpus)]
        command += [str(truth.script)] + (["--steps", str(steps)] if steps else [])
        return command + ["--fixed"] * fixed + ["--tiny"] * self.tiny

    def _run(self, truth, command, planted):
        env = self.environment(truth)
        with neighbour(truth.beside if planted else "", self.python, env), \
                quota(truth.cpu_quota if planted else 0) as limit:
            began = time.monotonic()
            output = finish(command, env, self.timeout_s, limit)
        speed = throughput(output)
        if speed is None:
            raise RunError("printed no throughput: " + output.strip()[-300:])
        speed["wall_s"] = round(time.monotonic() - began, 2)
        return speed

    def plain(self, truth, fixed, steps):
        """Throughput of one plain run; `steps` None: as many as the script has by default."""
        return self._run(truth, self.command(truth, fixed, steps), not fixed)

    def recorded(self, truth, steps, recording):
        """Throughput of the planted script under `pyrometer run`, which writes the recording."""
        Path(recording).unlink(missing_ok=True)
        command = [self.pyrometer, "run", "--quiet", "-o", str(recording), "--"]
        speed = self._run(truth, command + self.command(truth, False, steps), True)
        if not Path(recording).exists():
            raise RunError("pyrometer run wrote no recording")
        return speed


def analyse(pyrometer, recording, timeout_s=120):
    """The JSON report of a recording, as text."""
    done = subprocess.run([str(pyrometer), "analyze", "--json", "--no-progress", str(recording)],
                          capture_output=True, text=True, timeout=timeout_s)
    if done.returncode != 0:
        raise RunError(f"pyrometer analyze: exit status {done.returncode}: {done.stderr[-300:]}")
    return done.stdout


def lacks(truth, python, device, gpus):
    """Why the case cannot run here, or "" where it can."""
    if device == "cuda" and truth.gpus > gpus:
        return f"needs {truth.gpus} GPUs"
    for need in truth.needs:
        if need == "cuda":
            if device != "cuda":
                return "needs a GPU"
            continue
        code = ("import torch; torch.compile" if need == "compile" else f"import {need}")
        if subprocess.run([python, "-c", code], capture_output=True).returncode != 0:
            return f"torch has no {need}" if need == "compile" else f"needs the module {need}"
    return ""
