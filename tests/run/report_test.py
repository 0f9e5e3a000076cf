"""What `pyrometer run` says at the end, and what the reports say of the whole run."""
import json
import pathlib
import subprocess
import sys

import support

SCHEMA_CHECK = pathlib.Path(__file__).resolve().parent.parent / "check_report_schema"
TRAINING = "steps 200 32; kernel ampere_sgemm_128x64_nn 1000 0; sync; end; print done; exit 3"


class Report(support.RunCase):
    def loud(self, command, *options):
        """Recorded without -q: the path of the recording and the finished process."""
        recording = self.new_file(".pyro")
        done = subprocess.run([support.PYROMETER, "run", "-o", str(recording), *options, "--", *command],
                              env=self.environment(), cwd=str(self.folder), stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, text=True)
        return recording, done

    def test_the_end_of_a_run(self):
        recording, done = self.loud([support.GPU_PROGRAM, TRAINING], "--overhead", "0")
        self.assertEqual((done.returncode, done.stdout), (3, "done\n"))
        parts = ["The GPU was busy", "Where the GPU time goes", "What to change", "The whole run",
                 "How sure this is", "recorded in %s. To see more of it: pyrometer analyze -v %s\n"
                 % (recording, recording)]
        places = [done.stderr.find(part) for part in parts]
        self.assertNotIn(-1, places, done.stderr)
        self.assertEqual(places, sorted(places))
        self.assertTrue(done.stderr.endswith(parts[-1]))
        self.assertNotIn("-v shows all tables", done.stderr)
        self.assertNotIn("\x1b", done.stderr)
        for word in ("ProfilerStep", "without the profiler", "trace", "of 1 rank"):
            self.assertNotIn(word, done.stderr)

    def test_colour_is_passed_on(self):
        _, done = self.loud([support.GPU_PROGRAM, TRAINING], "--color", "always")
        self.assertIn("\x1b[1m", done.stderr)

    def test_quiet_says_nothing(self):
        run = self.record([support.GPU_PROGRAM, TRAINING])
        self.assertEqual((run.returncode, run.out, run.err), (3, b"done\n", b""))

    def test_a_process_that_does_not_train(self):
        recording, done = self.loud([support.GPU_PROGRAM, "print done"])
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"))
        self.assertTrue(done.stderr.endswith("pyrometer: recorded in %s\n" % recording), done.stderr)
        self.assertIn("warning: no ", done.stderr)

    def test_the_json_report_has_the_whole_run(self):
        run = self.record([support.GPU_PROGRAM, TRAINING], options=["--overhead", "0"])
        report = run.recording.report()
        file = self.folder / "report.json"
        file.write_text(json.dumps(report))
        check = subprocess.run([sys.executable, str(SCHEMA_CHECK), "--reports", str(file)],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(check.returncode, 0, check.stdout)
        whole = report["ranks"][0]["run"]
        self.assertEqual((whole["ended"], whole["exit_code"], whole["exit_signal"]), (True, 3, None))
        self.assertEqual((whole["steps"], whole["watched_steps"]), (200, 200))
        self.assertGreater(whole["samples_per_s"], 0)
        self.assertGreaterEqual(whole["wall_ns"], whole["step_time_ns"])
        self.assertIsNone(whole["host_time"]["validation"])
        self.assertIsNone(whole["overhead"]["ratio"])
        self.assertTrue(whole["overhead"]["missing"])


if __name__ == "__main__":
    support.main()
