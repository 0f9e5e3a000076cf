"""threads: of torch's operators on the CPU, OpenMP, MKL and OpenCV. early.py sets the variables."""
from .early import cores
from .flag import Flag


class Threads(Flag):
    label = "threads"

    def install(self, torch, finder):
        self.torch = torch
        self.wish = cores() if self.value == "auto" else int(self.value)
        self.cv2 = None
        finder.after("cv2", self.guarded(self.opencv))
        super().install(torch, finder)

    def opencv(self, module):
        if self.on and not self.is_off and hasattr(module, "setNumThreads"):
            self.cv2 = (module, module.getNumThreads())
            module.setNumThreads(self.wish)

    def get(self):
        return self.torch.get_num_threads()

    def set(self, value):
        self.torch.set_num_threads(value)
        if self.cv2 is not None:
            module, theirs = self.cv2
            module.setNumThreads(value if value == self.wish else theirs)

    def first(self):
        if self.ours and self.get() == self.wish:
            # early.py has set it before torch could count: nobody knows what it would have been.
            self.settled = True
            self.applied("%d threads" % self.wish)
        else:
            super().first()


def make(name, value, on):
    return Threads(name, value, on)
