"""Overrides that need a GPU, or a newer torch, with what they look at made up."""
import pathlib
import unittest

from support import HookCase, need_torch

HARNESS = """
import sys
sys.path.insert(0, %r)
import torch
from torch import nn
torch.version.cuda = "12.4"
torch.cuda.is_initialized = lambda: True
torch.cuda.current_device = lambda: 0
capability = [9, 0]
torch.cuda.get_device_capability = lambda device=0: tuple(capability)
from pyrometer_hook.runtime import rt
from pyrometer_hook.steps import steps
from pyrometer_hook.overrides.install import make
said = {}
rt.info = lambda key, value: said.__setitem__(key, value)
class Finder:
    def after(self, name, callback):
        pass
def put(name, value, on=True):
    override = make(name, value, on)
    override.guard(override.install, torch, Finder())
    return override
def first_step():
    steps.has_optimizer = True
    steps._first()
def second():
    for function in list(steps.at_boundary):
        function(0)
def status(name):
    return said.get("override." + name, "")
def check(value, *rest):
    assert value, rest
""" % str(pathlib.Path(__file__).resolve().parents[1])


class MadeUpGpuTest(HookCase):
    def check(self, program):
        self.run_program(HARNESS + program, hook=False)

    def test_tf32(self):
        self.check("""
matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
override = put("precision.tf32", "on")
check(matmul.allow_tf32)
matmul.allow_tf32 = False  # the program's own
first_step()
check(matmul.allow_tf32 and cudnn.allow_tf32)
check(status("precision.tf32").startswith("applied: TF32"), status("precision.tf32"))
override.switch(False)
check(not matmul.allow_tf32 and cudnn.allow_tf32)
override.switch(True)
check(matmul.allow_tf32)
matmul.allow_tf32 = False
second()
check("sets TF32" in status("precision.tf32") and "itself" in status("precision.tf32"))
""")
        self.check("""
capability[0] = 7
put("precision.tf32", "on")
first_step()
check("compute capability 8.0" in status("precision.tf32"), status("precision.tf32"))
check(not torch.backends.cuda.matmul.allow_tf32)
""")
        self.check("""
put("precision.tf32", "off", on=False)
check(not torch.backends.cuda.matmul.allow_tf32)
""")

    def test_cudnn_benchmark(self):
        self.check("""
torch._C._has_cudnn = torch._C.has_cudnn = True
cudnn = torch.backends.cudnn
override = put("cudnn.benchmark", "on")
first_step()
check(cudnn.benchmark and status("cudnn.benchmark").startswith("applied"), said)
override.switch(False)
check(not cudnn.benchmark)
""")
        self.check("""
torch._C._has_cudnn = torch._C.has_cudnn = True
torch.backends.cudnn.benchmark = False
put("cudnn.benchmark", "off")
first_step()
check("is False already" in status("cudnn.benchmark"), said)
""")

    def test_non_blocking(self):
        self.check("""
calls = []
torch.Tensor.to = lambda self, *args, **kwargs: calls.append(kwargs.get("non_blocking"))
torch.Tensor.cuda = torch.Tensor.to
torch.Tensor.is_pinned = lambda self: pinned
override = put("transfer.non_blocking", "on")
x = torch.ones(3)
pinned = False
x.to("cuda:0")
check(status("transfer.non_blocking").startswith("waiting"))
pinned = True
x.to("cuda:0"); x.to(torch.device("cuda")); x.to(0); x.cuda(); x.to(device="cuda")
x.to("cuda", torch.float16)
x.to("cpu"); x.to(torch.float64); x.to(torch.ones(1)); x.to("cuda", non_blocking=False)
x.to("cuda", torch.float16, False); x.cuda(0, False)
check(calls == [None] + [True] * 6 + [None] * 3 + [False] + [None] * 2, calls)
check(status("transfer.non_blocking").startswith("applied"))
override.switch(False)
x.to("cuda:0")
check(calls[-1] is None)
override.cannot("of the test")
check(torch.Tensor.to.__name__ == "<lambda>")
""")

    def test_empty_cache(self):
        self.check("""
calls = []
torch.cuda.memory.empty_cache = torch.cuda.empty_cache = lambda: calls.append(1)
override = put("allocator.empty_cache", "off")
torch.cuda.empty_cache()
check(not calls and status("allocator.empty_cache").startswith("applied"))
override.switch(False)
torch.cuda.empty_cache()
check(len(calls) == 1)
""")

    def test_compile(self):
        self.check("""
import types
config = types.ModuleType("torch._dynamo.config")
config.suppress_errors = False
for name, module in (("torch._dynamo", types.ModuleType("torch._dynamo")),
                     ("torch._dynamo.config", config)):
    sys.modules[name] = module
torch._dynamo = sys.modules["torch._dynamo"]
torch._dynamo.config = config
torch.compile = None
compiled = []
def compile(self, mode=None):
    compiled.append(mode)
    self._compiled_call_impl = lambda *args: "compiled"
nn.Module.compile = compile
class Modules:
    tops = []
rt.modules = Modules
model = nn.Linear(2, 2)
import weakref
Modules.tops = [weakref.ref(model)]
override = put("compile", "default")
first_step()
check(compiled == [None] and model._compiled_call_impl and config.suppress_errors)
check("of Linear" in status("compile"), said)
override.switch(False)
check(model._compiled_call_impl is None)
override.switch(True)
check(model._compiled_call_impl("x") == "compiled")
utils = sys.modules["torch._dynamo.utils"] = types.ModuleType("utils")
utils.counters = {"frames": {"total": 3}}
second()
check("nothing of Linear could be compiled" in status("compile"), said)
check(model._compiled_call_impl is None and not config.suppress_errors)
""")

    def test_fused(self):
        self.check("""
sys.modules["torch.optim.optimizer"]._default_to_fused_or_foreach = None
nn.Parameter.is_cuda = property(lambda self: True)
model = nn.Linear(2, 2)
optimizer = torch.optim.Adam(model.parameters(), fused=False)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
rt.optimizers = [optimizer]
override = put("optimizer.fused", "on", on=False)
first_step()
check(optimizer.param_groups[0]["fused"] is False)
override.switch(True)
check(optimizer.param_groups[0]["fused"] and status("optimizer.fused").startswith("applied"), said)
override.cannot("of the test")
check(optimizer.param_groups[0]["fused"] is False)
optimizer.step()
""")

    def test_loss_scale(self):
        self.check("""
from pyrometer_hook.overrides.loss_scale import LossScale
class Override:
    on = is_proven = True
    reason = ""
    def cannot(self, reason):
        self.reason, self.on = reason, False
    def guard(self, function, *arguments):
        function(*arguments)
override = Override()
scale = LossScale(override, torch)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
rt.optimizers = [optimizer]
x = torch.randn(4, 3)
model(x).pow(2).mean().backward()
expected = model.weight.grad.clone()
optimizer.zero_grad()
scale.install()
steps.index = 1
seen = []
model.weight.register_hook(lambda grad: seen.append(grad.clone()))
model(x).pow(2).mean().backward()
check(torch.allclose(model.weight.grad, expected, rtol=1e-5))
check(torch.allclose(seen[0] / scale.scale, expected, rtol=1e-5))
steps.index = 2
optimizer.zero_grad()
before = model.weight.detach().clone()
(model(x).pow(2).mean() * float("inf")).backward()
check(model.weight.grad is None and scale.scale == 32768)
optimizer.step()
check(torch.equal(before, model.weight))
steps.index = 3
model(x).pow(2).mean().backward()
model(x).pow(2).mean().backward()
check("accumulated" in override.reason)
check(torch.allclose(model.weight.grad, 2 * expected, rtol=1e-4))
""")

    def test_settings_of_the_allocator(self):
        self.check("""
import os
from pyrometer_hook.overrides import early
from pyrometer_hook.overrides.request import Request
check(early.joined("", "a:1") == "a:1")
check(early.joined("b:2,a:3", "a:1") == "b:2,a:1")
check(early.joined("r:[256:1,512:2,>:4],a:3", "a:1,c:4") == "r:[256:1,512:2,>:4],a:1,c:4")
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:64"
request = Request({"PYROMETER_WITH": "allocator=expandable_segments:True"})
os.environ.update(early.variables(request))
check(os.environ["PYTORCH_CUDA_ALLOC_CONF"] == "max_split_size_mb:64,expandable_segments:True")
put("allocator", "expandable_segments:True")
first_step()
check(status("allocator").startswith("applied: PYTORCH_CUDA_ALLOC_CONF=max"), said)
""")
        self.check("""
put("allocator", "expandable_segments:True")
first_step()
check("itself" in status("allocator"), said)
""")

    def test_pinned_batches(self):
        self.check("""
from torch.utils.data import DataLoader
override = put("loader.pin_memory", "on")
loader = DataLoader([1, 2], pin_memory=False)
seen = []
real = torch.utils.data.dataloader._SingleProcessDataLoaderIter.__init__
def init(self, loader):
    seen.append(loader.pin_memory)
    real(self, loader)
torch.utils.data.dataloader._SingleProcessDataLoaderIter.__init__ = init
list(loader)
check(seen == [True] and loader.pin_memory is False)
check("pin_memory False -> True" in status("loader.pin_memory"), said)
""")

    def test_requests(self):
        self.check("""
from pyrometer_hook.overrides.request import Request
request = Request({"PYROMETER_WITH": "gc=off;nonsense=1;loader.workers;=2;threads=",
                   "PYROMETER_STOP_AFTER": "seconds=x", "PYROMETER_SEED": "-1",
                   "PYROMETER_LOSS": "0", "PYROMETER_ALTERNATE_BLOCK": "none"})
check(request.with_ == [("gc", "off")] and request.block == 1 and not request.is_trial)
check(request.stop_seconds is None and request.seed is None and request.losses is None)
check(Request({"PYROMETER_STOP_AFTER": "seconds=1.5"}).stop_seconds == 1.5)
""")

    def test_every_override_has_its_module(self):
        self.check("""
from pyrometer_hook.overrides.table import TABLE
for name in TABLE:
    override = make(name, "1", True)
    check(override.name == name)
    override.undo()  # of what was never installed
""")


if __name__ == "__main__":
    need_torch()
    unittest.main()
