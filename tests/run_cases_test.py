#!/usr/bin/env python3
"""Tests of tests/run_cases itself: it must fail when a case is not met, skip and time out."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUNNER = pathlib.Path(__file__).resolve().parent / "run_cases"


class RunCases(unittest.TestCase):
    def run_case(self, text: str, golden: str | None = None, update: bool = False) -> tuple[int, str, str]:
        """Exit status, what the runner printed, the golden file afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            case = pathlib.Path(folder) / "one.case"
            case.write_text(text)
            golden_file = case.with_suffix(".stdout")
            if golden is not None:
                golden_file.write_text(golden)
            command = [RUNNER, "--program", "/bin/true", case] + (["--update"] if update else [])
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr, golden_file.read_text() if golden_file.exists() else ""

    def assert_case(self, status: int, text: str, golden: str | None = None) -> None:
        code, printed, _ = self.run_case(text, golden)
        self.assertEqual(code, status, printed)

    def test_exit_status(self):
        self.assert_case(0, "run: exit 3\nexit: 3\n")
        self.assert_case(1, "run: exit 3\n")
        self.assert_case(1, "run: kill -SEGV $$\n")

    def test_golden(self):
        self.assert_case(0, "run: echo hello\nstdout: golden\n", "hello\n")
        self.assert_case(1, "run: echo hullo\nstdout: golden\n", "hello\n")
        self.assert_case(1, "run: echo hello\nstdout: golden\n")
        status, _, golden = self.run_case("run: echo new\nstdout: golden\n", "old\n", update=True)
        self.assertEqual((status, golden), (0, "new\n"))

    def test_lines(self):
        self.assert_case(0, "run: echo hello\nstdout has: hell\nstdout matches: ^h.*o$\nstdout lacks: bye\n")
        self.assert_case(1, "run: echo hello\nstdout has: bye\n")
        self.assert_case(1, "run: echo hello\nstdout matches: ^o\n")
        self.assert_case(1, "run: echo hello\nstdout lacks: hello\n")

    def test_stderr_must_be_expected(self):
        self.assert_case(1, "run: echo oops >&2\n")
        self.assert_case(0, "run: echo oops >&2\nstderr has: oops\n")

    def test_normalises(self):
        self.assert_case(0, "run: pwd; echo pyrometer 12.3.4\nstdout: golden\n", "$PWD\npyrometer VERSION\n")
        self.assert_case(0, "run: echo took 17 ms\nreplace: \\d+ ms => N ms\nstdout has: took N ms\n")

    def test_timeout(self):
        self.assert_case(1, "run: sleep 20 & wait\ntimeout: 0.3\n")
        self.assert_case(1, "run: sleep 20\ntimeout: 0.3\nterminal: 80\n")

    def test_needs(self):
        self.assert_case(77, "run: true\nneeds: command:no-such-command\n")
        self.assert_case(77, "run: true\nneeds: no-such-feature\n")
        self.assert_case(0, "run: true\nneeds: command:sh\n")

    def test_terminal(self):
        self.assert_case(0, "run: test -t 1 && stty size <&1\nterminal: 71\nstdout has: 50 71\n")
        self.assert_case(1, "run: test -t 1\n")

    def test_environment(self):
        self.assert_case(0, "run: echo $COLOUR$HOME\nenv: COLOUR=red\nstdout has: red$PWD\n")

    def test_bad_case(self):
        for text in ("run true\n", "exit: 0\n", "run: true\nstdout hass: x\n", "run: true\nexit: zero\n",
                     "run: true\nstdout matches: (\n"):
            self.assert_case(2, text)


if __name__ == "__main__":
    sys.exit(unittest.main())
