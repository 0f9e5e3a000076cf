"""Start-up: the cost, other sitecustomizes, what is hooked and what is not. Needs no torch."""
import os
import pathlib
import subprocess
import sys
import time
import unittest

from support import SITE, HookCase

FAKE_TORCH = "print('torch runs')\nvalue = 7\n"


class StartTest(HookCase):
    def test_chains_to_the_next_sitecustomize(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "sitecustomize.py").write_text("import sys\nprint('theirs', __name__, __file__)\n")
        path = os.pathsep.join([str(SITE), str(other)])
        result = self.run_program(
            "import sitecustomize; print(sitecustomize.__file__)", env={"PYTHONPATH": path})
        theirs = str(other / "sitecustomize.py")
        self.assertEqual(result.out, "theirs sitecustomize %s\n%s\n" % (theirs, theirs))

    def test_an_error_of_theirs_is_reported_as_ever(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "sitecustomize.py").write_text("raise ValueError('theirs')\n")
        def run(path):
            return self.run_program("print('on')", env={"PYTHONPATH": path})
        plain, hooked = run(str(other)), run(os.pathsep.join([str(SITE), str(other)]))
        self.assertEqual(plain.out, hooked.out)
        self.assertEqual(plain.err, hooked.err)

    def test_without_a_session_there_is_no_finder(self):
        program = "import sys; print(len([f for f in sys.meta_path if 'Torch' in type(f).__name__]))"
        self.assertEqual(self.run_program(program).out, "1\n")
        env = {"PYTHONPATH": str(SITE)}
        self.assertEqual(self.run_program(program, hook=False, env=env).out, "0\n")
        for option in ("-I", "-E", "-S"):
            self.assertEqual(self.run_program(program, options=[option]).out, "0\n", option)

    def test_imports_nothing(self):
        program = "import sys; print(sorted(m for m in sys.modules if 'pyrometer' in m or m == 'ctypes'))"
        self.assertEqual(self.run_program(program).out, "[]\n")

    def test_a_module_named_torch_keeps_its_loader(self):
        (self.folder / "torch.py").write_text(FAKE_TORCH)
        result = self.run_program("""
            import torch, inspect, importlib
            print(torch.value, type(torch.__loader__).__name__, "exec_module" in vars(torch.__loader__))
            print(len(inspect.getsource(torch)), torch.__spec__.loader is torch.__loader__)
            importlib.reload(torch)
            """)
        self.assertEqual(result.out, "torch runs\n7 SourceFileLoader False\n%d True\ntorch runs\n"
                         % len(FAKE_TORCH))
        self.assertEqual(result.err, "")

    def test_a_torch_that_fails_to_import(self):
        (self.folder / "torch.py").write_text("raise ImportError('no libcuda')\n")
        result = self.run_program("""
            for _ in range(2):
                try:
                    import torch
                except ImportError as error:
                    print(error)
            """)
        self.assertEqual(result.out, "no libcuda\nno libcuda\n")

    def test_missing_and_foreign_libraries(self):
        (self.folder / "torch.py").write_text(FAKE_TORCH)
        for path in ("/nonexistent.so", __file__):
            result = self.run_program("import torch", env={"PYROMETER_LIBRARY": path})
            self.assertEqual((result.out, result.err), ("torch runs\n", ""))

    def test_children_are_hooked(self):
        result = self.run_program("""
            import subprocess, sys
            print(subprocess.check_output([sys.executable, "-c",
                "import sys; print(any('Torch' in type(f).__name__ for f in sys.meta_path))"], text=True))
            """)
        self.assertEqual(result.out.strip(), "True")

    def test_interpreters_without_torch_load_next_to_nothing(self):
        """What that costs in time: bench/overhead/start_cost.py."""
        def modules(environment):
            return set(subprocess.run(
                [sys.executable, "-c", "import sys; print(*sys.modules)"], env=environment,
                check=True, capture_output=True, text=True).stdout.split())
        plain = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        hooked = dict(plain, PYTHONPATH=str(SITE), PYROMETER_SESSION=str(self.folder),
                      PYROMETER_LIBRARY="/nonexistent.so")
        added = modules(hooked) - modules(plain)
        self.assertLessEqual(added, {"sitecustomize"})

    def test_syntax_is_that_of_python_3_7(self):
        import ast
        for path in pathlib.Path(SITE).parent.rglob("*.py"):
            ast.parse(path.read_text(), feature_version=(3, 7))


if __name__ == "__main__":
    unittest.main()
