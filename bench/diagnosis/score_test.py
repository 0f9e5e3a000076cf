#!/usr/bin/env python3
"""Tests of how the diagnosis benchmark reads truths and scores reports, on reports made by hand."""
import json
import os
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import board  # noqa: E402
import execute  # noqa: E402
import keep  # noqa: E402
import run  # noqa: E402
import score  # noqa: E402
import truth  # noqa: E402


def declared(text, name="case"):
    return truth.parse(name, "What it does.\n\nTruth\n" + text)


SERIAL = declared("""  report: C011
  class: input
  causes: input.serial_loader|input.bound
  also: transfer.pageable_h2d
  never: sync.*
  fix: workers
""", "serial")
TWO = declared("  report: own\n  class: launch\n  causes: launch.bound sync.blocking_calls\n"
               "  fix: both\n", "two")
CONTROL = declared("  report: own\n  class: control\n  causes: none\n  also: memory.*\n"
                   "  never: launch.*\n  fix: none\n", "control")
BESIDE = declared("  report: own\n  class: device\n  causes: device.shared\n  fix: alone\n"
                  "  predict: it cannot be known\n", "beside")


def finding(name, severity="warning", predicted=None):
    prediction = None
    if predicted:
        low, mid, high = predicted
        prediction = {"baseline_ns": 100e6, "low_ns": low * 1e6, "mid_ns": mid * 1e6,
                      "high_ns": high * 1e6}
    return {"id": name, "severity": severity, "prediction": prediction, "no_prediction": None}


def report(*findings, joint=None):
    joint = finding("joint", predicted=joint)["prediction"]
    return {"findings": list(findings), "joint_prediction": joint}


def runs(*rates, ms=None):
    return [{"samples_per_s": rate, "ms_per_step": ms or 1e3 / rate, "steps": 10}
            for rate in rates]


def measured(planted=(10, 10), fixed=(40, 40), recorded=None):
    return {"status": "measured", "planted": runs(*planted), "fixed": runs(*fixed),
            "recorded": runs(recorded)[0] if recorded else None}


class Truths(unittest.TestCase):
    def test_reads_all_keys(self):
        got = declared("""  report: C101 C103
  class: host
  causes: host.affinity|host.cpu_quota
        input.bound
  also: launch.* steps.outliers
  never: precision.*
  fix: all cores, as before
  gpus: 2
  launch: python torchrun
  beside: hog.py
  cpu_quota: 1.5
  needs: compile tensorboard
  cpu: judged
  period: 20
  predict: no model of it
""")
        self.assertEqual(got.causes, [("host.affinity", "host.cpu_quota"), ("input.bound",)])
        self.assertEqual((got.kind, got.gpus, got.launch, got.beside, got.cpu_quota, got.period),
                         ("host", 2, ("python", "torchrun"), "hog.py", 1.5, 20))
        self.assertEqual((got.needs, got.cpu, got.predict, got.fix),
                         (["compile", "tensorboard"], True, "no model of it",
                          "all cores, as before"))
        self.assertTrue(got.accepts("launch.bound") and got.forbids("precision.no_amp"))
        self.assertFalse(got.accepts("input.bound") or got.forbids("launch.bound"))

    def test_refuses_what_it_cannot_read(self):
        good = "  report: own\n  class: input\n  causes: a.b\n  fix: x\n"
        declared(good)
        for text, words in (
                ("", "missing: report, class, causes, fix"),
                (good + "  casue: a.b\n", "casue: unknown key"),
                (good + "  fix: y\n", "fix: given twice"),
                (good + "  also:\n", "also: no value"),
                (good + "  gpus: two\n", "gpus:"),
                (good + "  gpus: 0\n", "positive"),
                (good + "  cpu: perhaps\n", "judged"),
                (good + "  launch: mpirun\n", "launch:"),
                (good + "  words\n", "'key: value' expected"),
                (good.replace("input", "inputs"), "inputs is none of"),
                (good.replace("a.b", "none"), "'causes: none'"),
                (good.replace("class: input", "class: control"), "'causes: none'")):
            with self.assertRaisesRegex(truth.TruthError, words, msg=text):
                declared(text)
        with self.assertRaisesRegex(truth.TruthError, "no line 'Truth'"):
            truth.parse("case", None)

    def test_every_script_has_one_that_the_catalogue_knows(self):
        all_truths = truth.read_all()
        self.assertEqual(truth.unknown_ids(all_truths, truth.known_findings()), [])
        planted = [t for t in all_truths if not t.control]
        self.assertGreaterEqual(len(planted), 30)
        self.assertGreaterEqual(len(all_truths) - len(planted), 8)
        self.assertEqual({t.kind for t in all_truths}, set(truth.CLASSES))
        for t in all_truths:
            self.assertTrue(t.control or t.fix, t.name)
            self.assertFalse(t.beside and not (truth.HERE / "beside" / t.beside).exists(), t.name)
            for cause in t.causes:
                for name in cause:
                    self.assertFalse(t.forbids(name), f"{t.name}: {name} is asked and forbidden")

    def test_unknown_ids_are_named(self):
        self.assertEqual(truth.unknown_ids([SERIAL], {"input.bound", "sync.x"}),
                         [("serial", "input.serial_loader"), ("serial", "transfer.pageable_h2d")])

    def test_a_run_cut_short_has_something_of_every_class(self):
        all_truths = truth.read_all()
        ordered = truth.balanced(all_truths)
        self.assertEqual(sorted(t.name for t in ordered), sorted(t.name for t in all_truths))
        self.assertEqual({t.kind for t in ordered[:len(truth.CLASSES) + 4]}, set(truth.CLASSES))

    def test_readme_has_the_table(self):
        readme = (truth.HERE / "README.md").read_text(encoding="utf-8")
        self.assertIn(run.table(truth.read_all()), readme,
                      "put what run.py --list prints into README.md")


