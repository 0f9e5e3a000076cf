"""Short names of source files: no folder of the user's is ever recorded."""
import os
import sys
import sysconfig

from .patching import HOOK_FOLDER, is_hook_file

_shorts = {}
_roots = []  # (folders of libraries, the script's folder), once known


def _find_roots():
    paths = sysconfig.get_paths()
    library = [paths.get(key) for key in ("purelib", "platlib", "stdlib", "platstdlib")]
    for entry in sys.path:
        if entry.endswith(("site-packages", "dist-packages")):
            library.append(entry)
    library = sorted({os.path.join(path, "") for path in library if path}, key=len, reverse=True)
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    folder = os.path.join(os.path.dirname(os.path.abspath(main)), "") if main else None
    return library, folder


def _known_roots():
    if not _roots:
        _roots.append(_find_roots())
    return _roots[0]


def folders():
    """The folders that `short` goes by, for the library: inject/source_places.h."""
    library, folder = _known_roots()
    lines = ["H" + HOOK_FOLDER] + ["L" + root for root in library]
    if folder:
        lines.append("S" + folder)
    return "\n".join(line for line in lines if "\n" not in line)


def short(file):
    """(name, whether it is the user's): relative to the script, or from its package on."""
    entry = _shorts.get(file)
    if entry is None:
        entry = _short(file)
        if len(_shorts) < 4096:
            _shorts[file] = entry
    return entry


def _short(file):
    if is_hook_file(file):
        return "pyrometer_hook", False
    if file.startswith("<"):
        return file[:60], "ipython" in file
    library, folder = _known_roots()
    for root in library:
        if file.startswith(root):
            return file[len(root):], False
    if folder and file.startswith(folder):
        return file[len(folder):], True
    return os.path.basename(file), True


def user_frame(frame):
    """The innermost frame of the user's code from `frame` outwards, else None."""
    while frame is not None:
        if short(frame.f_code.co_filename)[1]:
            return frame
        frame = frame.f_back
    return None


def place(frame):
    """"file:line function"."""
    code = frame.f_code
    return "%s:%d %s" % (short(code.co_filename)[0], frame.f_lineno or 0, code.co_name)
