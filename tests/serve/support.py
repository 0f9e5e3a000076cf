"""Starts `pyrometer serve` on simulated machines and asks it.

Tests of this folder are started by ctest (tests/unit_serve.cmake), which says in variables where the
program and the simulated NVML are.
"""
import gzip
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
DATA = SOURCE / "tests" / "data" / "serve"


def needed(name):
    value = os.environ.get(name)
    if not value:
        print("skipped: " + name + " is not set: run through ctest")
        sys.exit(77)
    return value


PYROMETER = needed("PYROMETER_PROGRAM")
STUB = needed("PYROMETER_STUB_FOLDER")
BUILD = pathlib.Path(needed("PYROMETER_BUILD"))
SANITIZED = bool(os.environ.get("PYROMETER_SANITIZED"))
CONTAINER = "3f2a" * 16

HEALTHY = """gpus 2
gpu0 process 4242 compute 2048 60
gpu0 process 4243 graphics na na
"""
TRAINING = "steps 100000 32; kernel ampere_sgemm_128x64_nn 4000 0; sync; sleep 2; end"
# One of everything: instances, what is not supported, what throttles.
MIXED = """gpus 3
gpu*.fan na
gpu0 process 4242 compute 2048 60
gpu0 process 4243 graphics na na
gpu1 mig 7 0 18432
gpu1 mig 8 0 18432
gpu1.util na
gpu1.throttle 0x48
gpu2 lost
"""


