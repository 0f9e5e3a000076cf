"""Puts an installation of the release preset into the wheel: pyrometer/_dist.

PYROMETER_CMAKE_BUILD names the folder of the build (build/release).
"""
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("PYROMETER_CMAKE_BUILD") or ROOT / "build" / "release")
# The program finds its manual and its completions nowhere from here; licences have to stay.
LEFT_OUT = ("share/man", "share/bash-completion", "share/zsh", "share/fish",
            "share/doc/pyrometer/docs", "share/doc/pyrometer/deploy")


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", text, re.I).group(1)


class BuildWithProgram(build_py):
    """Builds the program with CMake and installs it into the package."""

    editable_mode = False

    def run(self):
        package = pathlib.Path(self.build_lib).resolve() / "pyrometer"
        if not self.editable_mode:
            shutil.rmtree(package, ignore_errors=True)  # of an earlier build
        super().run()
        if self.editable_mode:
            return  # finds the program through PYROMETER_BINARY or PATH
        target = package / "_dist"
        run = lambda *words: subprocess.run(words, cwd=ROOT, check=True)  # noqa: E731
        run("cmake", "--preset", "release", "-B", str(BUILD))
        run("cmake", "--build", str(BUILD), "--target", "pyrometer", "pyrometer_inject")
        run("cmake", "--install", str(BUILD), "--prefix", str(target), "--strip")
        for folder in LEFT_OUT:
            shutil.rmtree(target / folder, ignore_errors=True)


class WheelOfThisMachine(bdist_wheel):
    """For any Python 3, and for the C library of this machine or a newer one."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        machine = sysconfig.get_platform().split("-", 1)[1].replace("-", "_")
        major, minor = os.confstr("CS_GNU_LIBC_VERSION").split()[1].split(".")[:2]
        return "py3", "none", "manylinux_%s_%s_%s" % (major, minor, machine)


class DistributionWithProgram(Distribution):
    def has_ext_modules(self):
        return True


setup(version=version(), distclass=DistributionWithProgram,
      cmdclass={"build_py": BuildWithProgram, "bdist_wheel": WheelOfThisMachine})