class Scores(unittest.TestCase):
    def test_first_right_found_and_missed(self):
        got = score.score_case(SERIAL, report(finding("input.bound"), finding("launch.bound")),
                               measured())
        self.assertTrue(got["first_right"])
        self.assertEqual((got["first"], got["found"], got["missed"]),
                         ("input.bound", ["input.serial_loader|input.bound"], []))
        self.assertEqual(got["invented"], ["launch.bound"])
        self.assertIsNone(got["false_alarm"])

    def test_first_wrong_though_found(self):
        got = score.score_case(
            SERIAL, report(finding("transfer.pageable_h2d"), finding("input.serial_loader")),
            measured())
        self.assertFalse(got["first_right"])
        self.assertEqual((got["missed"], got["invented"]), ([], []))

    def test_information_counts_neither_way(self):
        got = score.score_case(SERIAL, report(finding("input.bound", "info"),
                                              finding("launch.bound", "info")), measured())
        self.assertEqual((got["first"], got["first_right"], got["invented"], got["missed"]),
                         (None, False, [], ["input.serial_loader|input.bound"]))

    def test_two_causes_need_both(self):
        got = score.score_case(TWO, report(finding("sync.blocking_calls")), measured())
        self.assertTrue(got["first_right"])
        self.assertEqual((got["found"], got["missed"]), (["sync.blocking_calls"], ["launch.bound"]))

    def test_forbidden_is_invented_too(self):
        got = score.score_case(SERIAL, report(finding("input.bound"),
                                              finding("sync.blocking_calls")), measured())
        self.assertEqual((got["forbidden"], got["invented"]),
                         (["sync.blocking_calls"], ["sync.blocking_calls"]))

    def test_controls(self):
        quiet = score.score_case(CONTROL, report(finding("launch.bound", "info")), measured())
        self.assertEqual((quiet["false_alarm"], quiet["first_right"]), (False, None))
        accepted = score.score_case(CONTROL, report(finding("memory.near_limit")), measured())
        self.assertFalse(accepted["false_alarm"])
        loud = score.score_case(CONTROL, report(finding("launch.bound")), measured())
        self.assertEqual((loud["false_alarm"], loud["forbidden"]), (True, ["launch.bound"]))

    def test_no_gpu_is_no_finding_on_a_machine_without_one(self):
        says = report(finding(score.NO_GPU), finding("input.bound"))
        self.assertTrue(score.score_case(SERIAL, says, measured(), "cpu")["first_right"])
        self.assertFalse(score.score_case(SERIAL, says, measured(), "cuda")["first_right"])
        hidden = declared(f"  report: C113\n  class: device\n  causes: {score.NO_GPU}\n"
                          "  fix: x\n")
        self.assertTrue(score.score_case(hidden, says, measured(), "cpu")["first_right"])

    def test_what_was_true_of_the_machine_does_not_count_unless_planted(self):
        says = report(finding("host.cpu_saturated"), finding("input.bound"))
        busy = dict(measured(), beside=["host.*"])
        self.assertTrue(score.score_case(SERIAL, says, busy)["first_right"])
        self.assertEqual(score.score_case(SERIAL, says, busy)["invented"], [])
        self.assertFalse(score.score_case(SERIAL, says, measured())["first_right"])
        planted = declared("  report: own\n  class: host\n  causes: host.cpu_saturated\n"
                           "  also: input.bound\n  fix: x\n")
        self.assertTrue(score.score_case(planted, says, busy)["first_right"])

    def test_a_report_within_a_run_is_read_too(self):
        says = {"diagnosis": report(finding("input.bound"))}
        self.assertTrue(score.score_case(SERIAL, says, measured())["first_right"])


