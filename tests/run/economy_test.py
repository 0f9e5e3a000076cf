"""Energy, cost and efficiency of a recorded run, on the simulated GPU and the simulated NVML."""
import json
import pathlib
import subprocess
import sys

import support

SCHEMA_CHECK = pathlib.Path(__file__).resolve().parent.parent / "check_report_schema"
# The counter is read at the start and every five seconds: two readings at least.
TRAINING = "steps 130 32; kernel ampere_sgemm_128x64_nn 1000 0; sync; sleep 50; end"


def world(watts):
    return "gpus 2\ngpu1.cuda_uuid 0\ngpu0.power 100000\n" + "".join(
        "at %.1f gpu1.energy %d\n" % (t / 10, 1000000 + watts * t * 100) for t in range(0, 400))


WORLD = world(40)


class Economy(support.RunCase):
    def recorded(self, world):
        file = self.folder / "world"
        file.write_text(world)
        path = self.environment()["LD_LIBRARY_PATH"] + ":" + str(support.BUILD / "tests" / "stub_nvml")
        return self.record([support.GPU_PROGRAM, TRAINING], options=["--overhead", "0"],
                           env={"PYROMETER_STUB_NVML": str(file), "LD_LIBRARY_PATH": path}).recording

    def analysed(self, recording, *options):
        done = subprocess.run([support.PYROMETER, "analyze", "--json", str(recording.path), *options],
                              stdout=subprocess.PIPE, timeout=120, check=True)
        return json.loads(done.stdout)

    def test_the_energy_of_the_gpu_that_the_job_used(self):
        recording = self.recorded(WORLD)
        report = self.analysed(recording, "--price", "3.6", "--grid-intensity", "500", "--pue", "1.5")
        file = self.folder / "report.json"
        file.write_text(json.dumps(report))
        check = subprocess.run([sys.executable, str(SCHEMA_CHECK), "--reports", str(file)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        energy = report["job"]["energy"]
        (gpu,) = energy["gpus"]  # the other one of the machine is not the job's
        self.assertIsNone(gpu["missing"])
        # 40 J a second by the counter; power says 655 W: that differs.
        watts = gpu["counter_j"] / (gpu["covered_ns"] * 1e-9)
        self.assertAlmostEqual(watts, 40, delta=4)
        self.assertTrue(gpu["diverges"])
        self.assertAlmostEqual(gpu["polled_j"] / (gpu["covered_ns"] * 1e-9), 655, delta=10)
        step_s = report["ranks"][0]["run"]["step_time_ns"] * 1e-9 / report["ranks"][0]["run"]["steps"]
        self.assertAlmostEqual(gpu["per_step_j"], watts * step_s, delta=0.1 * watts * step_s)
        self.assertAlmostEqual(energy["gpu_j_per_sample"], gpu["per_step_j"] / 32, places=6)
        kwh = energy["total_j"] / 3.6e6
        self.assertAlmostEqual(energy["carbon_kg"], kwh * 1.5 * 0.5, places=9)
        if energy["cpu_j"] is None:  # RAPL is root's, where there is one
            self.assertTrue(energy["host_missing"])
        cost = report["job"]["run_cost"]
        self.assertEqual(cost["gpus"], 1)
        self.assertAlmostEqual(cost["usd"], cost["gpu_time_ns"] * 1e-9 * 3.6 / 3600, places=9)
        self.assertIsNone(report["job"]["efficiency"]["mfu"])  # of no known GPU
        self.assertTrue(report["job"]["efficiency"]["mfu_missing"])
        goodput = report["job"]["goodput"]
        self.assertEqual(goodput["elapsed_ns"], sum(v for k, v in goodput.items() if k not in
                                                    ("goodput", "elapsed_ns")))
        text = recording.text()
        self.assertIn("Counter and polled power differ by more than 10%", text)
        self.assertIn("Goodput", text)
        self.assertNotIn("Carbon", text)  # no intensity of the grid was given

    def test_compare_energy_per_sample(self):
        """At four fifths of the power, and where one side has none."""
        paths = [str(self.recorded(WORLD).path), str(self.recorded(world(32)).path),
                 str(self.record([support.GPU_PROGRAM, TRAINING.replace("130", "20")],
                                 options=["--overhead", "0"]).recording.path)]
        compared = json.loads(subprocess.run([support.PYROMETER, "compare", "--json", *paths[:2]],
                                             stdout=subprocess.PIPE, check=True).stdout)
        energy = compared["gpu_j_per_sample"]
        self.assertIsNone(energy["missing"])
        self.assertAlmostEqual(energy["b"] / energy["a"], 0.8, delta=0.08)
        done = subprocess.run([support.PYROMETER, "compare", *paths[1:]], stdout=subprocess.PIPE,
                              check=True, text=True)
        self.assertIn("GPU energy per sample is not known", done.stdout)

    def test_without_nvml_energy_is_missing_and_not_zero(self):
        run = self.record([support.GPU_PROGRAM, TRAINING.replace("130", "20")],
                          options=["--overhead", "0"])
        energy = run.recording.report()["job"]["energy"]
        self.assertIsNone(energy["gpu_j"])
        self.assertTrue(energy["gpu_missing"])
        self.assertIsNone(energy["carbon_kg"])
        self.assertIn("Energy of the GPUs: not measured", run.recording.text())


if __name__ == "__main__":
    support.main()
