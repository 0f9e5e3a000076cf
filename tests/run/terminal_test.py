"""Ctrl-C, Ctrl-Z, job control and signals by hand: as without pyrometer."""
import os
import pty
import re
import select
import signal
import subprocess
import time

import support

# Says what it gets. Ends at the second Ctrl-C, as trainings do that save something at the first.
COUNTER = r"""
import os, signal, sys, time
seen = 0
def handler(number, frame):
    global seen
    seen += 1
    print("[got %d of %s]" % (seen, signal.Signals(number).name), flush=True)
    if seen == int(sys.argv[1]):
        sys.exit(5)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2,
               signal.SIGWINCH, signal.SIGQUIT, signal.SIGCONT):
    signal.signal(number, handler)
print("[ready]", flush=True)
while True:
    time.sleep(0.01)
"""


def state(pid):
    with open("/proc/%d/stat" % pid) as file:
        return file.read().rpartition(")")[2].split()[0]


class Shell:
    """An interactive bash on a terminal."""

    def __init__(self, case, environment):
        self.case = case
        self.seen = ""
        pid, self.fd = pty.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(environment, PS1="[shell] ", TERM="dumb", HISTFILE="")
            os.chdir(str(case.folder))
            os.execlp("bash", "bash", "--norc", "--noprofile", "-i")
        self.pid = pid
        case.addCleanup(self.close)
        self.expect(r"\[shell\] ")

    def close(self):
        support.kill(self.pid, signal.SIGKILL)
        os.close(self.fd)
        os.waitpid(self.pid, 0)

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=30):
        """The match; what was read up to its end is gone then."""
        deadline = time.monotonic() + seconds
        while True:
            found = re.search(pattern, self.seen)
            if found:
                self.before = self.seen[:found.start()]
                self.seen = self.seen[found.end():]
                return found
            if time.monotonic() > deadline:
                self.case.fail("no %r in %r" % (pattern, self.seen))
            if select.select([self.fd], [], [], 0.1)[0]:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")

    def code(self):
        self.send("echo code=$?\n")
        return int(self.expect(r"code=(\d+)\r")[1])


class Terminal(support.RunCase):
    def shell(self, script=COUNTER):
        (self.folder / "counter.py").write_text(script)
        return Shell(self, self.environment())

    def command(self, recorded, count):
        words = "%s counter.py %d" % (support.PYTHON, count)
        if recorded:
            words = "%s run -q -o %s -- %s" % (support.PYROMETER, self.new_file(".pyro"), words)
        return words

    def job(self):
        """(pids of the job's processes: pyrometer, and the program)"""
        monitor = support.children(self.bash.pid)[0]
        return monitor, support.children(monitor)[0]

    def test_control_c(self):
        self.bash = self.shell()
        for recorded in (False, True):
            for count in (1, 2):
                with self.subTest(recorded=recorded, count=count):
                    self.bash.send(self.command(recorded, count) + "\n")
                    self.bash.expect(r"\[ready\]")
                    for number in range(1, count + 1):
                        self.bash.send("\x03")
                        self.bash.expect(r"\[got %d of SIGINT\]" % number)
                    self.bash.expect(r"\[shell\] ")
                    self.assertNotIn("got", self.bash.before)  # once each
                    self.assertEqual(self.bash.code(), 5)

    def test_control_c_then_a_signal_by_hand(self):
        """The one reached the program by the terminal, the other has to be passed on."""
        self.bash = self.shell()
        self.bash.send(self.command(True, 3) + "\n")
        self.bash.expect(r"\[ready\]")
        monitor, _ = self.job()
        self.bash.send("\x03")
        self.bash.expect(r"\[got 1 of SIGINT\]")
        for number in (2, 3):
            time.sleep(0.3)  # two that are pending at once are one
            support.kill(monitor, signal.SIGINT)
            self.bash.expect(r"\[got %d of SIGINT\]" % number)
        self.bash.expect(r"\[shell\] ")
        self.assertEqual(self.bash.code(), 5)

    def test_control_c_unhandled(self):
        """A shell script ends with its command: it sees the signal, not a number."""
        self.bash = self.shell("print('[ready]', flush=True)\nimport time, signal\n"
                               "signal.signal(signal.SIGINT, signal.SIG_DFL)\ntime.sleep(60)")
        for recorded in (False, True):
            with self.subTest(recorded=recorded):
                (self.folder / "script").write_text(self.command(recorded, 1) + "\necho 'and on'\n")
                self.bash.send("bash script\n")
                self.bash.expect(r"\[ready\]")
                self.bash.send("\x03")
                self.bash.expect(r"\[shell\] ")
                self.assertNotIn("and on", self.bash.before)
                self.assertEqual(self.bash.code(), 130)

    def test_control_backslash(self):
        self.bash = self.shell()
        self.bash.send(self.command(True, 1) + "\n")
        self.bash.expect(r"\[ready\]")
        self.bash.send("\x1c")
        self.bash.expect(r"\[got 1 of SIGQUIT\]")
        self.bash.expect(r"\[shell\] ")
        self.assertEqual(self.bash.code(), 5)

    def test_stop_and_continue(self):
        self.bash = self.shell(COUNTER.replace("signal.SIGCONT", "").replace(", )", ")"))
        self.bash.send(self.command(True, 1) + "\n")
        self.bash.expect(r"\[ready\]")
        monitor, program = self.job()
        for resume in ("fg\n", "bg\n"):
            self.bash.send("\x1a")
            self.bash.expect(r"Stopped")
            self.wait_until(lambda: (state(monitor), state(program)) == ("T", "T"), what="stop")
            self.bash.expect(r"\[shell\] ")
            self.bash.send(resume)
            self.wait_until(lambda: "T" not in (state(monitor), state(program)), what="resumption")
            if resume == "fg\n":
                # Settled: nothing stops again.
                time.sleep(0.3)
                self.assertNotIn("T", (state(monitor), state(program)))
        self.bash.send("fg\n")
        self.bash.expect(r"counter.py")
        time.sleep(0.2)
        self.bash.send("\x03")
        self.bash.expect(r"\[got 1 of SIGINT\]")
        self.bash.expect(r"\[shell\] ")
        self.assertEqual(self.bash.code(), 5)

    def test_the_program_stops_itself(self):
        self.bash = self.shell("import os, signal\nprint('[ready]', flush=True)\n"
                               "os.kill(os.getpid(), signal.SIGSTOP)\nprint('[on]')\nos._exit(6)")
        self.bash.send(self.command(True, 1) + "\n")
        self.bash.expect(r"Stopped")
        self.bash.send("fg\n")
        self.bash.expect(r"\[on\]")
        self.bash.expect(r"\[shell\] ")
        self.assertEqual(self.bash.code(), 6)

    def test_in_the_background(self):
        """A job that reads the terminal stops, as it would."""
        self.bash = self.shell("import sys\nprint('[read %s]' % sys.stdin.readline().strip())")
        self.bash.send(self.command(True, 1) + " &\n")
        self.bash.expect(r"\[shell\] ")
        monitor = support.children(self.bash.pid)[0]
        self.wait_until(lambda: state(monitor) == "T", what="stop")
        time.sleep(0.2)
        self.bash.send("jobs\n")  # the shell knows of it
        self.bash.expect(r"Stopped.*counter.py")
        self.bash.expect(r"\[shell\] ")
        self.bash.send("fg\n")
        self.bash.expect("counter.py")
        time.sleep(0.2)
        self.bash.send("words\n")
        self.bash.expect(r"\[read words\]")
        self.bash.expect(r"\[shell\] ")
        self.assertEqual(self.bash.code(), 0)

    def test_no_terminal(self):
        """As of a batch system: no terminal, streams that are files."""
        out = self.folder / "out"
        with out.open("wb") as file:
            run = self.record([support.GPU_PROGRAM, "kernel a 10 0; sync; print done; exit 2"],
                              stdout=file, stderr=file, start_new_session=True)
        self.assertEqual((run.returncode, out.read_bytes()), (2, b"done\n"))


