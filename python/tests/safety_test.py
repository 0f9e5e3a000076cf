"""What must not change a run: libraries that do not fit, forks, threads, exits, read-only files."""
import os
import unittest

from support import PRELUDE, HookCase, library, need_torch

SMALL = PRELUDE + """
def main():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for _ in range(3):
        for (x,) in DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=4):
            model(x).sum().backward()
            optimizer.step()
    print("%.6f" % model.weight.sum().item())
"""
RUN = "\nif __name__ == '__main__':\n    main()\n"


class SafetyTest(HookCase):
    def test_libraries_that_do_not_fit(self):
        plain = self.run_program(SMALL + RUN, hook=False)
        for path in ("/nonexistent.so", library("FAKE_LIBRARY_OTHER_ABI"), __file__):
            result = self.run_program(SMALL + RUN, env={"PYROMETER_LIBRARY": path})
            self.assertEqual((result.out, result.err), (plain.out, plain.err), path)
            self.assertEqual(result.processes, [])

    def test_a_session_that_is_gone(self):
        result = self.run_program(SMALL + RUN, env={"PYROMETER_SESSION": "/nonexistent/folder"})
        self.assertEqual((result.err, result.processes), ("", []))

    def test_fork_in_a_recorded_process(self):
        result = self.run_program(SMALL + """
if __name__ == '__main__':
    main()
    if os.fork() == 0:
        try:
            main()
        except RuntimeError as error:  # torch 2 has no backward pass in such a child
            assert "Autograd-and-Fork" in str(error), error
        os._exit(0)
    os.wait()
    main()
""", options=["-W", "ignore"])
        self.assertEqual(len(result.records.of("step")), 12)
        self.assertEqual(result.err, "")

    def test_fork_of_a_process_that_only_imported_torch(self):
        """A launcher that forks its trainers, a fork server: each trainer is recorded."""
        result = self.run_program(SMALL + """
if __name__ == '__main__':
    import multiprocessing
    trainers = [multiprocessing.get_context("fork").Process(target=main) for _ in range(2)]
    for t in trainers: t.start()
    for t in trainers: t.join()
""")
        self.assertEqual([len(p.of("step")) for p in result.processes], [6, 6])

    def test_spawned_trainers(self):
        result = self.run_program(SMALL + """
def child(rank):
    main()
if __name__ == '__main__':
    import torch.multiprocessing as mp
    mp.spawn(child, nprocs=2)
""")
        self.assertEqual([len(p.of("step")) for p in result.processes], [6, 6])

    def test_threads(self):
        result = self.run_program(SMALL + """
if __name__ == '__main__':
    import threading
    threads = [threading.Thread(target=main) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
""")
        self.assertEqual(len(result.records.of("backward")) > 0, True)
        self.assertEqual(result.records.off, {})

    def test_exits(self):
        for end, code in (("os._exit(3)", 3), ("sys.exit(4)", 4), ("raise SystemExit(5)", 5),
                          ("1/0", 1), ("os.kill(os.getpid(), 15)", -15)):
            result = self.run_program(SMALL + RUN + "    " + end + "\n", check=False)
            self.assertEqual(result.code, code)
            self.assertEqual(len(result.records.of("step")), 6, end)

    def test_lifetimes(self):
        self.run_program(SMALL + """
import gc, weakref
def made():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    loader = DataLoader(TensorDataset(torch.ones(8, 4)), batch_size=4)
    batches = []
    for (x,) in loader:
        batches.append(weakref.ref(x))
        model(x).sum().backward()
        optimizer.step()
    return [weakref.ref(model), weakref.ref(loader), weakref.ref(loader.dataset)] + batches, weakref.ref(optimizer)
if __name__ == '__main__':
    main()
    refs, optimizer = made()
    gc.collect()
    assert [r() for r in refs] == [None] * len(refs), refs
    assert optimizer() is None
""")

    def test_nothing_can_be_written(self):
        result = self.run_program(SMALL + RUN, options=["-B"],
                                  env={"PYTHONPYCACHEPREFIX": "/proc/nonexistent"})
        self.assertEqual(result.err, "")
        self.assertEqual(len(result.records.of("step")), 6)

    def test_values_that_are_secret(self):
        result = self.run_program(SMALL + RUN, arguments=["--token=sesame"], env={
            "MY_TOKEN": "sesame", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "/home/sesame"})
        text = repr(result.records.lines)
        self.assertNotIn("sesame", text)
        self.assertNotIn(str(self.folder), text)
        self.assertEqual(result.records.infos["env.OMP_NUM_THREADS"], "1")

    def test_python_options(self):
        for options in (["-W", "error"], ["-X", "dev"], ["-OO"]):
            plain = self.run_program(SMALL + RUN, hook=False, options=options, check=False)
            hooked = self.run_program(SMALL + RUN, options=options, check=False)
            self.assertEqual((plain.code, plain.out, plain.err),
                             (hooked.code, hooked.out, hooked.err))


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    need_torch()
    unittest.main()
