"""Checkpoints, collections, profiler, trackers, sampler, sync window, and their switching off."""
import sys
import unittest

from support import PRELUDE, HookCase, need_torch

SMALL = PRELUDE + """
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
def step(n=1):
    for _ in range(n):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
"""


class PartsTest(HookCase):
    def test_checkpoints(self):
        result = self.run_program(SMALL + """
import io, copy, pickle, pathlib
torch.save({"a": torch.zeros(10)}, "first.pt")  # before anything worth recording
step(3)
torch.save(model.state_dict(), "model.pt")
torch.save(model, pathlib.Path("whole.pt"))
torch.save(torch.zeros(4000000), io.BytesIO())
torch.load("model.pt")
again = torch.load("whole.pt", weights_only=False)
copy.deepcopy(model); pickle.loads(pickle.dumps(model)); pickle.loads(pickle.dumps(optimizer))
assert pickle.loads(pickle.dumps(torch.save)) is torch.save is torch.serialization.save
step(20)
print(os.path.getsize("first.pt"), os.path.getsize("model.pt"), os.path.getsize("whole.pt"))
""")
        records, sizes = result.records, list(map(int, result.out.split()))
        self.assert_no_part_off(records)
        found = records.of("checkpoint")
        self.assertEqual([c.name for c in found[:6]], ["torch.save"] * 4 + ["torch.load"] * 2)
        # Pickling a storage saves it; that counts where it takes long enough.
        self.assertLessEqual({c.name for c in found[6:]}, {"torch.save", "torch.load"})
        self.assertEqual([c.a for c in found][:3], sizes)
        self.assertGreater(found[3].a, 0)
        self.assertEqual([c.a for c in found][4:6], [-1, -1])

    def test_models_remain_what_they_were(self):
        self.run_program(SMALL + """
step(3)
import inspect, io, torch.fx, copy
assert "__call__" in vars(nn.Sequential)
assert "__call__" not in vars(nn.Linear) and nn.Module.__call__.__module__ == "torch.nn.modules.module"
traced = torch.jit.trace(model, torch.randn(2, 4))
scripted = torch.jit.script(model)
class Outer(nn.Module):
    def __init__(self):
        super().__init__(); self.inner = model
    def forward(self, x):
        return self.inner(x) + 1
graph = torch.fx.symbolic_trace(Outer())
print([n.op + " " + str(n.target) for n in graph.graph.nodes])
x = torch.randn(2, 4)
assert torch.equal(traced(x), model(x)) and torch.equal(scripted(x), model(x))
buffer = io.BytesIO(); torch.save(model, buffer); buffer.seek(0)
assert torch.equal(torch.load(buffer, weights_only=False)(x), model(x))
assert list(inspect.signature(torch.save).parameters)[:2] == ["obj", "f"]
assert list(inspect.signature(torch.optim.SGD).parameters)[:2] == ["params", "lr"]
assert torch.equal(copy.deepcopy(model)(x), model(x))
""")

    def test_warnings_point_at_the_user(self):
        program = SMALL + """
import warnings
warnings.simplefilter("always")
def old_save(obj, f):
    warnings.warn("from inside", stacklevel=2)
step(3)
import torch.serialization
w = torch.save
if hasattr(w, "__wrapped__"):
    cell = [c for c in w.__closure__ if c.cell_contents is w.__wrapped__][0]
    cell.cell_contents = old_save
else:
    torch.save = old_save
torch.save(1, "x")
torch.optim.lr_scheduler.StepLR(optimizer, 1).step()
"""
        self.assertEqual(self.run_program(program).err, self.run_program(program, hook=False).err)

    def test_collections(self):
        records = self.run_program(SMALL + """
import gc
step(2)
class Node: pass
for _ in range(200000):
    a, b = Node(), Node(); a.b = b; b.a = a
gc.collect()
""").records
        last = records.of("gc")[-1]
        self.assertEqual(last.a, 2)
        self.assertGreater(last.end - last.start, 100 * 1000)

    def test_profiler_gets_the_trace(self):
        records = self.run_program(SMALL + """
step(2)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
    step()
with torch.autograd.profiler.profile(enabled=False):
    step()
with torch.autograd.profiler.profile() as prof:
    step()
assert prof.key_averages()
""").records
        self.assert_no_part_off(records)
        self.assertEqual(records.calls, ["attach", "yield", "resume", "yield", "resume"])
        self.assertEqual(len(records.of("profiler")), 2)

    def test_kineto_daemon(self):
        records = self.run_program(SMALL + "step(2)", env={"KINETO_USE_DAEMON": "1"}).records
        self.assertEqual(records.calls, ["attach", "yield"])
        self.assertIn("yielded", records.infos["hook.profiler"])

    def test_tracers(self):
        program = SMALL + """
step(3); time.sleep(1.1); step(3)
sys.settrace(lambda *_: None); sys.setprofile(lambda *_: None)
time.sleep(1.1); step(3)
"""
        lines = self.run_program(program).records.lines
        for key in ("python.trace", "python.profile"):
            self.assertEqual([line[2] for line in lines if line[:2] == ["info", key]],
                             ["False", "True"])

    def test_batches_that_wait_to_be_pinned(self):
        self.run_program(SMALL + """
from pyrometer_hook import library, loader as part
class Queue:
    def __init__(self, size): self.size = size
    def qsize(self): return self.size
class Iterator:
    def __init__(self, pins, loaded):
        self._pin_memory, self._worker_result_queue = pins, Queue(loaded)
assert part._unpinned(Iterator(True, 2)) == library.UNPINNED
assert part._unpinned(Iterator(True, 0)) == 0
assert part._unpinned(Iterator(False, 2)) == 0
assert part._unpinned(object()) == 0            # not as known: nothing is claimed
""")

    def test_hidden_gpus_are_told(self):
        records = self.run_program(SMALL + "step(2)\n", env={"CUDA_VISIBLE_DEVICES": ""}).records
        self.assertEqual(records.infos["cuda.hidden"], "CUDA_VISIBLE_DEVICES=")

    def test_trackers(self):
        package = self.folder / "tensorboardX"
        package.mkdir()
        (package / "__init__.py").write_text("from .writer import SummaryWriter\n")
        (package / "writer.py").write_text(
            "import time\nclass SummaryWriter:\n"
            "    def add_scalar(self, *a):\n        time.sleep(0.002)\n        return 5\n"
            "    def add_text(self, *a):\n        pass\n")
        records = self.run_program(SMALL + """
from tensorboardX import SummaryWriter
step(2)
writer = SummaryWriter()
assert writer.add_scalar("loss", 1) == 5
writer.add_text("a", "b")
""").records
        self.assertEqual([r.name for r in records.of("logging")], ["SummaryWriter.add_scalar"])

    def test_stack_sampler(self):
        """What the library cannot do is said, once; tests/run/sampler_test.py has the rest."""
        control = self.folder / "control"
        control.write_text("4")
        records = self.run_program(SMALL + """
for _ in range(3):
    step()
    time.sleep(0.15)
""", env={"FAKE_CONTROL": str(control)}).records
        self.assertEqual(records.off, {"hook.sampler": "off: the stand-in does not sample"})
        asked = [line for line in records.lines if line[0] == "prepare"]
        self.assertEqual([line[1] for line in asked], [hex(sys.hexversion >> 16)])

    def test_sync_window(self):
        control = self.folder / "control"
        control.write_text("2")
        result = self.run_program(SMALL + """
own = set(vars(torch.Tensor))
step(3)
assert "item" in vars(torch.Tensor) and "item" not in own
x = torch.ones(3)
print(x.sum().item(), bool(x[0] > 0), x.tolist(), x.nonzero().shape, float(x[0]))
open(sys.argv[1], "w").write("0")
time.sleep(0.15)
step(2)
assert set(vars(torch.Tensor)) == own, set(vars(torch.Tensor)) ^ own
print(x.sum().item())
""", env={"FAKE_CONTROL": str(control)}, arguments=[control])
        self.assertEqual(result.out, "3.0 True [1.0, 1.0, 1.0] torch.Size([3, 1]) 1.0\n3.0\n")
        self.assertEqual(result.records.of("sync"), [])  # nothing here is on a GPU

    def test_no_sync_window_beside_the_compiler(self):
        control = self.folder / "control"
        control.write_text("2")
        result = self.run_program(SMALL + """
import collections, types
utils = types.ModuleType("torch._dynamo.utils")
utils.counters = collections.defaultdict(collections.Counter)
utils.counters["frames"]["total"] = 1
sys.modules["torch._dynamo.utils"] = utils
own = set(vars(torch.Tensor))
step(3)
time.sleep(0.15)
step(2)
assert set(vars(torch.Tensor)) == own
""", env={"FAKE_CONTROL": str(control)})
        self.assertIn("torch.compile", result.records.infos["hook.sync"])

    def test_the_recording_ends(self):
        control = self.folder / "control"
        control.write_text("8")
        records = self.run_program(SMALL + "step(5)", env={"FAKE_CONTROL": str(control)}).records
        self.assertLess(len(records.of("step")), 5)

    def test_a_part_that_fails_is_off_and_says_so(self):
        records = self.run_program(SMALL + """
loader = DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=8)
for (x,) in loader:
    step()
    break
from pyrometer_hook import loader as part
def broken(*a):
    raise ValueError("planted")
part.samples_of = broken
for (x,) in loader:
    step()
assert "wrap" not in torch.utils.data.dataloader._BaseDataLoaderIter.__next__.__qualname__
assert not hasattr(torch.utils.data.dataloader._BaseDataLoaderIter.__next__, "__wrapped__")
""").records
        self.assertIn("off: ValueError", records.infos["hook.loader"])
        self.assertEqual(len(records.of("step")), 6)
        self.assertIn(("hook.errors", 1.0), records.counters)


if __name__ == "__main__":
    need_torch()
    unittest.main()
