"""However a program ends and whatever processes it makes: its output, exit code and signal stay."""
import signal
import unittest

import support

WORK = "repeat 20; kernel a 50 0; sync; end; print working; "
SHORT_LIVED = 1000


class Ends(support.RunCase):
    def gpu(self, script, **how):
        return self.assert_same([support.GPU_PROGRAM, script], **how)

    # Not a method: `gpu` is also the folder of the simulated GPU in the base class.
    gpu_program = gpu
    gpu = "gpu13"

    def test_exits(self):
        for end in ("exit 0", "exit 1", "exit 77", "exit 255", "_exit 42", "quick_exit 3"):
            with self.subTest(end):
                run = self.gpu_program(WORK + end)
                self.assertEqual(run.returncode, int(end.split()[1]))
                self.assertEqual(run.recording.meta["exit_code"], end.split()[1])
                # What it did before is recorded, unless it left too fast for its last flush.
                if not end.startswith("_exit"):
                    self.assertGreater(run.recording.value("SELECT count(*) FROM activity"), 10)

    def test_signals(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL,
                       signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGPIPE, signal.SIGHUP,
                       signal.SIGUSR1, signal.SIGXCPU):
            with self.subTest(number):
                run = self.gpu_program(WORK + "signal %d" % number)
                self.assertEqual(run.returncode, -number)
                self.assertEqual(run.recording.meta["exit_signal"], str(int(number)))
        run = self.gpu_program(WORK + "abort")
        self.assertEqual(run.returncode, -signal.SIGABRT)
        run = self.gpu_program(WORK + "segv")
        self.assertEqual(run.returncode, -signal.SIGSEGV)

    def test_threads_alive_at_exit(self):
        threads = "thread; forever; kernel a 20 %d; query; end; end;"
        script = threads % 1 + threads % 2 + "sleep 50; print leaving; "
        for end in ("exit 5", "_exit 6", "quick_exit 7", "abort"):
            with self.subTest(end):
                run = self.gpu_program(script + end)
                self.assertEqual(run.out, b"leaving\n")

    def test_exec(self):
        run = self.gpu_program(WORK + "exec; kernel b 10 0; sync; print second; exec; print third;"
                               "kernel c 10 0; sync; exit 9")
        self.assertEqual((run.returncode, run.out), (9, b"working\nsecond\nthird\n"))
        # Each image has a ring of its own, with the same pid.
        self.assertEqual(run.recording.rows("SELECT count(*), count(DISTINCT pid) FROM process"),
                         [(3, 1)])

    def test_exec_of_a_program_without_gpu(self):
        run = self.assert_same(["/bin/sh", "-c", "echo one; exec %s '%s exit 4'" %
                                (support.GPU_PROGRAM, WORK)])
        self.assertEqual((run.returncode, run.out), (4, b"one\nworking\n"))
        self.assertEqual(run.recording.value("SELECT count(*) FROM process"), 1)

    def test_fork_without_exec(self):
        run = self.gpu_program(WORK + "repeat %d; fork; end; end; print parent; kernel b 10 0; sync"
                               % SHORT_LIVED)
        self.assertEqual((run.returncode, run.out), (0, b"working\nparent\n"))
        self.assertEqual(run.recording.value("SELECT count(*) FROM process"), 1)
        self.assertEqual(run.recording.losses, {})

    def test_a_thousand_short_lived_children(self):
        run = self.gpu_program(WORK + "repeat %d; run /bin/true; end; print parent" % SHORT_LIVED)
        self.assertEqual((run.returncode, run.out), (0, b"working\nparent\n"))
        self.assertEqual(run.recording.value("SELECT count(*) FROM process"), 1)

    def test_children_that_use_the_gpu(self):
        """Each for an instant: no ring is missed, none stays."""
        count = 100
        run = self.gpu_program(WORK + "repeat %d; spawn; kernel child 10 0; sync; end; end" % count)
        self.assertEqual(run.returncode, 0)
        recording = run.recording
        self.assertEqual(recording.value("SELECT count(*) FROM process"), 1 + count)
        self.assertEqual(recording.value("SELECT count(DISTINCT pid) FROM process"), 1 + count)
        kept = recording.value("SELECT count(*) FROM activity JOIN name ON activity.name = name.id "
                               "WHERE text = 'child'")
        self.assertEqual(kept, count)
        self.assertEqual(support.sessions(run.pid), [])

    def test_a_child_outlives_the_command(self):
        """The end of the command is the end of the run, as for a shell; the orphan goes on."""
        flag, done = self.folder / "go", self.folder / "done"
        run = self.record(["/bin/sh", "-c", "%s 'kernel a 10 0; sync; wait_for %s; repeat 100;"
                           "kernel a 10 0; sync; end; run /bin/touch %s' >/dev/null 2>&1 & echo $!"
                           % (support.GPU_PROGRAM, flag, done)])
        self.assertEqual((run.returncode, run.err), (0, b""))
        flag.touch()
        self.wait_until(done.exists, what="end of the orphan")
        self.wait_until(lambda: not support.alive(int(run.out)), what="end of the orphan")
        self.assertEqual(support.sessions(run.pid), [])

    @unittest.skipIf(support.SANITIZED, "the sanitizer has its own way to end a program")
    def test_python_ends(self):
        programs = {
            "os._exit": "import os; print('x', flush=True); os._exit(7)",
            "sys.exit": "import sys; print('x'); sys.exit('last words')",
            "exception": "def f():\n  raise KeyError('k')\nf()",
            "a real segfault": "import ctypes; print('x', flush=True); ctypes.string_at(0)",
            "abort": "import os; os.abort()",
            "thread at exit": "import threading, time\nthreading.Thread(target=time.sleep, "
                              "args=(0.2,)).start(); print('main is over')",
            "daemon": "import threading, time\nthreading.Thread(target=time.sleep, "
                      "args=(9,), daemon=True).start(); print('main is over')",
            "execv": "import os, sys; print(1, flush=True); "
                     "os.execv(sys.executable, [sys.executable, '-c', 'print(2); exit(3)'])",
            "fork": "import os\np = os.fork()\np and os.waitpid(p, 0)\n"
                    "print('parent' if p else 'child', flush=True)",
            "SIGINT": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
        }
        for name, text in programs.items():
            with self.subTest(name):
                self.assert_same([support.PYTHON, "-c", text])


if __name__ == "__main__":
    support.main()
