"""Surroundings that are not as one would wish: full, read-only, taken by others, or odd."""
import os
import pathlib
import shutil
import subprocess
import time
import unittest

import support

TRAINING = "steps 60 8; kernel gemm 100 7; sync; sleep 1; end; print done; exit 3"
NOBODY = 65534


def can_mount():
    return subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL).returncode == 0


class Mounted(support.RunCase):
    """Commands that run where file systems of ours are mounted, seen by nobody else."""

    def setUp(self):
        super().setUp()
        if not can_mount():
            self.skipTest("no right to make a mount namespace")

    def inside(self, mounts, options=(), command=None, keep=(), env=None):
        """Runs `pyrometer run` behind shell commands `mounts`; then shell commands `keep`."""
        command = command or [support.GPU_PROGRAM, TRAINING]
        script = "\n".join(
            ["set -e", *mounts, "set +e", '"$@"', "code=$?", *keep, "exit $code"])
        words = ["unshare", "--mount", "sh", "-c", script, "sh", support.PYROMETER, "run", *options,
                 "--", *command]
        return subprocess.run(words, cwd=str(self.folder), env=self.environment(env), timeout=120,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def assert_ran(self, done):
        self.assertEqual((done.returncode, done.stdout), (3, b"done\n"), done.stderr)

    def test_little_room_in_shared_memory(self):
        """Rings go where temporary files go."""
        path = self.new_file(".pyro")
        done = self.inside(["mount -t tmpfs -o size=1m none /dev/shm"], ["-q", "-o", path])
        self.assert_ran(done)
        self.assertEqual(done.stderr, b"")
        self.assertEqual(support.Recording(path).steps(), 60)

    def test_no_shared_memory(self):
        for mount in ("mount -t tmpfs -o ro none /dev/shm",
                      "mount -t tmpfs none /dev; mknod -m 666 /dev/null c 1 3"):
            with self.subTest(mount):
                path = self.new_file(".pyro")
                done = self.inside([mount], ["-q", "-o", path])
                self.assert_ran(done)
                self.assertEqual(support.Recording(path).steps(), 60)

    def test_no_room_for_a_ring_anywhere(self):
        small = self.folder / "small"
        small.mkdir()
        mounts = ["mount -t tmpfs -o size=1m none /dev/shm",
                  "mount -t tmpfs -o size=1m none %s" % small]
        for options in ([], ["-q"]):
            with self.subTest(options):
                path = self.new_file(".pyro")
                done = self.inside(mounts, [*options, "-o", path], env={"TMPDIR": str(small)})
                self.assert_ran(done)
                recording = support.Recording(path)
                self.assertEqual(recording.steps(), 0)
                self.assertIn("1 process was not recorded: no room", " ".join(recording.notes))
                if options:
                    self.assertEqual(done.stderr, b"")
                else:
                    self.assertIn(b"1 process was not recorded: no room", done.stderr)
                    self.assertNotIn(b"neither", done.stderr)

    def test_no_place_for_a_session(self):
        path = self.new_file(".pyro")
        done = self.inside(["mount -t tmpfs -o ro none /dev/shm"], ["-o", path],
                           env={"TMPDIR": "/proc"})
        self.assert_ran(done)
        self.assertIn(b"the run is not recorded", done.stderr)
        self.assertFalse(path.exists())

    def test_read_only_folder(self):
        """The recording goes to the folder for temporary files, and says so."""
        temporary = self.folder / "temporary"
        temporary.mkdir()
        closed = self.folder / "closed"
        closed.mkdir()
        done = self.inside(["mount -t tmpfs -o ro none %s" % closed, "cd %s" % closed], [],
                           env={"TMPDIR": str(temporary)})
        self.assert_ran(done)
        written = list(temporary.glob("*.pyro"))
        self.assertEqual(len(written), 1)
        self.assertIn(str(written[0]).encode(), done.stderr)
        self.assertEqual(support.Recording(written[0]).steps(), 60)

    def test_no_folder_to_write_to(self):
        done = self.inside(["mount -t tmpfs -o ro none %s" % self.folder, "cd %s" % self.folder],
                           [], env={"TMPDIR": "/proc"})
        self.assert_ran(done)
        self.assertIn(b"the run is not recorded", done.stderr)

    def test_full_disk(self):
        """From the start, and in the middle: the run goes on, what was written is readable."""
        small = self.folder / "small"
        small.mkdir()
        saved = self.folder / "saved"
        long = "repeat 250; steps 4 8; kernel gemm 100 7; kernel add 20 7; sync; end; sleep 10; end;" \
               "print done; exit 3"
        for size in ("4k", "64k", "200k", "400k"):
            with self.subTest(size):
                saved.mkdir(exist_ok=True)
                done = self.inside(
                    ["mount -t tmpfs -o size=%s none %s" % (size, small)],
                    ["-o", small / "a.pyro"], [support.GPU_PROGRAM, long],
                    keep=["cp %s/* %s 2>/dev/null" % (small, saved)])
                self.assert_ran(done)
                self.assertIn(b"not recorded", done.stderr)
                self.assertIn(b"Free some space", done.stderr)
                path = saved / "a.pyro"
                if path.exists() and b"to its end" in done.stderr:
                    recording = support.Recording(path)
                    self.assertEqual(recording.value("PRAGMA integrity_check"), "ok")
                    self.assertIn("tool", recording.meta)
                shutil.rmtree(str(saved))


class Limits(support.RunCase):
    def test_a_ring_that_overflows(self):
        """Drops are counted, by kind, and the report says so."""
        script = "repeat 20000; kernel a 1 0; copy h2d 1 pinned 1; end; sync; print done"
        run = self.assert_same(
            [support.GPU_PROGRAM, script],
            env={"PYROMETER_RING_SLOTS": "1024", "PYROMETER_STUB_OPTIONS": "fast",
                 "PYROMETER_FLUSH_MS": "3"}, options=["--overhead", "0"])
        losses = run.recording.losses
        self.assertGreater(losses.get("kernel", 0), 0)
        self.assertGreater(losses.get("copy", 0), 0)
        self.assertRegex(run.recording.text(), r"(?i)dropped|lost")

    def test_file_size_limit(self):
        """RLIMIT_FSIZE: no SIGXFSZ for the program, none for the monitor."""
        import resource

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
        run = self.record([support.GPU_PROGRAM, TRAINING], preexec_fn=limit)
        self.assertEqual((run.returncode, run.out), (3, b"done\n"), run.err)

    @unittest.skipIf(support.SANITIZED, "a sanitizer needs room of its own")
    def test_the_monitor_runs_out_of_memory(self):
        """The training does not notice; its exit code comes through."""
        import resource
        go = self.folder / "go"
        process = self.start([support.GPU_PROGRAM, "kernel a 1 0; sync; wait_for %s; repeat 100000;"
                              "kernel a 1 0; copy h2d 1 pinned 1; end; name_range range 3000;"
                              "steps 50 8; kernel b 10 0; sync; sleep 10; end; print done; exit 9"
                              % go], env={"PYROMETER_STUB_OPTIONS": "fast"})
        self.wait_until(lambda: any(p.suffix == ".ring" for s in support.sessions(process.pid)
                                    for p in s.iterdir()), what="ring")
        time.sleep(0.3)
        # Nothing more than it has. What it has freed already it may use again.
        resource.prlimit(process.pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))
        go.touch()
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (9, b"done\n"), err)
        self.assertIn(b"the run was not recorded to its end: out of memory", err)
        self.assertEqual(support.sessions(process.pid), [])
        self.assertEqual(process.recording.value("PRAGMA integrity_check"), "ok")

    def test_few_open_files(self):
        import resource

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))
        run = self.record([support.GPU_PROGRAM, TRAINING], preexec_fn=limit)
        self.assertEqual((run.returncode, run.out), (3, b"done\n"), run.err)


