"""Monitor: what it measures, how much it keeps, and what ends it."""
import gc
import math
import os
import signal
import time
import unittest
import warnings

from support import PackageCase

import pyrometer
from pyrometer._statistics import GpuStatistics


def children():
    """Programs that this process has started and that still run."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name) as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == os.getpid() and fields[0] != "Z":
                found.append(int(name))
    return found


class MonitorTest(PackageCase):
    def test_samples_in_the_background(self):
        with pyrometer.Monitor(interval=0.1, demo=True) as monitor:
            first = monitor.wait(10)
            second = monitor.wait(10)
            self.assertGreater(second.time, first.time)
            self.assertTrue(monitor.running)
            self.assertAlmostEqual(second.time, time.time(), delta=10)
        self.assertFalse(monitor.running)
        self.assertEqual(children(), [])
        numbers = monitor.statistics()
        gpu = monitor.latest.gpus[0]
        self.assertGreaterEqual(numbers[gpu.uuid].samples, 2)
        power = numbers[gpu.uuid]["power"]
        self.assertLessEqual(power.min, power.mean)
        self.assertLessEqual(power.percentile(50), power.percentile(99))
        self.assertGreater(numbers[gpu.uuid].energy, 0)
        self.assertEqual(set(numbers), {g.uuid for g in monitor.latest.gpus})

    def test_a_bounded_number(self):
        with pyrometer.Monitor(interval=0.1, maxlen=3, demo=True) as monitor:
            for _ in range(6):
                monitor.wait(10)
        self.assertEqual(len(monitor), 3)
        self.assertLessEqual(max(s.samples for s in monitor.statistics().values()), 3)
        last = monitor.latest.time
        self.assertEqual({s.samples for s in monitor.statistics(last=0).values()}, {1})
        self.assertEqual(monitor.statistics(since=last + 1), {})
        self.assertEqual({s.end for s in monitor.statistics(until=last).values()}, {last})

    def test_no_gpu(self):
        self.machine("init 18\n")
        with pyrometer.Monitor(interval=0.1) as monitor:
            sample = monitor.wait(10)
        self.assertEqual(list(sample.gpus), [])
        self.assertIn("different versions", monitor.problem)
        self.assertEqual(monitor.statistics(), {})

    def test_the_program_dies(self):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with pyrometer.Monitor(interval=0.1, demo=True) as monitor:
                monitor.wait(10)
                os.kill(children()[0], signal.SIGKILL)
                with self.assertRaisesRegex(pyrometer.PyrometerError, "ended by SIGKILL"):
                    for _ in range(100):
                        monitor.wait(10)
                self.assertFalse(monitor.running)
                self.assertTrue(monitor.statistics())  # what was sampled stays
                monitor.start()
                self.assertIsNone(monitor.error)
                monitor.wait(10)
        self.assertIn("Monitor has stopped", " ".join(str(w.message) for w in said))

    def test_a_program_that_refuses(self):
        self.fake("echo first >&2; echo 'pyrometer: it cannot be' >&2; exit 3")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pyrometer.Monitor() as monitor:
                with self.assertRaisesRegex(pyrometer.PyrometerError,
                                            "ended with 3: pyrometer: it cannot be"):
                    monitor.wait(10)

    def test_output_that_is_none_of_ours(self):
        self.fake("echo nonsense; exec sleep 60")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pyrometer.Monitor() as monitor:
                with self.assertRaisesRegex(pyrometer.PyrometerError, "not what"):
                    monitor.wait(10)
        self.assertEqual(children(), [])

    def test_fork(self):
        with pyrometer.Monitor(interval=0.1, demo=True) as monitor:
            monitor.wait(10)
            child = os.fork()
            if child == 0:
                # What it has stays, stopping touches nothing of the parent's, and it may begin anew.
                try:
                    good = not monitor.running and len(monitor) > 0 and bool(monitor.statistics())
                    monitor.stop()
                    with monitor:
                        monitor.wait(10)
                    os._exit(0 if good else 1)
                except BaseException:
                    os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            monitor.wait(10)
            self.assertTrue(monitor.running)

    def test_nothing_is_left_when_python_ends(self):
        done = self.python("""
            import os, pyrometer
            monitor = pyrometer.Monitor(interval=0.1, demo=True).start()
            monitor.wait(10)
            print(monitor._process.pid)
            """)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse(os.path.exists("/proc/" + done.stdout.strip()))
        done = self.python("""
            import os, signal, pyrometer
            monitor = pyrometer.Monitor(interval=0.1, demo=True).start()
            monitor.wait(10)
            print(monitor._process.pid, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
            """)
        for _ in range(100):
            if not os.path.exists("/proc/" + done.stdout.strip()):
                break
            time.sleep(0.05)
        else:
            self.fail("the program outlives the one that started it")

    def test_settings(self):
        for wrong in ({"interval": 0}, {"interval": float("nan")}, {"maxlen": 0}):
            with self.assertRaises(ValueError):
                pyrometer.Monitor(**wrong)
        monitor = pyrometer.Monitor()
        monitor.stop()
        self.assertIsNone(monitor.latest)
        with self.assertRaisesRegex(pyrometer.PyrometerError, "not running"):
            monitor.wait(1)

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            with pyrometer.Monitor(interval=0.1, demo=True) as monitor:
                monitor.wait(10)
            with self.assertRaises(ImportError):
                monitor.to_pandas()
            return
        with pyrometer.Monitor(interval=0.1, demo=True) as monitor:
            monitor.wait(10)
            monitor.wait(10)
        frame = monitor.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(len(frame), sum(s.samples for s in monitor.statistics().values()))
        self.assertEqual(str(frame["time"].dt.tz), "UTC")

    def tearDown(self):
        gc.collect()


class StatisticsTest(unittest.TestCase):
    @staticmethod
    def of(times, energy, power):
        return GpuStatistics("0", None, times, {"energy": energy, "power": power})

    def test_missing_samples_do_not_count(self):
        numbers = self.of([0, 1, 2], [math.nan] * 3, [100, math.nan, 300])["power"]
        self.assertEqual((numbers.count, numbers.mean, numbers.min, numbers.max),
                         (2, 200, 100, 300))
        self.assertEqual(numbers.percentile(25), 150)
        none = self.of([0], [math.nan], [math.nan])["power"]
        self.assertEqual((none.count, none.mean, none.min, none.percentile(50)),
                         (0, None, None, None))

    def test_energy_by_the_meter(self):
        numbers = self.of([0, 1, 2], [10, 30, 60], [1, 1, 1])
        self.assertEqual((numbers.energy, numbers.energy_source), (50, "meter"))
        anew = self.of([0, 1, 2], [1000, 5, 25], [1, 1, 1])  # the driver was loaded again
        self.assertEqual(anew.energy, 25)

    def test_energy_by_power(self):
        nan = math.nan
        numbers = self.of([0, 2, 3, 100, 101], [nan] * 5, [100, 200, nan, 100, 100])
        self.assertEqual((numbers.energy, numbers.energy_source), (400, "power"))
        self.assertEqual(self.of([0], [5], [100]).energy, None)


if __name__ == "__main__":
    unittest.main()
