"""Changes of a training that need no edit of its code: docs/concepts/overrides.md.

Nothing of this package is loaded unless one of VARIABLES is set.
"""
import os

VARIABLES = ("PYROMETER_WITH", "PYROMETER_ALTERNATE", "PYROMETER_STOP_AFTER", "PYROMETER_SEED",
             "PYROMETER_LOSS")


def asked():
    return any(os.environ.get(name) for name in VARIABLES)