class Clock(support.RunCase):
    @unittest.skipIf(support.SANITIZED, "a sanitized program takes no LD_PRELOAD")
    def test_the_wall_clock_leaps(self):
        told = self.folder / "told"
        log = self.folder / "log"
        training = TRAINING.replace("60", "150")
        run = self.record([support.GPU_PROGRAM, training], options=["--overhead", "0"],
                          env={"LD_PRELOAD": support.needed("PYROMETER_CLOCK"),
                               "PYROMETER_TEST_TOLD": str(told), "PYROMETER_STUB_LOG": str(log)})
        self.assertEqual((run.returncode, run.out, run.err), (3, b"done\n", b""))
        steps = support.Told(told).steps
        self.assertEqual(
            run.recording.rows("SELECT sum(count), min(start_ns), max(end_ns) FROM step WHERE "
                               "captured AND count > 0"), [(150, steps[0][1], steps[-1][2])])
        truth = {(int(w[4]), int(w[5])) for w in map(str.split, log.read_text().splitlines())
                 if w[0] == "kernel"}
        kept = set(run.recording.rows("SELECT start_ns, end_ns FROM activity"))
        self.assertGreater(len(kept), 20)
        self.assertLessEqual(kept, truth)
        meta = run.recording.meta
        self.assertLess(int(meta["end_ns"]) - int(meta["start_ns"]), 60e9)


