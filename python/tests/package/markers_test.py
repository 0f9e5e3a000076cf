"""region() and step(): in recordings, and without one."""
import sqlite3
import unittest

from support import PROGRAM, PackageCase

LOOP = """
import os, sys, threading, time
import pyrometer
print(pyrometer.is_recorded())
pyrometer.step()
for i in range(30):
    with pyrometer.region("load"):
        time.sleep(0.002)
    time.sleep(0.01)
    pyrometer.step(samples=32)
with pyrometer.region("validation"):
    time.sleep(0.05)

@pyrometer.region("évaluer")
def work(x, y=1):
    "says what it does"
    time.sleep(0.01)
    return x + y

assert work(1, y=2) == 3 and work.__name__ == "work" and work.__doc__ == "says what it does"
try:
    with pyrometer.region("fails"):
        time.sleep(0.005)
        raise KeyError("mine")
except KeyError:
    pass
thread = threading.Thread(target=work, args=(1,))
thread.start()
thread.join()
if os.fork() == 0:
    assert not pyrometer.is_recorded()
    with pyrometer.region("in a child"):
        time.sleep(0.005)
    pyrometer.step()
    os._exit(0)
assert os.wait()[1] == 0
"""


class MarkersTest(PackageCase):
    def record(self, text, options=()):
        path = str(self.folder / "run.pyro")
        done = self.python(text, [PROGRAM, "run", "-q", "-o", path, *options, "--"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        connection = sqlite3.connect(path)
        self.addCleanup(connection.close)
        return done, lambda sql: connection.execute(sql).fetchall()

    def test_in_a_recording(self):
        done, rows = self.record(LOOP)
        self.assertEqual(done.stdout, "True\n")
        self.assertEqual(rows("SELECT sum(count), sum(samples) FROM step"), [(30, 30 * 32)])
        named = dict(rows("SELECT text, count(DISTINCT start_ns) FROM host_range JOIN name ON name.id = name "
                          "WHERE type = 'user' GROUP BY 1"))
        self.assertEqual({k: v for k, v in named.items() if k != "load"},
                         {"validation": 1, "évaluer": 2, "fails": 1})
        self.assertEqual(named.get("load"), 30)
        (count, total), = rows("SELECT count, total_ns FROM region_total WHERE type = 'user'")
        self.assertEqual(count, 33)  # of the main thread
        self.assertGreater(total, 30 * 2e6 + 50e6)
        self.assertEqual(len(rows("SELECT 1 FROM process")), 1)

    def test_without_one(self):
        done = self.python(LOOP)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_a_session_that_is_gone_or_a_library_that_is_none(self):
        for library in ("/nonexistent.so", __file__):
            done = self.python(LOOP, env={"PYROMETER_LIBRARY": library,
                                          "PYROMETER_SESSION": "/nonexistent"})
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_beside_the_hook_steps_are_those_of_the_program(self):
        done, rows = self.record("""
            try:
                import torch
            except ImportError:
                raise SystemExit
            import pyrometer
            print("torch")
            model = torch.nn.Linear(4, 1)
            optimizer = torch.optim.SGD(model.parameters(), 0.01)
            pyrometer.step()
            for _ in range(5):
                for _ in range(4):
                    optimizer.zero_grad()
                    model(torch.ones(8, 4)).sum().backward()
                    optimizer.step()
                pyrometer.step(samples=32)
            """)
        if done.stdout != "torch\n":
            self.skipTest("no torch")
        self.assertEqual(rows("SELECT sum(count), sum(samples) FROM step"), [(5, 160)])

    def test_cost_where_nothing_is_recorded(self):
        """Not a benchmark: that it is far below a microsecond or two, on any machine."""
        done = self.python("""
            import timeit, pyrometer
            def marked():
                with pyrometer.region("x"):
                    pass
            number = 200000
            region = min(timeit.repeat(marked, number=number, repeat=5)) / number * 1e9
            step = min(timeit.repeat(pyrometer.step, number=number, repeat=5)) / number * 1e9
            print(region, step)
            """)
        region, step = map(float, done.stdout.split())
        self.assertLess(region, 5000)
        self.assertLess(step, 5000)


if __name__ == "__main__":
    unittest.main()
