"""Starts Pyrometer's hook in every Python that inherits PYTHONPATH from `pyrometer run`.

Runs in each interpreter start, so it imports nothing and only leaves a finder that waits for
torch. Then it runs the sitecustomize that would have run without it.
"""
import sys


class _TorchFinder:
    """A meta-path finder that finds nothing itself: it runs callbacks after imports.

    `wanted` maps a module's full name to a function of the module, called once.
    """

    def __init__(self, folder):
        self.folder = folder  # of the hook package
        self.wanted = {"torch": self._start}
        self._busy = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.wanted or name in self._busy:
            return None
        self._busy.add(name)
        try:
            for finder in list(sys.meta_path):
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec = find(name, path, target) if find else None
                if spec is not None:
                    self._follow(spec, name)
                    return spec
        finally:
            self._busy.discard(name)
        return None

    def after(self, name, callback):
        """Calls callback(module) once when the module is imported; now, if it has been."""
        module = sys.modules.get(name)
        if module is not None:
            callback(module)
        else:
            self.wanted[name] = callback

    def _follow(self, spec, name):
        """Calls back when the loader has run the module. The module keeps its own loader."""
        loader = spec.loader
        original = getattr(loader, "exec_module", None)
        if original is None:
            return

        def exec_module(module):
            try:
                del loader.exec_module
            except Exception:
                pass
            original(module)
            callback = self.wanted.pop(name, None)
            try:
                if callback is not None:
                    callback(module)
            except Exception:
                pass

        try:
            loader.exec_module = exec_module
        except Exception:
            self.wanted.pop(name, None)

    def load(self):
        """Makes the package `pyrometer_hook` importable."""
        name = "pyrometer_hook"
        if name not in sys.modules:
            make_spec = sys.modules["_frozen_importlib_external"].spec_from_file_location
            folder = self.folder
            spec = make_spec(name, folder + "/__init__.py", submodule_search_locations=[folder])
            module = sys.modules["_frozen_importlib"].module_from_spec(spec)
            sys.modules[name] = module
            spec.loader.exec_module(module)

    def _start(self, torch):
        self.load()
        from pyrometer_hook import start

        start.start(torch, self)


def _install(site_folder):
    import os  # loaded by every interpreter start

    environment = os.environ
    if not environment.get("PYROMETER_SESSION") or not environment.get("PYROMETER_LIBRARY"):
        return
    finder = _TorchFinder(os.path.dirname(site_folder))
    if "torch" in sys.modules:  # a .pth file was faster
        finder._start(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, finder)
    if environment.get("PYROMETER_WITH"):  # variables that torch looks at when it is imported
        finder.load()
        from pyrometer_hook.overrides import early

        early.apply()


def _chain(site_folder):
    """Runs the next sitecustomize on the path in place of this one, as the interpreter would."""
    folders = [folder for folder in sys.path if folder.rstrip("/") != site_folder]
    spec = sys.modules["_frozen_importlib_external"].PathFinder.find_spec("sitecustomize", folders)
    if spec is None or spec.loader is None:
        return
    module = sys.modules["_frozen_importlib"].module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)  # what it raises is the interpreter's to report


_folder = __file__.rpartition("/")[0]
try:
    _install(_folder)
except Exception:
    pass
_chain(_folder)
