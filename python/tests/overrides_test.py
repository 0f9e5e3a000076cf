"""Overrides on real trainings on the CPU: applied, refused, put back."""
import gc
import unittest

from overrides_support import MODEL, OverrideCase, TRAINING
from support import PRELUDE, need_torch


class LoaderTest(OverrideCase):
    LOADER = TRAINING + """
loader = DataLoader(Data(), batch_size=8, OPTIONS)
for epoch in range(2):
    train(loader)
print(loader.num_workers, loader.persistent_workers, loader.prefetch_factor, loader.pin_memory)
print(torch.rand(1))
"""

    def loader(self, options):
        return self.LOADER.replace("OPTIONS", options)

    def test_workers(self):
        program = self.loader("shuffle=True")
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, "loader.workers=2")
        self.assertEqual((run.out, run.err), (plain.out, ""))
        self.assert_applied(run, "loader.workers", "num_workers 0 -> 2$")
        self.assertEqual({i.b for i in run.records.of("input")}, {2})
        self.assert_no_part_off(run.records)

    def test_workers_would_run_the_program_again(self):
        program = self.loader("").replace('set_start_method("fork"', 'set_start_method("spawn"')
        run = self.run_with(program, "loader.workers=2")
        self.assert_cannot(run, "loader.workers", "__main__")
        self.assertEqual({i.b for i in run.records.of("input")}, {0})

    def test_workers_are_taken_away(self):
        program = self.loader("num_workers=2, persistent_workers=True")
        run = self.run_with(program, "loader.workers=0")
        plain = self.run_program(program, hook=False)
        # Each new iterator draws a seed, which kept workers do not.
        self.assertEqual(run.out.splitlines()[:-1], plain.out.splitlines()[:-1])
        self.assertEqual({i.b for i in run.records.of("input")}, {0})

    def test_the_rest_of_the_loader(self):
        program = self.loader("")
        run = self.run_with(program, "loader.workers=1;loader.persistent_workers=on;"
                                     "loader.prefetch_factor=3")
        self.assertEqual(run.out, self.run_program(program, hook=False).out)
        self.assert_applied(run, "loader.persistent_workers", "False -> True")
        self.assert_applied(run, "loader.prefetch_factor", "-> 3")
        # The second epoch does not start workers again.
        first, second = run.records.of("loader_start")
        self.assertLess(second.end - second.start, (first.end - first.start))

    def test_refused(self):
        run = self.run_with(self.loader(""), "loader.persistent_workers=on;loader.prefetch_factor=4;"
                            "loader.pin_memory=on;loader.context=spawn")
        self.assert_cannot(run, "loader.persistent_workers", "no workers")
        self.assert_cannot(run, "loader.prefetch_factor", "no workers")
        self.assert_cannot(run, "loader.context", "no workers")
        self.assert_cannot(run, "loader.pin_memory", "not built for GPUs")
        run = self.run_with(self.loader("num_workers=2"), "loader.workers=2;loader.context=spawn")
        self.assert_cannot(run, "loader.workers", "has 2 workers already")
        self.assert_cannot(run, "loader.context", "__main__")

    def test_iterable_datasets(self):
        program = TRAINING + """
class Stream(IterableDataset):
    def __iter__(self):
        BODY
        return iter([(torch.ones(4), torch.ones(1))] * 8)
train(DataLoader(Stream(), batch_size=4))
"""
        run = self.run_with(program.replace("BODY", ""), "loader.workers=2")
        self.assert_cannot(run, "loader.workers", "each sample once per worker")
        run = self.run_with(program.replace("BODY", "torch.utils.data.get_worker_info()"), "loader.workers=2")
        self.assert_applied(run, "loader.workers")
        run = self.run_with(program.replace("BODY", ""), "loader.workers=1")
        self.assert_applied(run, "loader.workers")

    def test_an_iterator_that_cannot_be_made(self):
        program = TRAINING + """
def main():
    data = Data()
    data.lock = lambda: 0  # cannot be pickled
    loader = DataLoader(data, batch_size=8, shuffle=True, num_workers=1)
    train(loader)
    print(torch.rand(1), loader.multiprocessing_context)
if __name__ == "__main__":
    main()
"""
        plain = self.run_program(program, hook=False)
        # torch 2 warns of what could not be pickled.
        run = self.run_with(program, "loader.context=spawn", options=["-W", "ignore"])
        self.assertEqual((run.out, run.err), (plain.out, plain.err))
        self.assert_cannot(run, "loader.context", "(Attribute|Pickling)Error")

    def test_context(self):
        program = TRAINING.replace("def train", "def unused(): pass\ndef train") + """
if __name__ == "__main__":
    train(DataLoader(Data(), batch_size=8, num_workers=1))
"""
        run = self.run_with(program, "loader.context=forkserver")
        self.assert_applied(run, "loader.context", "forkserver, not fork")

    def test_loaders_in_workers_are_left_alone(self):
        program = TRAINING + """
class Nested(Data):
    def __getitem__(self, index):
        next(iter(DataLoader(Data(), batch_size=2)))
        return super().__getitem__(index)
train(DataLoader(Nested(), batch_size=8))
"""
        run = self.run_with(program, "loader.workers=2")
        self.assertEqual(run.out, self.run_program(program, hook=False).out)
        self.assert_applied(run, "loader.workers")


