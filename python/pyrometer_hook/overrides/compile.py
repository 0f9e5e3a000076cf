"""compile: torch.compile of the outermost modules, in place."""
import sys

from ..steps import steps
from . import models
from .override import Refused


class Compile(models.AfterFirstStep):
    def install(self, torch, finder):
        if not hasattr(torch.nn.Module, "compile") or not hasattr(torch, "compile"):
            raise Refused("this torch has no Module.compile (2.2 and later have)")
        self.compiled = models.Things()  # modules, with their compiled call
        self.theirs = None  # dynamo's suppress_errors
        super().install(torch, finder)
        steps.at_boundary.append(self.guarded(self.watch))

    def look_at(self, module):
        if type(module).__name__ == "OptimizedModule" or getattr(
                module, "_compiled_call_impl", None) is not None:
            raise Refused("it is compiled already")
        if issubclass(type(module), self.torch.jit.ScriptModule):
            raise Refused("it is a TorchScript module")
        parameter = next(module.parameters())
        if self.value == "reduce-overhead" and not parameter.is_cuda:
            raise Refused("CUDA graphs need a model on a GPU")
        self.keep_errors()
        module.compile(mode=None if self.value == "default" else self.value)
        self.compiled.add(module, module._compiled_call_impl)
        if self.on:
            self.told()
        else:
            module._compiled_call_impl = None

    def keep_errors(self):
        """What cannot be compiled runs as it is, instead of an error."""
        import torch._dynamo.config as config

        if self.theirs is None:
            self.theirs = (config, config.suppress_errors)
            config.suppress_errors = True

    def told(self):
        names = sorted({type(module).__name__ for module, _ in self.compiled})
        self.applied("torch.compile(mode=%s) of %s" % (self.value, ", ".join(names)))

    def watch(self, time):
        """Says so where nothing was compiled after all."""
        utils = sys.modules.get("torch._dynamo.utils")
        frames = utils.counters.get("frames", {}) if utils is not None else {}
        if self.on and self.is_taken and frames.get("total", 0) and not frames.get("ok", 0):
            names = sorted({type(module).__name__ for module, _ in self.compiled})
            raise Refused("nothing of %s could be compiled" % ", ".join(names))

    def switched(self):
        for module, call in self.compiled:
            module._compiled_call_impl = call if self.on else None
        if self.on and self.is_taken:
            self.told()

    def undo(self):
        super().undo()
        compiled, self.compiled = getattr(self, "compiled", ()), models.Things()
        for module, _ in compiled:
            module._compiled_call_impl = None
        if getattr(self, "theirs", None) is not None:
            config, value = self.theirs
            config.suppress_errors = value
            self.theirs = None


def make(name, value, on):
    return Compile(name, value, on)
