"""gpus(): values, reasons, and what is said where there are none."""
import os
import unittest

from support import PROGRAM, PackageCase, script

import pyrometer


class GpusTest(PackageCase):
    def test_values_in_their_units(self):
        self.machine("gpus 2\ngpu1.fan na\ngpu0 process 4242 compute 2048 60\n")
        first, second = pyrometer.gpus()
        self.assertEqual((first.label, first.kind, first.state), ("0", "gpu", "ok"))
        self.assertEqual((first.name, first.uuid), ("NVIDIA H200", "GPU-00001"))
        self.assertAlmostEqual(first.utilization, 0.87)
        self.assertEqual(first.memory_total, 150754820096)
        self.assertEqual(first.power, 661)
        self.assertEqual(first.temperature, 61)
        self.assertAlmostEqual(first.energy, 123456.789)
        self.assertAlmostEqual(first.fan, 0.35)
        self.assertEqual(first.throttled_by, ("power_cap",))
        self.assertIsNone(first.reason("power"))
        self.assertEqual([p.pid for p in first.processes], [4242])
        self.assertEqual(first.processes[0].memory, 2048 * 2**20)
        self.assertEqual(second.processes, ())

    def test_missing_is_none_with_a_reason(self):
        self.machine("gpus 3\ngpu1.fan na\ngpu2 lost\n")
        _, second, third = pyrometer.gpus()
        self.assertIsNone(second.fan)
        self.assertIn("not supported", second.reason("fan"))
        self.assertEqual(second.reason("gpu.fan"), second.reason("fan"))
        self.assertIn("not of a whole GPU", second.reason("mig_profile"))
        self.assertEqual(third.state, "lost")
        self.assertIsNone(third.utilization)
        self.assertIn("lost", third.reason("utilization"))
        self.assertIsNotNone(third.reason("throttled_by"))
        with self.assertRaises(KeyError):
            second.reason("colour")

    def test_mig_and_selection(self):
        self.machine("gpus 2\ngpu1 mig 7 0 18432\n")
        self.assertEqual([g.label for g in pyrometer.gpus()], ["0", "1", "1/7/0"])
        only, = pyrometer.gpus(gpu="MIG-")
        self.assertEqual((only.kind, only.parent_uuid), ("mig", "GPU-00002"))

    def test_no_gpu_is_empty_with_the_reason(self):
        self.machine("init 18\n")
        found = pyrometer.gpus()
        self.assertEqual(list(found), [])
        self.assertIn("different versions", found.problem)

    def test_demo(self):
        found = pyrometer.gpus(demo=True)
        self.assertEqual(found.host, "demo")
        self.assertEqual(len([g for g in found if g.kind == "gpu"]), 8)
        self.assertEqual({g.vendor for g in found}, {"Demo"})
        self.assertEqual(found[0].processes[0].user, "demo-ada")
        ranks = [p.rank for g in found for p in g.processes if p.rank is not None]
        self.assertTrue(ranks)
        self.assertTrue(all(isinstance(rank, int) for rank in ranks))
        ranked = next(p for g in found for p in g.processes if p.rank is not None)
        self.assertIsNone(ranked.recording)
        self.assertIn("made up", ranked.reason("recording"))

    def test_every_field_is_one_of_the_program(self):
        from pyrometer import _gpu
        known = pyrometer.gpus(demo=True)[0].metrics
        self.assertLessEqual(set(_gpu.NUMBERS.values()) | set(_gpu.TEXTS.values()), set(known))

    def test_wrong_names_are_errors(self):
        self.machine("gpus 1\n")
        self.assertIn("none of the GPUs", pyrometer.gpus(gpu="7").problem)
        with self.assertRaisesRegex(pyrometer.PyrometerError, "no such GPU: 7"):
            pyrometer.gpus(gpu="0,7")
        with self.assertRaisesRegex(pyrometer.PyrometerError, "'x' is no GPU"):
            pyrometer.gpus(gpu="x")

    def test_a_program_that_is_something_else(self):
        self.fake("echo '{\"schema\": \"other/1\"}'")
        with self.assertRaisesRegex(pyrometer.PyrometerError, "not what"):
            pyrometer.gpus()
        self.fake("echo no >&2; exit 9")
        with self.assertRaisesRegex(pyrometer.PyrometerError, "^no$"):
            pyrometer.gpus()
        self.fake("exec sleep 60")
        with self.assertRaisesRegex(pyrometer.PyrometerError, "within 0.2 s"):
            pyrometer.gpus(timeout=0.2)


class BinaryTest(PackageCase):
    def test_the_variable_then_the_path(self):
        self.assertEqual(pyrometer.binary(), PROGRAM)
        del os.environ["PYROMETER_BINARY"]
        folder = self.folder / "bin"
        folder.mkdir()
        script(folder / "pyrometer", "exit 0")  # as pip's, which would find itself
        os.environ["PATH"] = "%s:%s" % (folder, os.path.dirname(PROGRAM))
        self.assertEqual(pyrometer.binary(), PROGRAM)

    def test_none(self):
        os.environ["PYROMETER_BINARY"] = "/nonexistent"
        with self.assertRaisesRegex(pyrometer.BinaryNotFound, "PYROMETER_BINARY=/nonexistent"):
            pyrometer.gpus()
        del os.environ["PYROMETER_BINARY"]
        os.environ["PATH"] = str(self.folder)
        with self.assertRaises(pyrometer.BinaryNotFound):
            pyrometer.binary()

    def test_the_command(self):
        done = self.python("import sys, pyrometer.__main__")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("no command given", done.stderr)


if __name__ == "__main__":
    unittest.main()
