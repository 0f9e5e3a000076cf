#!/usr/bin/env python3
"""The benchmark from end to end on the CPU: two scripts, their recordings, the scoreboard.

Started by ctest; needs torch in the interpreter that runs it. What the program says of the scripts
is not tested here: a busy machine may change it. That it is scored, stored and found again is.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYROMETER = os.environ.get("PYROMETER_PROGRAM")
CASES = ("input_amp_useless", "sync_metrics")


def benchmark(*options):
    return subprocess.run([sys.executable, str(HERE / "run.py"), "--pyrometer", PYROMETER,
                           *map(str, options)], capture_output=True, text=True, timeout=280)


class Smoke(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="pyrometer-diagnosis-"))
        cls.options = ("--out", cls.folder, "--device", "cpu", "--tiny", "--repeats", 1,
                       "--cases", ",".join(CASES))
        cls.first = benchmark(*cls.options)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def board(self):
        return json.loads((self.folder / "scoreboard.json").read_text(encoding="utf-8"))

    def test_runs_scores_resumes_and_rescores(self):
        self.assertEqual(self.first.returncode, 0, self.first.stdout + self.first.stderr)
        board = self.board()
        status = {row["case"]: row["status"] for row in board["cases"]}
        self.assertEqual(status, {CASES[0]: "scored", CASES[1]: "not judged"})
        row = board["cases"][0]
        self.assertGreater(row["speedup"], 0)
        self.assertIsNotNone(row["overhead"])
        self.assertEqual(len(row["found"]) + len(row["missed"]), 1)
        self.assertEqual(board["header"]["gpus"], None)
        self.assertTrue(board["header"]["torch"] and board["header"]["pyrometer"])
        for case in CASES:
            self.assertTrue((self.folder / f"{case}.pyro").exists())

        again = benchmark(*self.options)
        self.assertEqual(again.stdout.count("there already"), len(CASES), again.stdout)
        self.assertEqual(self.board()["cases"], board["cases"])

        before = (self.folder / f"{CASES[0]}.report.json").read_text()
        (self.folder / f"{CASES[0]}.report.json").unlink()
        rescored = benchmark("--rescore", self.folder)
        self.assertEqual(rescored.returncode, 0, rescored.stderr)
        self.assertEqual((self.folder / f"{CASES[0]}.report.json").read_text(), before)
        self.assertEqual(self.board()["cases"], board["cases"])
        self.assertIn("judged_by", self.board()["header"])

    def test_refuses(self):
        self.assertEqual(benchmark().returncode, 2)
        self.assertEqual(benchmark("--out", self.folder, "--rescore", self.folder).returncode, 2)
        unknown = benchmark("--out", self.folder, "--device", "cpu", "--cases", "no_such")
        self.assertNotEqual(unknown.returncode, 0)
        self.assertIn("no such case or class: no_such", unknown.stderr)

    def test_a_failing_case_does_not_end_the_run(self):
        with tempfile.TemporaryDirectory() as folder:
            done = benchmark("--out", folder, "--device", "cpu", "--tiny", "--repeats", 1,
                             "--steps", 1, "--timeout-s", 0.05, "--cases", ",".join(CASES))
            self.assertEqual(done.returncode, 1, done.stderr)
            board = json.loads((Path(folder) / "scoreboard.json").read_text(encoding="utf-8"))
        self.assertEqual([row["status"] for row in board["cases"]], ["failed", "failed"])
        self.assertIn("took more than", board["cases"][0]["reason"])


if __name__ == "__main__":
    if not PYROMETER:
        print("skipped: PYROMETER_PROGRAM is not set: run through ctest")
        sys.exit(77)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("skipped: no PyTorch")
        sys.exit(77)
    unittest.main()
