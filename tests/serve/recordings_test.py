"""Recordings that are being written, in metrics and JSON."""
import json
import os
import pathlib
import signal
import time
import unittest

import support


class Recordings(support.RecordingCase):
    def check_growing(self, page, price):
        self.assertEqual(page.find("pyrometer_recording_info", recording="train"), [1])
        self.assertEqual(page.one("pyrometer_recording_analysis_success", recording="train"), 1)
        self.assertAlmostEqual(sum(page.find("pyrometer_recording_cause_ratio", rank="0")), 1, places=6)
        self.assertAlmostEqual(sum(page.find("pyrometer_recording_cost_usd_per_hour", rank="0")), price, places=6)
        self.assertGreater(page.one("pyrometer_recording_run_cost_usd"), 0)
        self.assertTrue(0 < page.one("pyrometer_recording_goodput_ratio") <= 1)
        self.assertEqual(page.find("pyrometer_recording_mfu_ratio"), [])  # no FLOPs were given
        self.assertGreater(page.one("pyrometer_recording_steps_total"), 10)
        step = page.one("pyrometer_recording_step_seconds")
        self.assertTrue(0.004 < step < 1, step)
        self.assertAlmostEqual(page.one("pyrometer_recording_samples_per_second"), 32 / step, delta=0.02 * 32 / step)

    def test_in_a_folder(self):
        recorder = self.record("runs/train.pyro")
        self.serve(support.HEALTHY, "--recordings", str(self.folder / "runs"), "--price", "2.50", "--analysis-period",
                   "1")
        page = self.wait_for(lambda p: p.find("pyrometer_recording_step_seconds") and
                             p.find("pyrometer_recording_cause_ratio") and
                             p.one("pyrometer_recording_steps_total") > 10, 60)
        self.check_growing(page, 2.5)
        before = page.one("pyrometer_recording_steps_total")
        self.wait_for(lambda p: p.one("pyrometer_recording_steps_total") > before, 60)
        one = self.get("/api/v1/recordings").json["recordings"][0]
        self.assertEqual((one["name"], one["growing"], one["problem"]), ("train", True, None))
        self.assertTrue(one["verdict"])
        self.assertAlmostEqual(sum(one["ranks"][0]["usd_per_hour"].values()), 2.5, places=6)
        report = self.get("/api/v1/recordings/train/report", Accept_Encoding="gzip").json
        self.assertEqual(report["schema"], "pyrometer.report/1")
        try:
            import jsonschema
            schema = json.loads((support.SOURCE / "docs/reference/recordings.schema.json").read_text())
            schema.pop("$id")
            jsonschema.Draft202012Validator(schema).validate(self.get("/api/v1/recordings").json)
        except ImportError:
            pass
        # The recorder ends as it would have without a reader, and its file is whole.
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=60)
        self.assertEqual(recorder.stderr.read(), "")
        self.assertFalse(pathlib.Path(str(self.recording) + "-wal").exists())
        self.assertEqual(self.end(), 0)

    def test_replay(self):
        """A recording in place of this machine: its GPUs and itself."""
        recorder = self.record(world="gpus 1\ngpu0.util 31\ngpu0 process 4242 compute 2048 60\n")
        time.sleep(3)
        recorder.send_signal(signal.SIGINT)
        recorder.wait(timeout=60)
        self.serve(support.HEALTHY, "--replay", str(self.recording), "--replay-speed", "4", root=False)
        page = self.wait_for(lambda p: p.find("pyrometer_gpu_util_ratio") and
                             p.find("pyrometer_recording_steps_total"), 60)
        self.assertEqual(page.find("pyrometer_gpu_util_ratio"), [0.31])
        self.assertEqual(page.find("pyrometer_gpu_process_memory_bytes", pid="4242"), [2048 << 20])
        self.assertEqual(page.find("pyrometer_source_up", source="recording"), [1])
        self.assertGreater(page.one("pyrometer_recording_steps_total"), 10)
        self.assertEqual(self.get("/api/v1/gpus").json["host"], "train.pyro")
        time.sleep(2)  # it has begun anew by now
        self.assertEqual(self.get("/healthz").status, 200)

    def test_found_by_itself(self):
        """Without --recordings: what a running pyrometer of the same user has open."""
        self.record()
        self.make_machine(support.HEALTHY)
        self.launch("--analysis-period", "1", "--config", "/dev/null", root=False)
        self.port = int(self.process.stderr.readline().rsplit(":", 1)[1])
        path = str(self.recording)
        page = self.wait_for(lambda p: p.find("pyrometer_recording_info", path=path) and
                             p.find("pyrometer_recording_cause_ratio"), 60)
        self.assertEqual(page.find("pyrometer_recording_cost_usd_per_hour"), [])
        self.assertEqual(page.find("pyrometer_recording_run_cost_usd"), [])

    def test_damaged_files_are_told_of(self):
        runs = self.folder / "runs"
        runs.mkdir()
        (runs / "broken.pyro").write_bytes(b"SQLite format 3\0" + os.urandom(5000))
        (runs / "text.pyro").write_text("no recording")
        (runs / "old.pyro").write_text("long ago")
        os.utime(runs / "old.pyro", (1, 1))
        self.serve(support.HEALTHY, "--recordings", str(runs), "--analysis-period", "1")
        def told():
            found = self.get("/api/v1/recordings").json["recordings"]
            return found if len(found) == 2 and all(one["problem"] for one in found) else None
        found = support.until(told)
        self.assertEqual([one["name"] for one in found or []], ["broken", "text"])
        page = self.metrics()
        self.assertEqual(page.one("pyrometer_recording_analysis_success", recording="broken"), 0)
        self.assertEqual(page.find("pyrometer_recording_cause_ratio"), [])
        self.assertEqual(self.get("/api/v1/recordings/broken/report").status, 404)

    def test_ends_at_once_while_it_reads(self):
        self.record()
        self.serve(support.HEALTHY, "--recordings", str(self.folder), "--analysis-period", "1")
        for _ in range(3):
            time.sleep(0.4)
            self.assertEqual(self.get("/livez").status, 200)
        self.assertEqual(self.end(), 0)


if __name__ == "__main__":
    unittest.main()