class ModelTest(OverrideCase):
    def same(self, program, with_, **how):
        """Runs with and without; returns the former, and the losses of both."""
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, with_, **how)
        self.assertEqual(run.err, plain.err)
        def losses(result):
            return [float(line) for line in result.out.splitlines()]
        return run, losses(run), losses(plain)

    def test_autocast(self):
        run, ours, theirs = self.same(MODEL + "train()\nassert set(seen) == {torch.float32}",
                                      "precision.autocast=bf16")
        self.assert_applied(run, "precision.autocast", "bf16")
        self.assertEqual(ours[0], theirs[0])  # the first step is as it was
        self.assertNotEqual(ours[1:], theirs[1:])
        for one, other in zip(ours, theirs):
            self.assertAlmostEqual(one, other, delta=0.05 * abs(other) + 0.01)

    def test_autocast_refuses(self):
        run = self.run_with(MODEL + "train()", "precision.autocast=fp16")
        self.assert_cannot(run, "precision.autocast", "no fp16 on the CPU")
        run, ours, theirs = self.same(MODEL + """
def make(x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(x)
train(make=make)
""", "precision.autocast=bf16")
        self.assert_cannot(run, "precision.autocast", "uses autocast itself")
        self.assertEqual(ours, theirs)
        run = self.run_with(MODEL + "model.double()\ntrain(make=lambda x: model(x.double()))",
                            "precision.autocast=bf16")
        self.assert_cannot(run, "precision.autocast", "not in FP32")

    def test_channels_last(self):
        run, ours, theirs = self.same(MODEL + """
train()
assert model[0].weight.is_contiguous(memory_format=torch.channels_last)
""".replace("assert", "assert 'PYROMETER_WITH' not in os.environ or"), "layout.channels_last=on")
        self.assert_applied(run, "layout.channels_last")
        for one, other in zip(ours, theirs):
            self.assertAlmostEqual(one, other, 4)
        run = self.run_with(TRAINING + "train(DataLoader(Data(), batch_size=8))",
                            "layout.channels_last=on")
        self.assert_cannot(run, "layout.channels_last", "no convolution")

    def test_a_forward_that_fails_is_done_again_as_it_was(self):
        program = MODEL + """
class Strict(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = model
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        x = self.drop(x)
        x.view(-1)  # not possible in channels_last
        return self.inner(x)
strict = Strict()
train(make=strict)
print(float(model[0].weight.stride()[1]))
"""
        run, ours, theirs = self.same(program, "layout.channels_last=on")
        self.assertEqual(ours, theirs)
        self.assert_cannot(run, "layout.channels_last", "RuntimeError")

    def test_foreach(self):
        run, ours, theirs = self.same(MODEL + "train()", "optimizer.foreach=on")
        self.assert_applied(run, "optimizer.foreach", "True of Adam")
        for one, other in zip(ours, theirs):
            self.assertAlmostEqual(one, other, 5)
        run = self.run_with(MODEL + """
optimizer = torch.optim.LBFGS(model.parameters())
for x, y in DataLoader(data, batch_size=16):
    optimizer.step(lambda: (lambda l: (l.backward(), l)[1])((model(x) - y).pow(2).mean()))
""", "optimizer.foreach=on")
        self.assertIn("LBFGS: it has no foreach form", self.status(run, "optimizer.foreach"))

    def test_set_to_none(self):
        program = MODEL + """
train()
model.zero_grad(set_to_none=False)
print(float(model[0].weight.grad is None))
"""
        run = self.run_with(program, "optimizer.set_to_none=on")
        self.assert_applied(run, "optimizer.set_to_none")
        self.assertEqual(run.out.splitlines()[-1], "1.0")

    def test_collector(self):
        program = MODEL + """
import gc
train()
print(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count() > 1000)
"""
        usual = gc.get_threshold()  # 700 and others, by Python
        for value, expected in (("freeze", "True %s True" % (usual,)),
                                ("tune", "True %s True" % ((100 * usual[0],) + usual[1:],)),
                                ("off", "False %s False" % (usual,))):
            run = self.run_with(program, "gc=" + value)
            self.assert_applied(run, "gc")
            self.assertEqual(run.out.splitlines()[-1], expected)
        run = self.run_with("import gc\ngc.disable()\n" + program, "gc=freeze")
        self.assert_cannot(run, "gc", "switched the collector off")

    def test_anomaly_detection(self):
        program = MODEL + """
torch.autograd.set_detect_anomaly(True)
train()
print(float(torch.is_anomaly_enabled()))
with torch.autograd.detect_anomaly():
    print(float(torch.is_anomaly_enabled()))
"""
        run = self.run_with(program, "autograd.anomaly=off")
        self.assert_applied(run, "autograd.anomaly")
        self.assertEqual(run.out.splitlines()[-2:], ["0.0", "0.0"])

    def test_threads(self):
        program = MODEL + "train()\nprint(torch.get_num_threads(), os.environ['OMP_NUM_THREADS'])"
        run = self.run_with(program, "threads=3")
        self.assert_applied(run, "threads", "3 threads")
        self.assertEqual(run.out.splitlines()[-1], "3 3")
        run = self.run_with("import torch\ntorch.set_num_threads(2)\n" + program, "threads=3")
        self.assert_applied(run, "threads", "2 -> 3")
        self.assertEqual(run.out.splitlines()[-1], "3 3")

    def test_batch_size(self):
        program = MODEL + """
for options in ({}, dict(shuffle=True)):
    loader = DataLoader(data, batch_size=4, **options)
    print(loader.batch_size, len(loader), sum(len(x) for x, y in loader))
again = DataLoader(data, batch_size=loader.batch_size, shuffle=True)
print(again.batch_size, len(again))
train()
"""
        run = self.run_with(program, "batch_size=x4")
        self.assertEqual(run.out.splitlines()[:3], ["4 16 64", "16 4 64", "16 4"])
        self.assert_applied(run, "batch_size", "4 -> 16")
        run = self.run_with(program, "batch_size=65")
        self.assert_cannot(run, "batch_size", "only 64 samples")

    def test_what_needs_a_gpu(self):
        names = ("precision.tf32=on", "cudnn.benchmark=on", "allocator=expandable_segments:True",
                 "allocator.empty_cache=off", "transfer.non_blocking=on")
        run, ours, theirs = self.same(
            MODEL + "train()", ";".join(names + ("optimizer.fused=on", "compile=reduce-overhead")))
        self.assertEqual(ours, theirs)
        for name in names:
            self.assert_cannot(run, name.partition("=")[0], "not built for GPUs")
        self.assert_cannot(run, "optimizer.fused", "(on the CPU|of torch 1)")
        self.assert_cannot(run, "compile")

    def test_a_pass_over_the_data_before_the_model(self):
        program = MODEL.replace("model = ", """
for x in DataLoader(torch.zeros(8, 1)):
    pass
model = """) + "train()"
        run = self.run_with(program, "layout.channels_last=on;gc=freeze;optimizer.foreach=on")
        for name in ("layout.channels_last", "gc", "optimizer.foreach"):
            self.assert_applied(run, name)