class Signals(support.RunCase):
    def start_counter(self, count):
        process = self.start([support.PYTHON, "-c", COUNTER, str(count)])
        self.assertEqual(process.stdout.readline(), b"[ready]\n")
        return process

    def test_to_the_monitor(self):
        """Batch systems know the monitor's pid alone: the program gets the signal."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1,
                       signal.SIGUSR2, signal.SIGQUIT):
            with self.subTest(number):
                process = self.start_counter(1)
                process.send_signal(number)
                out, err = process.communicate(timeout=60)
                self.assertEqual((process.returncode, out, err),
                                 (5, b"[got 1 of %s]\n" % number.name.encode(), b""))

    def test_to_the_whole_group(self):
        """As batch systems and `kill -- -GROUP` do it: once for the program, not twice."""
        process = self.start([support.PYTHON, "-c", COUNTER, "7"], start_new_session=True)
        self.assertEqual(process.stdout.readline(), b"[ready]\n")
        numbers = [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP]
        for count, number in enumerate(numbers, 1):
            os.killpg(process.pid, number)
            self.assertEqual(process.stdout.readline(),
                             b"[got %d of %s]\n" % (count, number.name.encode()))
            time.sleep(0.15)  # time for a second one, and for the next witness
        for count, number in enumerate((signal.SIGUSR1, signal.SIGTERM), len(numbers) + 1):
            os.kill(process.pid, number)
            self.assertEqual(process.stdout.readline(),
                             b"[got %d of %s]\n" % (count, number.name.encode()))
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (5, b"", b""))

    def test_stopped_and_continued_by_pid(self):
        """Somebody pauses the program and lets it go on: the monitor follows."""
        process = self.start([support.GPU_PROGRAM, "steps 400 8; kernel a 50 0; sync; sleep 1; end;"
                              "print done; exit 3"])
        program = None

        def found():
            nonlocal program
            program = (support.children(process.pid) or [None])[0]
            return program
        self.wait_until(found, what="program")
        for _ in range(3):
            time.sleep(0.05)
            support.kill(program, signal.SIGSTOP)
            self.wait_until(lambda: state(process.pid) == "T", what="stop")
            support.kill(program, signal.SIGCONT)
            self.wait_until(lambda: state(process.pid) != "T", what="resumption")
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, err), (3, b"done\n", b""))
        self.assertEqual(process.recording.steps(), 400)

    def test_killed_while_stopped(self):
        process = self.start_counter(1)
        program = support.children(process.pid)[0]
        support.kill(program, signal.SIGSTOP)
        self.wait_until(lambda: state(process.pid) == "T", what="stop")
        support.kill(program, signal.SIGKILL)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGKILL)


if __name__ == "__main__":
    support.main()