class Speed(unittest.TestCase):
    def test_medians_spread_and_gain(self):
        got = score.measured_of(measured(planted=(9, 10, 12), fixed=(40, 20, 30), recorded=8))
        self.assertEqual(got["planted_samples_per_s"], 10)
        self.assertEqual(got["speedup"], 3)
        self.assertAlmostEqual(got["planted_spread"], 0.3)
        self.assertAlmostEqual(got["realised_ms"], 100 / 3)
        self.assertAlmostEqual(got["overhead"], 0.25)

    def test_a_larger_batch_counts_by_samples(self):
        runs_of = {"planted": runs(10, ms=100), "fixed": runs(40, ms=400), "recorded": None}
        got = score.measured_of(runs_of)
        self.assertEqual((got["speedup"], got["realised_ms"]), (4, 25))

    def test_missing_is_not_zero(self):
        got = score.measured_of({"planted": runs(10)})
        for key in ("speedup", "realised_ms", "fixed_spread", "planted_spread", "overhead"):
            self.assertIsNone(got[key], key)
        self.assertTrue(all(v is None for v in score.measured_of({}).values()))


class Predictions(unittest.TestCase):
    def predicted(self, case, says, **runs_of):
        got = score.score_case(case, says, measured(**runs_of))
        return got["holds"], got["error"], got["no_prediction"]

    def test_range_and_error(self):
        says = report(finding("input.bound", predicted=(20, 30, 50)))
        holds, error, why = self.predicted(SERIAL, says)        # realised: 25 ms
        self.assertTrue(holds)
        self.assertAlmostEqual(error, 0.2)
        self.assertIsNone(why)
        holds, error, _ = self.predicted(SERIAL, says, fixed=(100,))        # 10 ms
        self.assertFalse(holds)
        self.assertAlmostEqual(error, 2)

    def test_limits_of_the_range_hold(self):
        self.assertTrue(self.predicted(SERIAL, report(
            finding("input.bound", predicted=(25, 30, 50))))[0])
        self.assertTrue(self.predicted(SERIAL, report(
            finding("input.bound", predicted=(5, 10, 25))))[0])

    def test_the_planted_cause_counts_not_the_first_finding(self):
        says = report(finding("launch.bound", predicted=(90, 95, 99)),
                      finding("input.bound", predicted=(20, 25, 30)))
        self.assertEqual(self.predicted(SERIAL, says), (True, 0, None))

    def test_two_causes_take_the_joint_prediction(self):
        says = report(finding("launch.bound", predicted=(90, 95, 99)), joint=(20, 25, 30))
        self.assertEqual(self.predicted(TWO, says), (True, 0, None))

    def test_why_there_is_none(self):
        self.assertEqual(self.predicted(SERIAL, report()), (None, None, "cause not found"))
        self.assertEqual(self.predicted(BESIDE, report(finding("device.shared"))),
                         (None, None, "it cannot be known"))
        self.assertEqual(self.predicted(CONTROL, report()), (None, None, "nothing to fix"))
        self.assertEqual(self.predicted(TWO, report(finding("launch.bound"))),
                         (None, None, "no joint prediction"))
        silent = finding("input.bound")
        silent["no_prediction"] = "too few steps"
        self.assertEqual(self.predicted(SERIAL, report(silent)), (None, None, "too few steps"))

    def test_no_fixed_run_no_judgement(self):
        says = report(finding("input.bound", predicted=(20, 30, 50)))
        self.assertEqual(self.predicted(SERIAL, says, fixed=())[:2], (None, None))