class SafetyTest(OverrideCase):
    ALL = ("loader.workers=1;precision.autocast=bf16;layout.channels_last=on;optimizer.foreach=on;"
           "optimizer.set_to_none=on;gc=freeze;autograd.anomaly=off;threads=1;batch_size=x2;"
           "ddp.no_sync=on;ddp.bucket_mb=9;loader.persistent_workers=on")

    def test_what_the_program_does_with_its_objects(self):
        program = MODEL + """
import copy, inspect, io, pickle
train()
state = pickle.loads(pickle.dumps(model)).state_dict()
assert all(torch.equal(a, b) for a, b in zip(state.values(), model.state_dict().values()))
copied = copy.deepcopy(model)
assert copied(data.tensors[0][:2]).shape == (2, 1)
buffer = io.BytesIO()
torch.save({"model": model, "optimizer": optimizer.state_dict()}, buffer)
torch.jit.script(model)
torch.jit.trace(model, data.tensors[0][:2], check_trace=False)
torch.fx.symbolic_trace(model)
print(inspect.signature(DataLoader), inspect.signature(DataLoader.__iter__))
print(inspect.signature(optimizer.zero_grad), inspect.signature(torch.autograd.backward))
print(pickle.loads(pickle.dumps(optimizer)).param_groups[0]["lr"], vars(nn.Module).keys())
"""
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, self.ALL, env={"PYROMETER_LOSS": "3"})
        self.assertEqual(run.err, plain.err)
        self.assertEqual(run.out.splitlines()[16:], plain.out.splitlines()[16:])
        self.assert_no_part_off(run.records)

    def test_exceptions_of_the_program(self):
        program = MODEL + """
import traceback
class Failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.calls = model, 0
    def forward(self, x):
        self.calls += 1
        if self.calls == 5:
            raise KeyError("theirs")
        return self.inner(x)
failing = Failing()
try:
    train(make=failing)
except KeyError as error:
    print(failing.calls, [frame.name for frame in traceback.extract_tb(error.__traceback__)
                          if "train.py" in frame.filename])
"""
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, self.ALL)
        self.assertEqual(run.out.splitlines()[-1], plain.out.splitlines()[-1])
        self.assertEqual(run.err, plain.err)

    def test_objects_live_as_long_as_without(self):
        program = MODEL + """
import weakref, gc
class Net(nn.Sequential):
    pass
def fold():
    net = Net(nn.Conv2d(3, 8, 3), nn.Flatten(), nn.Linear(8 * 36, 1))
    steps = torch.optim.SGD(net.parameters(), 0.001)
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        (net(x) - y).pow(2).mean().backward()
        steps.step()
        steps.zero_grad()
    time.sleep(1.1)  # boundaries come once a second
    for x, y in DataLoader(data, batch_size=8, shuffle=True):
        (net(x) - y).pow(2).mean().backward()
        steps.step()
        steps.zero_grad()
    return weakref.ref(net), weakref.ref(steps)
for refs in (fold(), fold()):
    gc.collect()
    print([ref() for ref in refs])
"""
        run = self.run_with(program, self.ALL, env={"PYROMETER_LOSS": "3"})
        self.assertEqual(run.out, "[None, None]\n[None, None]\n")

    def test_an_error_of_ours_puts_everything_back(self):
        program = MODEL + """
import pyrometer_hook.overrides.layout_channels_last as ours
def broken(self, module, layout):
    if layout == torch.channels_last:
        module.to(memory_format=layout)
        raise ValueError("of ours")
    module.to(memory_format=layout)
ours.ChannelsLast.convert = broken
train()
print(float(model[0].weight.stride()[1]))
"""
        plain = self.run_program(MODEL + "train()", hook=False)
        run = self.run_with(program, "layout.channels_last=on")
        self.assertEqual(run.out, plain.out + "9.0\n")
        self.assert_cannot(run, "layout.channels_last", r"ValueError \(train.py:\d+\)")
        self.assertNotIn("of ours", self.status(run, "layout.channels_last"))


