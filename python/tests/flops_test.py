"""FLOPs of one step, with a stand-in for torch's counter: this torch may be too old to have one."""
import unittest

from support import PRELUDE, HookCase, need_torch

COUNTER = PRELUDE + """
import types, sys, torch.utils._python_dispatch as dispatch
stack = []
dispatch._get_current_dispatch_mode = lambda: stack[-1] if stack else None
class FlopCounterMode:
    entered = 0
    def __init__(self, display=True):
        assert display is False
    def __enter__(self):
        FlopCounterMode.entered += 1
        self.before = trained
        stack.append(self)
    def __exit__(self, *_):
        assert stack.pop() is self
        self.after = trained
    def get_total_flops(self):
        return 640 * (self.after - self.before)
module = types.ModuleType("torch.utils.flop_counter")
module.FlopCounterMode = FlopCounterMode
sys.modules["torch.utils.flop_counter"] = module
trained = 0
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
loader = DataLoader(TensorDataset(torch.randn(2048, 4)), batch_size=16)
def train(pause=0.02):
    global trained
    for (x,) in loader:
        model(x).sum().backward()
        trained += 1
        optimizer.step()
        time.sleep(pause)
"""
ASKED = {"PYROMETER_COUNT_FLOPS": "1"}


class FlopsTest(HookCase):
    def info(self, result, key):
        return result.records.infos.get(key)

    def test_one_step_is_counted(self):
        result = self.run_program(COUNTER + "train(); print(FlopCounterMode.entered, len(stack))",
                                  env=ASKED)
        self.assertEqual(result.out.split(), ["1", "0"])
        self.assert_no_part_off(result.records)
        self.assertEqual(self.info(result, "flops.step"), "640")
        self.assertEqual(self.info(result, "flops.samples"), "16")
        (told,) = [r for r in result.records.of("profiler") if r.name == "flops"]
        counted = [s for s in result.records.of("step") if s.start < told.end and told.start < s.end]
        self.assertLessEqual(1, len(counted))
        self.assertEqual(counted[0].start, told.start)
        self.assert_steps_touch(result.records)

    def test_only_where_it_is_asked_for(self):
        result = self.run_program(COUNTER + "train(); print(FlopCounterMode.entered)")
        self.assertEqual(result.out.strip(), "0")
        self.assertIsNone(self.info(result, "flops.step"))

    def test_a_mode_of_the_program_is_left_alone(self):
        result = self.run_program(COUNTER + """
stack.append("the program's")
train()
print(FlopCounterMode.entered, stack)
""", env=ASKED)
        self.assertTrue(result.out.startswith("0 "), result.out)
        self.assertIn("mode of its own", self.info(result, "flops.missing"))

    def test_a_mode_entered_meanwhile_is_waited_for(self):
        result = self.run_program(COUNTER + """
before = FlopCounterMode.__enter__
def enter(self):
    before(self)
    stack.append("the program's")
FlopCounterMode.__enter__ = enter
import threading
def leave():
    while len(stack) < 2: time.sleep(0.01)
    time.sleep(0.1)
    stack.pop()
threading.Thread(target=leave, daemon=True).start()
train()
print(len(stack))
""", env=ASKED)
        self.assertEqual(result.out.strip(), "0")
        self.assertEqual(self.info(result, "flops.step"), "640")  # of each of the steps meanwhile

    def test_compiled_code_is_not_counted(self):
        result = self.run_program(COUNTER + """
utils = types.ModuleType("torch._dynamo.utils"); utils.counters = {"frames": {"total": 1}}
sys.modules["torch._dynamo.utils"] = utils
train(); print(FlopCounterMode.entered)
""", env=ASKED)
        self.assertEqual(result.out.strip(), "0")
        self.assertIn("torch.compile", self.info(result, "flops.missing"))

    def test_a_counter_that_fails_is_left(self):
        result = self.run_program(COUNTER + """
def fails(self): raise RuntimeError("broken")
FlopCounterMode.get_total_flops = fails
train(); print(trained, len(stack))
""", env=ASKED)
        self.assertEqual(result.out.split(), ["128", "0"])
        self.assertIn("hook.flops", result.records.off)

    def test_a_torch_without_counter(self):
        program = COUNTER.replace('sys.modules["torch.utils.flop_counter"] = module',
                                  'sys.modules["torch.utils.flop_counter"] = None')
        result = self.run_program(program + "train(0)", env=ASKED)
        self.assertIn("FlopCounterMode", self.info(result, "flops.missing"))


if __name__ == "__main__":
    need_torch()
    unittest.main()