class Summaries(unittest.TestCase):
    def scores(self):
        right = finding("input.bound", predicted=(20, 30, 50))
        return [
            score.score_case(SERIAL, report(right), measured(recorded=8)),
            score.score_case(SERIAL, report(finding("launch.bound"), right),
                             measured(fixed=(11, 11))),
            score.score_case(TWO, report(finding("launch.bound"), joint=(10, 20, 21)), measured()),
            score.score_case(CONTROL, report(finding("launch.bound")), measured()),
            score.score_case(CONTROL, report(), measured()),
        ]

    def test_each_figure(self):
        got = score.summary_of(self.scores())
        self.assertEqual((got["cases"], got["planted"], got["controls"]), (5, 3, 2))
        self.assertAlmostEqual(got["first_right"], 2 / 3)
        self.assertAlmostEqual(got["recall"], 3 / 4)
        self.assertAlmostEqual(got["precision"], 3 / 5)         # two invented launch.bound
        self.assertEqual(got["forbidden"], 1)
        self.assertEqual(got["controls_with_false_alarm"], 1)
        self.assertEqual(got["predictions"], 3)
        self.assertAlmostEqual(got["range_holds"], 1 / 3)
        # 30 for 25 ms; 30 for 100/1.1 ms; 20 for 25 ms
        self.assertAlmostEqual(got["median_error"], 0.2)
        self.assertAlmostEqual(got["overhead"], 0.25)
        self.assertEqual(got["weak_cases"], ["serial"])         # 11 against 10

    def test_nothing_gives_no_figure(self):
        got = score.summary_of([])
        for key in ("first_right", "recall", "precision", "controls_with_false_alarm",
                    "range_holds", "median_error", "overhead"):
            self.assertIsNone(got[key], key)

    def test_targets(self):
        passed = {t["key"]: t["passed"] for t in score.targets_of(score.summary_of(self.scores()))}
        self.assertEqual(passed, {"first_right": False, "controls_with_false_alarm": False,
                                  "range_holds": False, "median_error": False})
        good = [self.scores()[i] for i in (0, 4)]
        passed = {t["key"]: t["passed"] for t in score.targets_of(score.summary_of(good))}
        self.assertEqual(passed, {"first_right": True, "controls_with_false_alarm": True,
                                  "range_holds": True, "median_error": False})
        self.assertEqual({t["passed"] for t in score.targets_of(score.summary_of([]))}, {None})

    def test_lines_say_passed_failed_or_not_measured(self):
        lines = board.target_lines(score.targets_of(score.summary_of(self.scores())))
        self.assertEqual(lines[0], "FAIL: first finding right: 66.7% (target: at least 95.0%)")
        self.assertEqual(lines[1], "FAIL: controls with a false alarm above info: 1 "
                                   "(target: at most 0)")
        lines = board.target_lines(score.targets_of(score.summary_of([])))
        self.assertTrue(all(line.startswith("NOT MEASURED: ") for line in lines))


class Boards(unittest.TestCase):
    def test_files(self):
        rows = [dict(score.score_case(SERIAL, report(finding("input.bound",
                                                             predicted=(20, 30, 50))),
                                      measured(recorded=9)), status="scored", reason=None),
                {"case": "other", "class": "host", "control": False, "status": "failed",
                 "reason": "exit status 1:\n\ttorn"}]
        summary = score.summary_of(rows[:1])
        with tempfile.TemporaryDirectory() as folder:
            text = board.write(folder, {"gpus": "H200", "driver": None}, rows, summary,
                               score.targets_of(summary))
            table = (Path(folder) / "scoreboard.tsv").read_text().splitlines()
            stored = json.loads((Path(folder) / "scoreboard.json").read_text())
        self.assertEqual(len(table), 3)
        first = dict(zip(table[0].split("\t"), table[1].split("\t")))
        self.assertEqual((first["first"], first["first_right"], first["speedup"], first["holds"]),
                         ("input.bound", "yes", "4", "yes"))
        other = dict(zip(table[0].split("\t"), table[2].split("\t")))
        self.assertEqual((other["status"], other["first_right"], other["reason"]),
                         ("failed", "", "exit status 1:  torn"))
        self.assertIn("- gpus: H200\n", text)
        self.assertNotIn("driver", text)
        self.assertIn("`other`: failed", text)
        self.assertEqual(stored["schema"], "pyrometer.diagnosis-benchmark/1")
        self.assertEqual(stored["cases"][0]["predicted_ms"], [20, 30, 50])


