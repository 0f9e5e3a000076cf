"""What the monitor asks for, from the environment. Imports nothing: it runs before torch does."""
import os

from .table import TABLE


def parse_list(text):
    """"id=value;id=value" -> [(id, value)]; what is not in the table is left out."""
    found = []
    for item in text.split(";"):
        name, equals, value = item.partition("=")
        if equals and value and name in TABLE:
            found.append((name, value))
    return found


def number(text, least):
    """A whole number from `least` on, else None."""
    return int(text) if text.isdigit() and int(text) >= least else None


class Request:
    def __init__(self, environment=os.environ):
        self.with_ = parse_list(environment.get("PYROMETER_WITH", ""))
        self.alternate = parse_list(environment.get("PYROMETER_ALTERNATE", ""))
        self.block = number(environment.get("PYROMETER_ALTERNATE_BLOCK", ""), 1) or 1
        self.stop_steps = self.stop_seconds = None
        for limit in environment.get("PYROMETER_STOP_AFTER", "").split(","):
            kind, _, value = limit.partition("=")
            if kind == "steps":
                self.stop_steps = number(value, 1)
            elif kind == "seconds":
                try:
                    self.stop_seconds = max(float(value), 0.0)
                except ValueError:
                    pass
        self.seed = number(environment.get("PYROMETER_SEED", ""), 0)
        self.losses = number(environment.get("PYROMETER_LOSS", ""), 1)
        # Whether each step is recorded on its own.
        self.is_trial = bool(self.alternate or self.losses or self.seed is not None
                             or self.stop_steps is not None or self.stop_seconds is not None)
