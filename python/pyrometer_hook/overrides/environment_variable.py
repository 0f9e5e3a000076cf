"""env.NAME: set by early.py; here it is looked at whether the program left it so."""
import os

from .override import Override


class EnvironmentVariable(Override):
    def install(self, torch, finder):
        self.variable = self.name[len("env."):]
        self.check()
        self.after_first_step(self.check)

    def check(self):
        value = os.environ.get(self.variable)
        if value == self.value:
            self.applied("%s=%s" % (self.variable, value))
        else:
            self.cannot("the program sets %s itself" % self.variable)


def make(name, value, on):
    return EnvironmentVariable(name, value, on)
