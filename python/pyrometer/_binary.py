"""Finds and runs the `pyrometer` program."""
import os
import shutil
import sys
from typing import List, NoReturn, Optional

_INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_dist", "bin", "pyrometer")


class PyrometerError(RuntimeError):
    """What the program says is wrong."""


class BinaryNotFound(PyrometerError):
    """There is no `pyrometer` program to ask."""


def _is_program(path: str) -> bool:
    """Not a script: the one that pip makes would only come back here."""
    try:
        with open(path, "rb") as file:
            return file.read(2) != b"#!" and os.access(path, os.X_OK)
    except OSError:
        return False


def binary() -> str:
    """Path of the program: $PYROMETER_BINARY, the one inside this package, or the first in PATH.

    Raises BinaryNotFound.
    """
    given = os.environ.get("PYROMETER_BINARY")
    if given:
        if os.access(given, os.X_OK) and not os.path.isdir(given):
            return given
        raise BinaryNotFound("PYROMETER_BINARY=%s is no program" % given)
    if os.access(_INSIDE, os.X_OK):
        return _INSIDE
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found: Optional[str] = shutil.which("pyrometer", path=folder) if folder else None
        if found and _is_program(found):
            return found
    raise BinaryNotFound(
        "no pyrometer program: neither in this package nor in PATH; PYROMETER_BINARY may name it")


def device_options(gpu: Optional[str], demo: bool) -> List[str]:
    """Which GPUs to read, as options of the program."""
    options = ["-i", gpu] if gpu else []
    return options + ["--demo"] if demo else options


def main() -> NoReturn:
    """Becomes the program, with the arguments of this one."""
    try:
        path = binary()
        os.execv(path, ["pyrometer"] + sys.argv[1:])
    except (PyrometerError, OSError) as error:
        sys.exit("pyrometer: %s" % error)