def until(condition, seconds=20.0, every=0.05):
    """The first truthy value of condition(); its last value when time is over."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(every)


class Reply:
    def __init__(self, raw):
        head, _, self.raw_body = raw.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        self.status = int(lines[0].split()[1]) if lines[0].startswith("HTTP/") else 0
        self.headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        self.body = self.raw_body
        if self.headers.get("content-encoding") == "gzip":
            self.body = gzip.decompress(self.raw_body)

    @property
    def text(self):
        return self.body.decode("utf-8")

    @property
    def json(self):
        return json.loads(self.body)


class Series(dict):
    """{(name, frozenset of labels): value} of a page; fails on what is no exposition format."""
    LINE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-z_A-Z0-9]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)$')
    LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"')

    def __init__(self, text):
        super().__init__()
        for line in text.splitlines():
            if line.startswith("#"):
                continue
            match = self.LINE.match(line)
            assert match, "no sample: " + line
            key = (match[1], frozenset(self.LABEL.findall(match[2] or "")))
            assert key not in self, "twice: " + line
            self[key] = float(match[3])

    def names(self):
        return {name for name, _ in self}

    def find(self, name, **labels):
        """Values of the series with that name and at least these labels."""
        wanted = set(labels.items())
        return [value for (n, have), value in self.items() if n == name and wanted <= have]

    def one(self, name, **labels):
        found = self.find(name, **labels)
        assert len(found) == 1, (name, labels, found)
        return found[0]


class ServeCase(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="serve-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.process = None
        self.port = None

    def tearDown(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.process:
            self.process.stderr.close()

    def prepare(self):
        """For tests to change the machine before the server looks at it."""

    def make_machine(self, world):
        """The simulated machine, with processes 4242 and 4243."""
        (self.folder / "world").write_text(world, encoding="utf-8")
        subprocess.run(["sh", "-c", "rm -rf proc; . %s/tests/stubs/nvml/machine.sh" % SOURCE], cwd=self.folder,
                       env=dict(os.environ, STUB_NVML=STUB), check=True)

    def put_in_pod(self):
        """Process 4242 runs in a pod. After make_machine()."""
        uid = "11111111_2222_3333_4444_555555555555"
        (self.folder / "proc/4242/cgroup").write_text(
            "0::/kubepods.slice/kubepods-pod%s.slice/cri-containerd-%s.scope\n" % (uid, CONTAINER))
        logs = self.folder / "var" / "log" / "containers"
        logs.mkdir(parents=True)
        (logs / ("trainer-0_ml_worker-%s.log" % CONTAINER)).symlink_to("/nowhere")

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")}
        return dict(kept, PATH=os.environ.get("PATH", os.defpath), HOME=str(self.folder), LANG="C.UTF-8",
                    LD_LIBRARY_PATH=STUB, PYROMETER_STUB_NVML=str(self.folder / "world"))

    def launch(self, *options, listen="127.0.0.1:0", root=True):
        """Starts the server; does not wait for anything."""
        command = [PYROMETER, "serve"]
        command += ["--root", str(self.folder)] if root else []
        command += ["--listen", listen] if listen else []
        self.process = subprocess.Popen(command + list(options), cwd=self.folder, env=self.environment(),
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        return self.process

    def serve(self, world, *options, listen="127.0.0.1:0", root=True):
        """Starts it on a simulated machine and waits until it listens."""
        self.make_machine(world)
        self.prepare()
        self.launch(*options, listen=listen, root=root)
        line = self.process.stderr.readline()
        self.assertIn("serving on", line, line + (self.process.stderr.read() if self.process.poll() else ""))
        match = re.search(r":(\d+)$", line.strip())
        self.port = int(match[1]) if match else None
        return line.strip()

    def connect(self, timeout=20):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout)
        self.addCleanup(connection.close)
        return connection

    def exchange(self, data, timeout=20):
        """Sends bytes and returns all that comes back until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            return self.read_all(connection)

    @staticmethod
    def read_all(connection):
        raw = b""
        while True:
            try:
                piece = connection.recv(65536)
            except ConnectionError:
                break
            if not piece:
                break
            raw += piece
        return raw

    def get(self, path, host="localhost", method="GET", timeout=20, **headers):
        lines = ["%s %s HTTP/1.1" % (method, path), "Host: " + host, "Connection: close"]
        lines += ["%s: %s" % (k.replace("_", "-"), v) for k, v in headers.items()]
        with socket.create_connection(("127.0.0.1", self.port), timeout) as connection:
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
            return Reply(self.read_all(connection))

    def metrics(self, **headers):
        reply = self.get("/metrics", **headers)
        self.assertEqual(reply.status, 200)
        return Series(reply.text)

    def wait_for(self, condition, seconds=20):
        """The first page of metrics of which the condition holds."""
        page = until(lambda: (lambda p: p if condition(p) else None)(self.metrics()), seconds)
        self.assertIsNotNone(page, self.get("/metrics").text[:4000])
        return page

    def wait_for_gpus(self, count):
        # The slow group and the hardware counters come with the second round.
        return self.wait_for(lambda page: len(page.find("pyrometer_gpu_up")) == count and
                             page.find("pyrometer_gpu_sm_active_ratio"))

    def end(self, sig=signal.SIGTERM, within=2.0):
        """Ends it and returns its exit code."""
        begin = time.monotonic()
        self.process.send_signal(sig)
        code = self.process.wait(timeout=60)
        self.assertLess(time.monotonic() - begin, within * (5 if SANITIZED else 1))
        return code


class RecordingCase(ServeCase):
    def record(self, name="train.pyro", training=TRAINING, world=None):
        """Starts `pyrometer run` on the simulated GPU; `world`: what the simulated NVML tells of it."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYROMETER_")}
        environment.update(HOME=str(self.folder), LD_LIBRARY_PATH=str(BUILD / "tests" / "gpu13"), OMP_NUM_THREADS="1",
                           PYROMETER_TEST_LIBRARY=str(BUILD / "lib" / "pyrometer" / "libpyrometer_inject.so"))
        if world is not None:
            (self.folder / "recorded_world").write_text(world, encoding="utf-8")
            environment["LD_LIBRARY_PATH"] += ":" + str(BUILD / "tests" / "stub_nvml")
            environment["PYROMETER_STUB_NVML"] = str(self.folder / "recorded_world")
        environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":detect_leaks=0:handle_segv=0:handle_abort=0"
        self.recording = self.folder / name
        self.recording.parent.mkdir(exist_ok=True)
        recorder = subprocess.Popen(
            [PYROMETER, "run", "-q", "-o", str(self.recording), "--", str(BUILD / "tests" / "gpu_program"),
             training], env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(lambda: recorder.poll() is None and recorder.kill())
        return recorder
