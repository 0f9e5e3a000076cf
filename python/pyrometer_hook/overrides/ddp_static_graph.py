"""ddp.static_graph: each step uses the same parameters in the same order."""
from .ddp_argument import DdpArgument


class StaticGraph(DdpArgument):
    argument = "static_graph"

    def wish(self):
        return True


def make(name, value, on):
    return StaticGraph(name, value, on)
