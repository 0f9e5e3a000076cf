"""Runs the package against the built program, on made-up GPUs and on a simulated NVML."""
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

PYTHON_FOLDER = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PYTHON_FOLDER))

PROGRAM = os.environ.get("PYROMETER_PROGRAM", "")
BUILD = pathlib.Path(os.environ.get("PYROMETER_BUILD", "."))
if not PROGRAM:
    print("skipped: PYROMETER_PROGRAM is not set: run through ctest")
    sys.exit(77)
os.environ["PYROMETER_BINARY"] = PROGRAM


def script(path, text):
    """An executable file that stands for the program."""
    path = pathlib.Path(path)
    path.write_text("#!/bin/sh\n" + textwrap.dedent(text))
    path.chmod(0o755)
    return str(path)


class PackageCase(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.addCleanup(self.restore, dict(os.environ))

    @staticmethod
    def restore(environment):
        os.environ.clear()
        os.environ.update(environment)

    def machine(self, text):
        """Makes the simulated machine (tests/stubs/nvml/world.h) the one that is read."""
        world = self.folder / "world"
        world.write_text(textwrap.dedent(text))
        os.environ["LD_LIBRARY_PATH"] = str(BUILD / "tests" / "stub_nvml")
        os.environ["PYROMETER_STUB_NVML"] = str(world)

    def fake(self, text):
        os.environ["PYROMETER_BINARY"] = script(self.folder / "fake", text)

    def python(self, text, command=(), env=None):
        """Runs a program of its own, below `command`. Returns the finished process."""
        path = self.folder / "program.py"
        path.write_text(textwrap.dedent(text))
        environment = dict(os.environ, PYTHONPATH=str(PYTHON_FOLDER), HOME=str(self.folder))
        environment.update(env or {})
        return subprocess.run(list(command) + [sys.executable, str(path)], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              cwd=str(self.folder), universal_newlines=True)
