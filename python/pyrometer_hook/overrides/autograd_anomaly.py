"""autograd.anomaly: anomaly detection off, also where the program switches it on for each step."""
from .override import Override


class Anomaly(Override):
    def install(self, torch, finder):
        self.torch = torch
        self.found = False  # the program has it on
        mode = torch.autograd.anomaly_mode
        self.waiting("for the program to switch anomaly detection on")

        def enter(original):
            def __enter__(manager):
                result = original(manager)
                self.guard(self.suppress)
                return result

            return __enter__

        def start(original):
            def __init__(manager, *args, **kwargs):
                original(manager, *args, **kwargs)
                self.guard(self.suppress)

            return __init__

        self.patches.wrap(mode.detect_anomaly, "__enter__", enter)
        self.patches.wrap(mode.set_detect_anomaly, "__init__", start)

    def suppress(self):
        if not self.torch.is_anomaly_enabled():
            return
        self.found = True
        if self.on:
            self.torch.set_anomaly_enabled(False)
            self.applied("anomaly detection True -> False")

    def switched(self):
        if self.on:
            self.suppress()
        elif self.found:
            self.torch.set_anomaly_enabled(True)

    def undo(self):
        super().undo()
        if self.is_applied:
            self.torch.set_anomaly_enabled(True)


def make(name, value, on):
    return Anomaly(name, value, on)
