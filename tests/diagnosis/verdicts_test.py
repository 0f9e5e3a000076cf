#!/usr/bin/env python3
"""The rules on every kept recording: the same verdict against its truth as when it was kept.

Recordings and their rows lie in tests/data/diagnosis; bench/diagnosis/keep.py adds them. What a row
says is scored by the truth of the case's script, so that a new finding which that truth accepts
changes nothing here, while a cause no longer found, or one invented, does.
"""
import os
import sys
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "bench" / "diagnosis"))
import keep  # noqa: E402
import truth  # noqa: E402

PYROMETER = os.environ.get("PYROMETER_PROGRAM")
FOLDER = Path(os.environ.get("PYROMETER_KEPT", keep.KEPT))


class Kept(unittest.TestCase):
    maxDiff = None

    def test_recordings_and_rows_belong_together(self):
        recordings = {path.name[:-len(".pyro.xz")] for path in FOLDER.glob("*.pyro.xz")}
        self.assertEqual(recordings, set(keep.rows_of(FOLDER / "verdicts.tsv")))
        self.assertLessEqual(recordings, {t.name for t in truth.read_all()})

    def test_verdicts_are_the_same(self):
        known = {t.name: t for t in truth.read_all()}
        for name, row in sorted(keep.rows_of(FOLDER / "verdicts.tsv").items()):
            with self.subTest(name):
                report = keep.analysed(PYROMETER, (FOLDER / f"{name}.pyro.xz").read_bytes())
                self.assertEqual(
                    keep.verdict(known[name], report, row["device"], row["beside"]), row)


if __name__ == "__main__":
    if not PYROMETER:
        print("skipped: PYROMETER_PROGRAM is not set: run through ctest")
        sys.exit(77)
    unittest.main()