class Keeping(unittest.TestCase):
    def test_rows(self):
        says = report(finding("input.bound"), finding("launch.bound"))
        row = keep.verdict(SERIAL, says, "cuda")
        self.assertEqual((row["first"], row["found"], row["invented"]),
                         ("right", "1 of 1", "launch.bound"))
        self.assertEqual(keep.verdict(SERIAL, report(), "cuda")["first"], "none")
        self.assertEqual(keep.verdict(TWO, says, "cuda")["first"], "wrong")
        self.assertEqual(keep.verdict(CONTROL, report(), "cuda")["first"], "none")
        self.assertEqual(keep.verdict(CONTROL, report(finding("memory.x")), "cuda")["first"],
                         "right")
        self.assertEqual(keep.verdict(CONTROL, says, "cuda")["first"], "wrong")

    def test_what_was_true_of_the_machine_does_not_count(self):
        says = report(finding("host.cpu_saturated"), finding("input.bound"))
        self.assertEqual(keep.verdict(SERIAL, says, "cpu")["first"], "wrong")
        row = keep.verdict(SERIAL, says, "cpu", "host.* device.shared")
        self.assertEqual((row["first"], row["invented"], row["beside"]),
                         ("right", "-", "host.* device.shared"))

    def test_a_table_comes_back_as_it_was_written(self):
        rows = {"b": keep.verdict(SERIAL, report(), "cpu", "host.*"),
                "a": keep.verdict(CONTROL, report(), "cuda")}
        rows = {row["case"]: row for row in rows.values()}
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "verdicts.tsv"
            self.assertEqual(keep.rows_of(path), {})
            keep.write_rows(path, rows)
            self.assertEqual(keep.rows_of(path), rows)
            path.write_text("case\tdevice\n", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "columns"):
                keep.rows_of(path)


class Running(unittest.TestCase):
    def test_throughput_line(self):
        text = "epoch 1\nthroughput: 12.50 samples/s, 80.0000 ms per step, 30 steps\nbye\n"
        self.assertEqual(execute.throughput(text),
                         {"samples_per_s": 12.5, "ms_per_step": 80.0, "steps": 30})
        self.assertIsNone(execute.throughput("throughput: fast\n"))

    def test_steps_are_whole_periods(self):
        run_of = {"ms_per_step": 30.0}
        self.assertEqual(run.steps_for(run_of, 4, 1), 133)
        self.assertEqual(run.steps_for(run_of, 4, 20), 140)
        self.assertEqual(run.steps_for(run_of, 0.1, 20), 20)

    def test_commands(self):
        case = declared("  report: own\n  class: ranks\n  causes: a.b\n  fix: x\n  gpus: 2\n"
                        "  launch: python torchrun\n")
        case.script = Path("case.py")
        runner = execute.Runner("pyrometer", "python3", "cuda")
        self.assertEqual(runner.command(case, False, None), ["python3", "case.py"])
        self.assertEqual(runner.command(case, True, 20),
                         ["python3", "-m", "torch.distributed.run", "--standalone",
                          "--nproc_per_node", "2", "case.py", "--steps", "20", "--fixed"])
        tiny = execute.Runner("pyrometer", "python3", "cpu", tiny=True)
        self.assertEqual(tiny.command(case, False, 5)[-3:], ["--steps", "5", "--tiny"])
        self.assertEqual(tiny.environment(case)["CUDA_VISIBLE_DEVICES"], "-1")

    def test_a_case_sees_no_more_gpus_than_it_needs(self):
        runner = execute.Runner("pyrometer", "python3", "cuda")
        one = declared("  report: own\n  class: host\n  causes: a.b\n  fix: x\n")
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "3,5"}):
            self.assertEqual(runner.environment(one)["CUDA_VISIBLE_DEVICES"], "3")
        with unittest.mock.patch.dict(os.environ):
            os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            self.assertEqual(runner.environment(one)["CUDA_VISIBLE_DEVICES"], "0")

    def test_failures_say_what_was_printed_last(self):
        with self.assertRaisesRegex(execute.RunError, "exit status 3: .*torn"):
            execute.finish([sys.executable, "-c", "print('torn'); raise SystemExit(3)"], None, 30)
        with self.assertRaisesRegex(execute.RunError, "more than 0 s"):
            execute.finish([sys.executable, "-c", "import time; time.sleep(60)"], None, 0.2)


if __name__ == "__main__":
    unittest.main()
