"""What /metrics says of simulated machines."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import unittest

import support

GOLDEN = support.DATA / "metrics.txt"
# What no two runs have in common.
VOLATILE = re.compile(r"^(process_\w+|pyrometer_(?:scrape|last_scrape)_duration_seconds\w*|"
                      r"pyrometer_source_(?:staleness|cpu|last_success)\w*|pyrometer_http_\w+|"
                      r"pyrometer_gpu_energy_polled_joules_total|pyrometer_build_info)(\{.*\})? .*$", re.M)


def constant(text):
    text = VOLATILE.sub(lambda m: m[1] + (m[2] or "") + " …", text)
    text = re.sub(r'(version|Hostname)="[^"]*"', r'\1="…"', text)
    return text


class Metrics(support.ServeCase):
    def test_golden(self):
        """The whole page: a healthy GPU, one with instances, a lost one, what is not supported."""
        self.serve(support.MIXED)
        self.wait_for_gpus(5)
        time.sleep(1.2)  # the second round of the slow group's rates
        text = constant(self.get("/metrics").text)
        if os.environ.get("UPDATE_GOLDENS"):
            GOLDEN.parent.mkdir(parents=True, exist_ok=True)
            GOLDEN.write_text(text, encoding="utf-8")
        self.maxDiff = None
        self.assertEqual(text.splitlines(), GOLDEN.read_text(encoding="utf-8").splitlines(),
                         "UPDATE_GOLDENS=1 ctest -R serve.metrics takes the new text")

    def test_missing_is_absent_and_never_zero(self):
        self.serve("gpus 2\ngpu0.util na\ngpu0.power na\ngpu0.power_instant na\ngpu0.temperature na\n"
                   "gpu0.total na\ngpu0.gpm na\ngpu1.util 0\n")
        page = self.wait_for(lambda p: p.find("pyrometer_gpu_util_ratio"))
        for name in ("pyrometer_gpu_util_ratio", "DCGM_FI_DEV_GPU_UTIL", "pyrometer_gpu_power_watts",
                     "pyrometer_gpu_temperature_celsius", "pyrometer_gpu_memory_total_bytes", "DCGM_FI_DEV_FB_USED"):
            self.assertEqual(page.find(name, gpu="0"), [], name)
        self.assertEqual(page.one("pyrometer_gpu_util_ratio", gpu="1"), 0)
        self.assertNotIn("NaN", self.get("/metrics").text)

    def test_every_dcgm_metric(self):
        """Name, type and labels of what NVIDIA's exporter serves by default, and of its profiling metrics."""
        gauges = ["DEV_" + name for name in (
            "SM_CLOCK MEM_CLOCK MEMORY_TEMP GPU_TEMP POWER_USAGE GPU_UTIL MEM_COPY_UTIL ENC_UTIL DEC_UTIL XID_ERRORS "
            "FB_FREE FB_USED FB_RESERVED ROW_REMAP_FAILURE VGPU_LICENSE_STATUS NVLINK_BANDWIDTH_TOTAL").split()]
        gauges += ["PROF_" + name for name in (
            "GR_ENGINE_ACTIVE SM_ACTIVE SM_OCCUPANCY PIPE_TENSOR_ACTIVE DRAM_ACTIVE PIPE_FP64_ACTIVE PIPE_FP32_ACTIVE "
            "PIPE_FP16_ACTIVE PCIE_TX_BYTES PCIE_RX_BYTES NVLINK_TX_BYTES NVLINK_RX_BYTES").split()]
        counters = ["DEV_" + name for name in (
            "TOTAL_ENERGY_CONSUMPTION PCIE_REPLAY_COUNTER CORRECTABLE_REMAPPED_ROWS UNCORRECTABLE_REMAPPED_ROWS").split()]
        self.serve(support.HEALTHY)
        self.wait_for(lambda p: p.find("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL") and p.find("DCGM_FI_DEV_XID_ERRORS"))
        text = self.get("/metrics").text
        served = dict(re.findall(r"^# TYPE DCGM_FI_(\w+) (\w+)$", text, re.M))
        self.assertEqual(served, {**dict.fromkeys(gauges, "gauge"), **dict.fromkeys(counters, "counter")})
        wanted = ["gpu", "UUID", "pci_bus_id", "device", "modelName", "Hostname"]
        for name in served:
            lines = re.findall(r"^DCGM_FI_%s\{(.*)\} " % name, text, re.M)
            self.assertEqual(len(lines), 2, name)
            self.assertEqual(re.findall(r'(\w+)="', lines[1]), wanted, name)  # GPU 1 runs nobody's processes

    def test_units(self):
        """Base units under our names, DCGM's under its."""
        self.serve(support.HEALTHY)
        page = self.wait_for_gpus(2)
        self.assertAlmostEqual(page.one("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", gpu="1"),
                               (page.one("DCGM_FI_PROF_NVLINK_TX_BYTES", gpu="1") +
                                page.one("DCGM_FI_PROF_NVLINK_RX_BYTES", gpu="1")) / 1024 / 1000)
        pairs = {"pyrometer_gpu_util_ratio": ("DCGM_FI_DEV_GPU_UTIL", 100),
                 "pyrometer_gpu_memory_used_bytes": ("DCGM_FI_DEV_FB_USED", 1 / 1048576),
                 "pyrometer_gpu_clock_sm_hertz": ("DCGM_FI_DEV_SM_CLOCK", 1e-6),
                 "pyrometer_gpu_energy_joules_total": ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 1000),
                 "pyrometer_gpu_power_watts": ("DCGM_FI_DEV_POWER_USAGE", 1),
                 "pyrometer_gpu_tensor_active_ratio": ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 1)}
        for ours, (theirs, factor) in pairs.items():
            self.assertAlmostEqual(page.one(theirs, gpu="1"), page.one(ours, gpu="1") * factor, msg=ours)
        self.assertTrue(page.one("DCGM_FI_DEV_FB_USED", gpu="1").is_integer())
        self.assertEqual(page.one("DCGM_FI_DEV_GPU_UTIL", gpu="0", device="nvidia0", UUID="GPU-00001",
                                  pci_bus_id="00000000:01:00.0", modelName="NVIDIA H200"), 87)
        self.assertEqual(page.find("DCGM_FI_DEV_GPU_UTIL", gpu="0", hpc_job="77"), [])  # the other process has none
        self.assertEqual(page.one("pyrometer_gpu_process_memory_bytes", pid="4242", user="alice", program="python",
                                  slurm_job="77", container_id=support.CONTAINER), 2 << 30)

    def test_pods(self):
        self.prepare = self.put_in_pod
        self.serve("gpus 1\ngpu0 process 4242 compute 2048 60\n", "--dcgm-hostname-label", "hostname")
        page = self.wait_for_gpus(1)
        self.assertEqual(len(page.find("DCGM_FI_DEV_GPU_UTIL", pod="trainer-0", namespace="ml", container="worker")), 1)
        self.assertEqual(len(page.find("pyrometer_gpu_process_util_ratio", pod="trainer-0", namespace="ml",
                                       container="worker", container_id=support.CONTAINER)), 1)
        self.assertIn('hostname="', self.get("/metrics").text)
        self.assertNotIn('Hostname="', self.get("/metrics").text)

    def test_jobs(self):
        self.serve("gpus 1\ngpu0 process 4242 compute 2048 60\n")
        page = self.wait_for_gpus(1)
        self.assertEqual(len(page.find("DCGM_FI_DEV_GPU_UTIL", hpc_job="77")), 1)

    def test_what_can_be_left_out(self):
        self.serve(support.HEALTHY, "--no-dcgm", "--no-processes", "--gpu", "1")
        page = self.wait_for_gpus(1)
        self.assertFalse([name for name in page.names() if name.startswith("DCGM")])
        self.assertFalse([name for name in page.names() if "process_memory" in name or "process_util" in name])
        self.assertNotIn("alice", self.get("/metrics").text + self.get("/api/v1/gpus").text)
        self.assertEqual(page.one("pyrometer_gpu_up"), 1)

    def test_no_driver(self):
        self.serve("init 18\n")
        page = self.wait_for(lambda p: p.find("pyrometer_source_problem_info"))
        self.assertEqual(page.one("pyrometer_source_up", source="nvml"), 0)
        self.assertEqual(page.one("pyrometer_source_state", source="nvml", state="failed"), 1)
        self.assertEqual(page.find("pyrometer_gpu_up"), [])
        self.assertGreaterEqual(page.one("pyrometer_events_total", kind="source_failed"), 1)
        health = self.get("/healthz")
        self.assertEqual(health.status, 503)
        self.assertIn("different versions", " ".join(health.json["reasons"]))
        self.assertEqual(self.get("/livez").status, 200)

    def test_lost_and_xid(self):
        self.serve("gpus 2\nat 1 gpu0 xid 79\nat 1.5 gpu0 lost\n")
        page = self.wait_for(lambda p: 1 in p.find("pyrometer_gpu_lost"))
        self.assertEqual(page.one("pyrometer_gpu_up", gpu="0"), 0)
        self.assertEqual(page.find("pyrometer_gpu_util_ratio", gpu="0"), [])
        self.assertEqual(page.find("DCGM_FI_DEV_GPU_TEMP", gpu="0"), [])
        self.assertEqual(page.one("pyrometer_gpu_util_ratio", gpu="1"), 0.87)
        page = self.wait_for(lambda p: p.find("pyrometer_gpu_xid_events_total"))
        self.assertEqual(page.one("pyrometer_gpu_xid_events_total", uuid="GPU-00001", xid="79"), 1)
        self.assertEqual(page.one("pyrometer_events_total", kind="device_lost"), 1)
        self.assertEqual(self.get("/healthz").json["gpus"], {"ok": 1, "lost": 1, "asleep": 0})

    def test_driver_that_hangs(self):
        """Old values with their age, then none; pages come at once all the time."""
        self.serve("gpus 1\nat 1.5 hang nvmlDeviceGetPowerUsage\nat 1.5 hang nvmlDeviceGetFieldValues\n"
                   "at 1.5 hang nvmlDeviceGetUtilizationRates\n", "--max-age", "8")
        self.wait_for_gpus(1)
        page = self.wait_for(lambda p: p.find("pyrometer_source_staleness_seconds") > [3])
        self.assertEqual(page.one("pyrometer_gpu_util_ratio"), 0.87)
        self.assertEqual(page.one("pyrometer_source_values_exported"), 1)
        page = self.wait_for(lambda p: p.find("pyrometer_source_state", state="stale") == [1.0])
        slowest = 0.0
        for _ in range(50):
            begin = time.monotonic()
            self.metrics()
            slowest = max(slowest, time.monotonic() - begin)
        self.assertLess(slowest, 1.0)
        self.assertEqual(self.get("/healthz").status, 503)
        page = self.wait_for(lambda p: p.one("pyrometer_source_values_exported") == 0)
        self.assertEqual(page.find("pyrometer_gpu_util_ratio"), [])
        self.assertEqual(page.find("pyrometer_gpu_up"), [])
        self.assertGreater(page.one("pyrometer_source_last_success_timestamp_seconds"), time.time() - 60)
        gpus = self.get("/api/v1/gpus").json
        self.assertEqual(gpus["devices"], [])
        self.assertIsNotNone(gpus["problem"])
        self.assertEqual(self.end(), 0)

    def test_openmetrics(self):
        self.serve(support.HEALTHY)
        self.wait_for_gpus(2)
        reply = self.get("/metrics", Accept="application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
        self.assertIn("application/openmetrics-text", reply.headers["content-type"])
        self.assertTrue(reply.text.endswith("# EOF\n"))
        self.assertIn("# TYPE pyrometer_gpu_energy_joules counter\n# UNIT pyrometer_gpu_energy_joules joules\n"
                      "pyrometer_gpu_energy_joules_total{", reply.text)
        self.assertIn("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n", reply.text)
        plain = self.get("/metrics", Accept="text/plain")
        self.assertIn("text/plain; version=0.0.4", plain.headers["content-type"])
        self.assertEqual(set(support.Series(plain.text)), set(support.Series(reply.text)))

    def test_promtool(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not here")
        self.serve(support.MIXED, "--no-dcgm")
        self.wait_for_gpus(5)
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.get("/metrics").text, text=True,
                                 capture_output=True, check=False, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))

    def test_demo(self):
        self.launch("--demo", root=False)
        self.port = int(self.process.stderr.readline().rsplit(":", 1)[1])
        page = self.wait_for(lambda p: len(p.find("pyrometer_gpu_up")) > 1 and p.find("pyrometer_gpu_power_watts") and
                             p.find("pyrometer_gpu_process_memory_bytes"))
        self.assertTrue(page.find("DCGM_FI_DEV_GPU_UTIL", Hostname="demo"))
        self.assertTrue([1 for _, labels in page for name, value in labels if (name, value) == ("user", "demo-ada")])


if __name__ == "__main__":
    unittest.main()