class ParallelTest(OverrideCase):
    PROGRAM = PRELUDE + """
import socket
import torch.distributed as dist
def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), WORLD_SIZE="2",
                      RANK=str(rank))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Linear(4, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    torch.manual_seed(rank)
    for batches in [2] * 6 + [1, 3] + [2] * TIMES:
        for i in range(batches):
            model(torch.randn(8, 4)).pow(2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    if rank == 0:
        print(model.module.weight.tolist())
if __name__ == "__main__":
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    torch.multiprocessing.spawn(work, (port,), 2)
"""

    def test_overrides_of_ranks(self):
        program = self.PROGRAM.replace("TIMES", "2")
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, "ddp.no_sync=on;ddp.bucket_mb=2")
        self.assertEqual(len(run.processes), 2)
        for one, other in zip(eval(run.out), eval(plain.out)):
            for a, b in zip(one, other):
                self.assertAlmostEqual(a, b, 6)
        for records in run.processes:
            self.assertEqual(records.infos["override.ddp.no_sync"],
                             "applied: one reduction for 2 batches")
            self.assertEqual(records.infos["override.ddp.bucket_mb"],
                             "applied: bucket_cap_mb 25 -> 2")

    def test_nothing_is_accumulated(self):
        run = self.run_with(self.PROGRAM.replace("TIMES", "0").replace("[2] * 6 + [1, 3]",
                                                                       "[1] * 8"),
                            "ddp.no_sync=on;ddp.static_graph=on")
        for records in run.processes:
            self.assertIn("static_graph does not allow", records.infos["override.ddp.no_sync"])
        run = self.run_with(self.PROGRAM.replace("TIMES", "0").replace("[2] * 6 + [1, 3]",
                                                                       "[1] * 8"),
                            "ddp.no_sync=on")
        for records in run.processes:
            self.assertIn("nothing is accumulated", records.infos["override.ddp.no_sync"])

    def searching(self, forward):
        """Of two ranks, a program with find_unused_parameters=True; prints rank 0's weights."""
        return self.PROGRAM.replace("TIMES", "0").replace("[2] * 6 + [1, 3]", "[1] * 16").replace(
            "nn.parallel.DistributedDataParallel(nn.Linear(4, 2))",
            "nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True)"
        ).replace("def work(", """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 2), nn.Linear(4, 2)
        self.register_buffer("calls", torch.zeros(1))
    def forward(self, x):
        self.calls += 1
        rank = torch.distributed.get_rank()
        return %s
def work(""" % forward).replace("model.module.weight.tolist()",
                                 "[p.tolist() for p in model.parameters()], model.module.calls,"
                                 " model.find_unused_parameters")

    def test_search_for_unused_parameters_ends_where_there_are_none(self):
        program = self.searching("self.b(self.a(x)) + self.c(x)")
        plain = self.run_program(program, hook=False)
        run = self.run_with(program, "ddp.find_unused_parameters=off")
        self.assertEqual(run.out, plain.out.replace("True\n", "False\n"))
        self.assertEqual(len(run.processes), 2)
        for records in run.processes:
            self.assertEqual(records.infos["override.ddp.find_unused_parameters"],
                             "applied: find_unused_parameters True -> False after 10 steps")

    def test_search_for_unused_parameters_goes_on_where_one_rank_needs_it(self):
        run = self.run_with(self.searching("self.b(self.a(x)) + (self.c(x) if rank else 0)"),
                            "ddp.find_unused_parameters=off")
        self.assertTrue(run.out.endswith(" True\n"))
        texts = sorted(records.infos["override.ddp.find_unused_parameters"]
                       for records in run.processes)
        self.assertEqual(texts, [
            "cannot: because 2 of 6 parameters had no gradient in some backward: c.weight, c.bias",
            "cannot: because on another rank a parameter was left without gradient"])

    def test_ranks_stop_at_the_same_step(self):
        run = self.run_with(self.PROGRAM.replace("TIMES", "1000000"),
                            env={"PYROMETER_STOP_AFTER": "seconds=1"})
        self.assertEqual(run.code, 0, run.err)
        ends = {len(records.of("step")) for records in run.processes}
        self.assertEqual(len(ends), 1, ends)


class EnvironmentTest(OverrideCase):
    def test_variables(self):
        program = TRAINING + """
train(DataLoader(Data(), batch_size=8))
print(os.environ["NCCL_ALGO"])
"""
        run = self.run_with(program, "env.NCCL_ALGO=Ring")
        self.assertIn("Ring\n", run.out)
        self.assert_applied(run, "env.NCCL_ALGO", "NCCL_ALGO=Ring")
        run = self.run_with("import os\nos.environ['NCCL_ALGO'] = 'Tree'\n" + program,
                            "env.NCCL_ALGO=Ring")
        self.assert_cannot(run, "env.NCCL_ALGO", "sets NCCL_ALGO itself")

    def test_what_is_not_in_the_table_is_passed_over(self):
        run = self.run_with(TRAINING + "train(DataLoader(Data(), batch_size=8))",
                            "env.LD_PRELOAD=x;nonsense=3;;=;loader.workers=;gc")
        self.assertEqual([k for k in run.records.infos if k.startswith("override")], [])


if __name__ == "__main__":
    need_torch()
    unittest.main()