class Others(support.RunCase):
    """Programs and tools that have their own ways."""

    def test_nested(self):
        run = self.assert_same([support.PYROMETER, "run", "-q", "--", support.GPU_PROGRAM, TRAINING])
        self.assertEqual(run.returncode, 3)
        self.assertEqual(run.recording.steps(), 60)
        self.assertEqual(list(self.folder.glob("gpu_program*.pyro"))[1:], [])

    def test_static_program(self):
        static = "/sbin/ldconfig"
        if b"statically linked" not in subprocess.run(["ldd", static], stdout=subprocess.PIPE,
                                                      stderr=subprocess.STDOUT).stdout:
            self.skipTest(static + " is not static here")
        run = self.assert_same([static, "--version"])
        self.assertEqual(run.recording.value("SELECT count(*) FROM process"), 0)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to make a program setuid")
    def test_setuid_program(self):
        """As nobody: what is recorded cannot follow, what runs is the same."""
        program = self.folder / "id"
        shutil.copy("/usr/bin/id", str(program))
        os.chown(str(program), 0, 0)
        program.chmod(0o4755)
        self.folder.chmod(0o777)
        copy = self.folder / "bin" / "pyrometer"  # /root may be closed to others
        copy.parent.mkdir()
        shutil.copy(support.PYROMETER, str(copy))
        library = self.folder / "lib" / "pyrometer" / "libpyrometer_inject.so"
        library.parent.mkdir(parents=True)
        shutil.copy(support.LIBRARY, str(library))

        def nobody():
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        without = self.plain([program], preexec_fn=nobody)
        with_it = self.plain([copy, "run", "-q", "-o", self.folder / "a.pyro", "--", program],
                             preexec_fn=nobody)
        self.assertIn(b"euid=0", without.stdout)
        self.assertEqual((with_it.returncode, with_it.stdout, with_it.stderr),
                         (without.returncode, without.stdout, without.stderr))

    def test_setuid_program_does_not_join(self):
        """The library takes nothing from the environment of a program with more rights."""
        source = (pathlib.Path(__file__).parents[2] / "inject")
        for file in source.glob("*.cpp"):
            for line in file.read_text().splitlines():
                self.assertNotRegex(line, r"(?<!secure_)getenv\(", file.name)

    def assert_says_why(self, run, reason):
        """The report tells why it knows nothing of the GPU, and claims nothing of it."""
        self.assertEqual(run.recording.info("capture.refused"), [reason])
        self.assertEqual(run.recording.value("SELECT capture FROM process"), "off: " + reason)
        findings = {f["id"]: f for f in run.recording.report()["findings"]}
        self.assertNotIn("device.no_gpu_work", findings)
        self.assertIn(reason, findings["trace.incomplete"]["summary"])

    def test_another_client_of_cupti(self):
        run = self.assert_same([support.GPU_PROGRAM, TRAINING],
                               env={"PYROMETER_STUB_OPTIONS": "held"})
        self.assertEqual(run.recording.steps(), 60)
        self.assertEqual(run.recording.value("SELECT count(*) FROM activity"), 0)
        self.assert_says_why(run, "another profiler holds CUPTI")

    def test_an_injection_of_somebody_else(self):
        chained = str(support.BUILD / "tests" / "gpu_chained" / "libchained.so")
        env = {"CUDA_INJECTION64_PATH": chained}
        run = self.assert_same([support.GPU_PROGRAM, TRAINING], env=env)
        self.assertEqual(run.out, b"chained\ndone\n")
        self.assertEqual(run.recording.steps(), 60)
        self.assertEqual(run.recording.value("SELECT count(*) FROM activity"), 0)
        self.assertIn("CUDA_INJECTION64_PATH was set already", " ".join(run.recording.notes))
        self.assert_says_why(run, "CUDA_INJECTION64_PATH was set already")

    def test_kineto_daemon(self):
        run = self.assert_same([support.GPU_PROGRAM, TRAINING], env={"KINETO_USE_DAEMON": "1"})
        self.assertEqual(run.recording.steps(), 60)
        self.assertEqual(run.recording.value("SELECT count(*) FROM activity"), 0)
        self.assert_says_why(run, "a Kineto daemon has this process's traces")

    def test_a_profiler_in_the_middle(self):
        """Its time is a gap, marked as such; before and after it all is recorded."""
        work = "steps 30 8; kernel %s 100 7; sync; sleep 2; end;"
        told = self.folder / "told"
        script = work % "before" + "yield;" + work % "meanwhile" + "resume;" + work % "after"
        run = self.record([support.GPU_PROGRAM, script], options=["--overhead", "0"],
                          env={"PYROMETER_TEST_TOLD": str(told)})
        self.assertEqual((run.returncode, run.err), (0, b""))
        recording = run.recording
        switches = [on for (on,) in recording.rows("SELECT is_on FROM capture ORDER BY time_ns")]
        self.assertEqual(switches, [1, 0, 1, 0])
        steps = support.Told(told).steps
        off, on = [t for (t,) in recording.rows("SELECT time_ns FROM capture ORDER BY time_ns")][1:3]
        for first, count, start, end, captured in recording.rows(
                "SELECT first, count, start_ns, end_ns, captured FROM step WHERE count > 0"):
            self.assertEqual(bool(captured), end <= off or start >= on, (first, count))
        self.assertEqual(recording.steps(), 90)
        self.assertEqual(recording.value("SELECT sum(count) FROM step WHERE captured"), 60)
        self.assertEqual(recording.value(
            "SELECT count(*) FROM activity JOIN name ON activity.name = name.id "
            "WHERE text = 'meanwhile'"), 0)
        self.assertAlmostEqual(
            sum(c["share"] for c in recording.report()["job"]["causes"].values()), 1, 9)

    def test_late_start(self):
        """The library is loaded into a CUDA program that has been at work for long."""
        work = "repeat 30; kernel %s 100 7; sync; end;"
        run = self.record([support.GPU_PROGRAM, work % "before" + "sleep 50; late;" +
                           "steps 40 8; kernel after 100 7; sync; sleep 1; end; print done; exit 3"],
                          options=["--no-gpu-timeline", "--overhead", "0"])
        self.assertEqual((run.returncode, run.out, run.err), (3, b"done\n", b""))
        recording = run.recording
        self.assertEqual(recording.value("SELECT sum(count) FROM step WHERE captured"), 40)
        self.assertEqual(recording.rows(
            "SELECT DISTINCT text FROM activity JOIN name ON activity.name = name.id"), [("after",)])
        causes = recording.report()["job"]["causes"]
        self.assertAlmostEqual(sum(c["share"] for c in causes.values()), 1, 9)


@unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
class Python(support.RunCase):
    def test_isolated(self):
        """python -I takes no hook: it runs as it is, and the user is told."""
        for option in ("-I", "-E", "-S", "-s"):
            with self.subTest(option):
                self.assert_same([support.PYTHON, option, "-c", "import sys; print(sys.flags)"])
        done = self.plain([support.PYROMETER, "run", "-o", self.folder / "a.pyro", "--",
                           support.PYTHON, "-I", "-c", "print(1)"])
        self.assertEqual((done.returncode, done.stdout), (0, b"1\n"))
        self.assertIn(b"python -I", done.stderr)

    def test_own_sitecustomize(self):
        folder = self.folder / "mine"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(
            "import sys, builtins\nprint('customized', __file__, __name__)\nbuiltins.mine = 1\n")
        (folder / "usercustomize.py").write_text("print('user customized')\n")
        run = self.assert_same(
            [support.PYTHON, "-c", "import sitecustomize; print(mine, sitecustomize.__file__)"],
            env={"PYTHONPATH": str(folder)})
        self.assertIn(b"customized", run.out)

    def test_a_sitecustomize_that_fails(self):
        folder = self.folder / "mine"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text("raise RuntimeError('mine')\n")
        without = self.plain([support.PYTHON, "-c", "print(1)"], env={"PYTHONPATH": str(folder)})
        run = self.record([support.PYTHON, "-c", "print(1)"], env={"PYTHONPATH": str(folder)})
        self.assertEqual((run.returncode, run.out), (without.returncode, without.stdout))
        self.assertEqual(run.err.splitlines()[-1:], without.stderr.splitlines()[-1:])


if __name__ == "__main__":
    support.main()
