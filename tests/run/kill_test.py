"""SIGKILL of the training and of the monitor at random instants: what is kept, what goes on.

The instants come from a fixed seed. PYROMETER_KILLS says how many of each (200).
"""
import concurrent.futures
import ctypes
import os
import random
import signal
import subprocess
import threading
import time

import support

KILLS = int(os.environ.get("PYROMETER_KILLS", "40" if support.SANITIZED else "200"))
AT_ONCE = 10  # programs that mostly sleep
SECOND = 1_000_000_000  # ns
STEP = "copy h2d 4096 pinned 10; kernel a 200 0; sync; sleep 1"


class Killed(support.RunCase):
    def setUp(self):
        super().setUp()
        # Programs whose monitor was killed become ours, so that their end can be seen.
        prctl_set_child_subreaper = 36
        ctypes.CDLL(None).prctl(prctl_set_child_subreaper, 1, 0, 0, 0)
        self.lock = threading.Lock()
        self.random = random.Random(20261201)

    def start_one(self, script):
        with self.lock:
            told = self.new_file(".told")
            run = self.start([support.GPU_PROGRAM, script], recording=self.new_file(".pyro"),
                             env={"PYROMETER_TEST_TOLD": str(told)})
        run.told = told
        run.began = time.monotonic()
        self.wait_until(lambda: support.children(run.pid) or run.poll() is not None,
                        what="child of the monitor")
        # The one that is no short-lived child of the monitor's own.
        run.child = support.children(run.pid)[0]
        return run

    def in_parallel(self, one, plan):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            return [done for done in pool.map(one, plan) if done is not None]

    def assert_opens(self, recording):
        """`analyze` reads it: it reports, or says that the run did nothing yet."""
        done = subprocess.run([support.PYROMETER, "analyze", "--json", str(recording.path)],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        if done.returncode == 1:
            self.assertRegex(done.stderr, b"no process|nothing")
        self.assertEqual(recording.value("PRAGMA integrity_check"), "ok")
        return done.returncode == 0


class Training(Killed):
    def one(self, how):
        delay, at_work = how
        run = self.start_one("steps 1000000 8; %s; end" % STEP)
        run.at_work = at_work
        if at_work:  # however long the start takes on a busy machine
            self.wait_until(run.told.exists, what="first step")
            run.began = time.monotonic()
        time.sleep(max(0, run.began + delay - time.monotonic()))
        support.kill(run.child)
        run.out, run.err = run.communicate(timeout=60)
        return run

    def test_killed_at_any_instant(self):
        plan = [(self.random.uniform(0, 0.4), i % 2 == 0) for i in range(KILLS)]
        for run in self.in_parallel(self.one, plan):
            self.assertEqual((run.returncode, run.out, run.err), (-signal.SIGKILL, b"", b""))
            recording = run.recording
            meta = recording.meta
            self.assertEqual((meta["ended"], meta["exit_signal"]), ("1", str(int(signal.SIGKILL))))
            self.assertEqual(recording.losses, {})
            told = support.Told(run.told).steps
            # A step goes to the ring before it is told: the last may be in the ring alone.
            self.assertIn(recording.steps() - len(told), (0, 1))
            if told:
                self.assertGreaterEqual(recording.last_step()[0], told[-1][0])
            opened = self.assert_opens(recording)
            if run.at_work:
                self.assertTrue(opened)
            self.assertEqual(support.sessions(run.pid), [])


class Monitor(Killed):
    def one(self, how):
        steps, delay = how
        run = self.start_one("steps %d 8; %s; end; print done; exit 7" % (steps, STEP))
        time.sleep(max(0, run.began + delay - time.monotonic()))
        if run.poll() is not None:  # too late, the machine is busy: it has ended by itself
            run.communicate()
            return None
        support.kill(run.pid)
        run.killed_ns = time.monotonic_ns()
        run.wait()
        run.stale = support.sessions(run.pid)
        # The training goes on, with the same pipes.
        run.out, run.err = run.communicate(timeout=60)
        try:
            _, status = os.waitpid(run.child, 0)
            run.end = os.waitstatus_to_exitcode(status)
        except ChildProcessError:  # it had ended, and the monitor had seen it
            run.end = None
        return run

    def check(self, run, steps):
        if run.end is not None:
            self.assertEqual(run.end, 7, run.err)
        self.assertEqual((run.out, run.err), (b"done\n", b""))
        told = support.Told(run.told).steps
        self.assertEqual(len(told), steps)
        self.assert_opens(run.recording)
        due = [index for index, _, end in told if end < run.killed_ns - SECOND]
        if due:
            self.assertGreaterEqual(run.recording.last_step()[0], due[-1])
        # No step is there twice, and none is missing in between.
        recorded = run.recording.rows("SELECT first, count, start_ns, end_ns FROM step "
                                      "WHERE count > 0 ORDER BY first")
        at = 0
        for first, count, start, end in recorded:
            self.assertEqual(first, at)
            # What came before a first step that took long went into slices of time.
            before = run.recording.rows("SELECT 1 FROM step WHERE count = 0 AND end_ns = ?", start)
            if not (at == 0 and before and start < told[0][2]):
                self.assertEqual(start, told[at][1])
            at += count
            self.assertEqual(end, told[at - 1][2])

    def clean_up(self, runs):
        """The next run removes what the dead ones left in shared memory."""
        self.assertTrue(any(run.stale for run in runs))
        self.record(["/bin/true"])
        self.assertEqual([p for run in runs for p in support.sessions(run.pid)], [])

    def test_killed_at_any_instant(self):
        steps = 250
        plan = [(steps, self.random.uniform(0, 0.5)) for _ in range(KILLS - KILLS // 5)]
        runs = self.in_parallel(self.one, plan)
        self.assertGreater(len(runs), len(plan) // 2)
        for run in runs:
            self.check(run, steps)
        self.clean_up(runs)

    def test_at_most_the_last_second_is_missing(self):
        steps = 2200
        plan = [(steps, self.random.uniform(1.2, 3)) for _ in range(KILLS // 5)]
        runs = self.in_parallel(self.one, plan)
        self.assertGreater(len(runs), len(plan) // 2)
        for run in runs:
            self.check(run, steps)
        self.clean_up(runs)


if __name__ == "__main__":
    support.main()
