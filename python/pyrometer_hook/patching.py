"""Replacing functions so that nobody but the hook notices."""
import functools

# Python's warnings module skips frames of files whose name has both words when it looks for the
# caller, so that warnings still point at the user's line; torch.compile leaves files alone whose
# name begins like this one.
_FILE = "<frozen importlib._bootstrap pyrometer_hook/%s>"


def hidden(function):
    """`function` with a file name that warnings and torch.compile pass over (Python 3.8+)."""
    code = function.__code__
    if hasattr(code, "replace"):
        name = _FILE % code.co_filename.replace("\\", "/").rpartition("/")[2]
        function.__code__ = code.replace(co_filename=name)
    return function


# Where it is installed the folder has another name.
HOOK_FOLDER = __file__.replace("\\", "/").rpartition("/")[0] + "/"


def is_hook_file(name):
    return "pyrometer_hook/" in name or name.startswith(HOOK_FOLDER)


def leave_no_trace(error):
    """Takes the frame of a wrapper out of the traceback of what the original raised.

    To be called in the wrapper's except clause, before a bare `raise`. Before Python 3.11 that puts
    the frame back.
    """
    trace = error.__traceback__
    if trace is not None:
        error.__traceback__ = trace.tb_next


class Patches:
    """The replaced attributes of one part, to be put back."""

    def __init__(self):
        self._undo = []

    def wrap(self, owner, name, make, hide=True):
        """Sets owner.name to make(original), dressed as the original. False: not there.

        `owner` is a module or a class; a class must define the attribute itself.
        """
        original = vars(owner).get(name)
        if original is None or not callable(original):
            return False
        wrapper = make(original)
        if hide:
            hidden(wrapper)
        functools.update_wrapper(wrapper, original)
        setattr(owner, name, wrapper)
        self._undo.append((owner, name, original, wrapper))
        return True

    def wrap_shared(self, owners, name, make):
        """Wraps the function `name` of the first owner; the others that share it get the same."""
        for home in owners:
            original = vars(home).get(name)
            if original is not None and self.wrap(home, name, make):
                wrapper = vars(home)[name]
                for other in owners:
                    if vars(other).get(name) is original:
                        setattr(other, name, wrapper)
                        self._undo.append((other, name, original, wrapper))
                return True
        return False

    def add(self, owner, name, value):
        """Sets an attribute that the class `owner` inherits."""
        setattr(owner, name, value)
        self._undo.append((owner, name, None, value))

    def undo(self):
        """Puts back what nobody has replaced since."""
        for owner, name, original, wrapper in reversed(self._undo):
            if vars(owner).get(name) is wrapper:
                if original is None:
                    delattr(owner, name)
                else:
                    setattr(owner, name, original)
        self._undo = []
