"""Real trainings on the CPU: steps, samples, loaders, several optimizers, skips, exceptions."""
import unittest

from support import ESTIMATED, NO_GRAD, PRELUDE, SKIPPED, HookCase, need_torch

LOOP = PRELUDE + """
data = TensorDataset(torch.randn(40, 4), torch.randn(40, 1))
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), 0.01)
def train(loader, optimizer=optimizer, every=1):
    for i, (x, y) in enumerate(loader):
        loss = (model(x) - y).pow(2).mean()
        loss.backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
        print(repr(loss.item()))
"""


class TrainingTest(HookCase):
    def test_loaders_and_identical_losses(self):
        program = LOOP + """
for options in (dict(), dict(num_workers=2), dict(num_workers=2, persistent_workers=True),
                dict(num_workers=1, multiprocessing_context="spawn"),
                dict(num_workers=1, multiprocessing_context="forkserver")):
    loader = DataLoader(data, batch_size=16, shuffle=True, **options)
    for epoch in range(2):
        train(loader)
print(torch.rand(3), torch.get_rng_state().sum())
"""
        # Spawned workers import the program: all of it goes into a function.
        body = "".join("    %s\n" % line for line in program[len(PRELUDE):].splitlines())
        program = PRELUDE + "def main():\n" + body + "if __name__ == '__main__':\n    main()\n"
        plain = self.run_program(program, hook=False)
        hooked = self.run_program(program)
        self.assertEqual(plain.out, hooked.out)
        self.assertEqual(plain.err, hooked.err)
        records = hooked.records  # no worker left a record
        self.assert_no_part_off(records)
        self.assert_steps_touch(records)
        steps = records.of("step")
        self.assertEqual([step.b for step in steps], [16, 16, 8] * 10)
        self.assertEqual(len(records.of("input")), 30)
        self.assertEqual(len(records.of("backward")), 30)
        self.assertEqual(len(records.of("optimizer")), 30)
        self.assertEqual(len(records.of("zero_grad")), 30)
        self.assertGreaterEqual(len(records.of("forward")), 29)
        self.assertEqual({item.name for item in records.of("forward")}, {"Sequential"})
        starts = records.of("loader_start")
        self.assertEqual([item.b for item in starts], [0, 0, 2, 2, 2, 2, 1, 1, 1, 1])
        epochs = records.of("epoch")
        self.assertEqual(len(epochs), 10)
        self.assertEqual({item.flags for item in epochs}, {0})
        for item in records.of("input"):
            self.assertEqual(item.a >= 0, item.b > 0, item)
        self.assertEqual(records.infos["loader.0.batch_size"], "16")
        self.assertEqual(records.infos["optimizer.0.class"], "Adam")
        self.assertEqual(records.infos["model.0.parameters"], "49")
        self.assertEqual(records.infos["torch.cuda_build"], "none")

    def test_accumulation_exceptions_and_early_ends(self):
        records = self.run_program(LOOP + """
loader = DataLoader(data, batch_size=4)
train(loader, every=2)
for x, y in loader:
    break
del x, y
try:
    for x, y in loader:
        model(x).sum().backward()
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
class Broken(nn.Module):
    pass
try:
    model(torch.randn(3, 99))
except RuntimeError:
    pass
optimizer.step()
def generator():
    yield from loader
train(generator())
""").records
        self.assert_no_part_off(records)
        self.assert_steps_touch(records)
        self.assertEqual([step.b for step in records.of("step")], [8] * 5 + [8] + [4] * 10)
        self.assertIn(ESTIMATED, {item.flags for item in records.of("epoch")})

    def test_two_optimizers(self):
        records = self.run_program(LOOP + """
other = nn.Linear(1, 1)
second = torch.optim.SGD(other.parameters(), 0.1)
for x, y in DataLoader(data, batch_size=8):
    optimizer.zero_grad(); second.zero_grad()
    other(model(x)).sum().backward()
    optimizer.step()
    second.step()
""").records
        self.assert_steps_touch(records)
        self.assertEqual([step.b for step in records.of("step")], [8] * 5)
        ends = [item.end for item in records.of("optimizer") if item.name == "SGD"]
        self.assertEqual([step.end for step in records.of("step")], ends)
        self.assertEqual({item.name for item in records.of("forward")}, {"Sequential", "Linear"})

    def test_an_optimizer_is_replaced(self):
        records = self.run_program(LOOP + """
train(DataLoader(data, batch_size=8))
optimizer = torch.optim.SGD(model.parameters(), 0.01)
train(DataLoader(data, batch_size=4), optimizer)
""").records
        self.assert_steps_touch(records)
        self.assertGreaterEqual(len(records.of("step")), 5)
        self.assertEqual(sum(step.b for step in records.of("step")), 80)

    def test_closures_and_subclasses(self):
        records = self.run_program(LOOP + """
class Mine(torch.optim.SGD):
    def step(self, closure=None):
        return super().step(closure)
class Ahead(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__([p for g in inner.param_groups for p in g["params"]], {})
    def step(self, closure=None):
        return self.inner.step(closure)
for made in (Mine(model.parameters(), 0.1), torch.optim.LBFGS(model.parameters()),
             Ahead(torch.optim.SGD(model.parameters(), 0.1))):
    for x, y in DataLoader(data, batch_size=8):
        def closure():
            made.zero_grad()
            loss = (model(x) - y).pow(2).mean()
            loss.backward()
            return loss
        assert made.step(closure) is not None
""").records
        self.assert_no_part_off(records)
        self.assert_steps_touch(records)
        names = [item.name for item in records.of("optimizer")]
        self.assertEqual(names, ["Mine"] * 5 + ["LBFGS"] * 5 + ["Ahead"] * 5)
        self.assertEqual(sum(step.b for step in records.of("step")), 120)

    def test_skipped_updates(self):
        records = self.run_program(LOOP + """
class Scaler(torch.cuda.amp.GradScaler):
    def __init__(self):
        super().__init__(enabled=False)
        self.calls = 0
scaler = Scaler()
import torch.cuda.amp.grad_scaler as module
real = module.GradScaler.step.__wrapped__
def sometimes(self, optimizer, *args, **kwargs):
    self.calls += 1
    return None if self.calls % 3 == 0 else optimizer.step(*args, **kwargs)
cell = [c for c in module.GradScaler.step.__closure__ if c.cell_contents is real][0]
cell.cell_contents = sometimes
for x, y in DataLoader(data, batch_size=4):
    model(x).sum().backward()
    scaler.step(optimizer)
""").records
        self.assert_steps_touch(records)
        flags = [step.flags for step in records.of("step")]
        self.assertEqual(flags, [0, 0, SKIPPED] * 3 + [0])
        self.assertEqual([i.flags for i in records.of("optimizer")], flags)
        self.assertEqual(records.infos["amp.grad_scaler"], "True")
        self.assertEqual([value for name, value in records.counters
                          if name == "amp.skipped_updates"], [1, 2, 3])

    def test_validation_and_evaluation(self):
        records = self.run_program(LOOP + """
loader = DataLoader(data, batch_size=8)
for epoch in range(2):
    model.train()
    train(loader)
    model.eval()
    with torch.no_grad():
        for x, y in DataLoader(data, batch_size=10, num_workers=1, multiprocessing_context="fork"):
            model(x)
model.train()
train(loader)
with torch.no_grad():
    for x, y in loader:
        model(x)
train(loader)
teacher = nn.Linear(4, 1)
for x, y in loader:
    with torch.no_grad():
        target = teacher(x)
    (model(x) - target).sum().backward()
    optimizer.step()
""").records
        self.assert_no_part_off(records)
        self.assertEqual([v.flags for v in records.of("validation")], [0, 0, ESTIMATED])
        self.assertEqual([step.b for step in records.of("step")], [8] * 25)
        graded = [f for f in records.of("forward") if not f.flags & NO_GRAD]
        self.assertIn(len(graded), (24, 25))

    def test_inference_alone(self):
        records = self.run_program(PRELUDE + """
model = nn.Linear(4, 1).eval()
with torch.no_grad():
    for (x,) in DataLoader(TensorDataset(torch.randn(40, 4)), batch_size=4):
        model(x)
""").records
        self.assert_steps_touch(records)
        self.assertEqual(sum(step.b for step in records.of("step")), 40)
        self.assertEqual(records.of("validation"), [])

    def test_datasets_and_batches(self):
        records = self.run_program(LOOP + """
import dataclasses, collections
@dataclasses.dataclass
class Batch:
    name: str
    x: torch.Tensor
class Stream(IterableDataset):
    def __iter__(self):
        inner = DataLoader(TensorDataset(torch.randn(12, 4)), batch_size=1)
        return (x[0][0] for x in inner)
collate = {
    "dict": lambda items: {"name": ["a"], "x": torch.stack(items)},
    "class": lambda items: Batch("a", torch.stack(items)),
    "named": lambda items: collections.namedtuple("N", "a b")(3, [torch.stack(items)]),
    "text": lambda items: ["a", "b"],
}
for kind, function in collate.items():
    for batch in DataLoader(Stream(), batch_size=6, collate_fn=function):
        model(torch.randn(2, 4)).sum().backward()
        optimizer.step()
""").records
        self.assert_no_part_off(records)
        self.assertEqual([step.b for step in records.of("step")], [6] * 6 + [-1] * 2)
        # The loader inside the dataset is not waited for by the loop.
        self.assertEqual(len(records.of("input")), 8)


if __name__ == "__main__":
    need_torch()
    unittest.main()
