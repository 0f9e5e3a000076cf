"""What a recording does not hold, who may read it, and what is left behind."""
import os
import pathlib
import signal
import stat
import subprocess
import tempfile
import unittest

import support

SECRET = "hunter2xyzzy"
NOBODY = 65534


def mode_of(path):
    return stat.S_IMODE(os.lstat(str(path)).st_mode)


class Secrets(support.RunCase):
    """A word planted wherever a program keeps what is its own."""

    def planted(self):
        folder = self.folder / SECRET
        folder.mkdir()
        return folder, {"MY_TOKEN": SECRET, "AWS_SECRET_ACCESS_KEY": SECRET, "RANK": SECRET,
                        "OMP_PROC_BIND": SECRET + " x", SECRET: "1", "USER": SECRET}

    def look_at(self, process):
        """Every file while the run goes on, and their modes."""
        found = {}
        session = support.sessions(process.pid)[0]
        self.assertEqual(mode_of(session), 0o700)
        for path in [*session.iterdir(), *self.folder.glob("*.pyro*")]:
            try:
                self.assertEqual(mode_of(path), 0o600, path)
                found[path.name] = path.read_bytes()
            except FileNotFoundError:
                pass  # a process of the command has ended since
        return found

    def record_and_look(self, command, ready, **how):
        """The bytes of all files, during the run and after it. Ends the run by making `ready`."""
        process = self.start(command, **how)
        self.wait_until(lambda: list(process.recording.path.parent.glob("*.pyro-wal")) and
                        any(p.suffix == ".ring" for s in support.sessions(process.pid)
                            for p in s.iterdir()), what="ring")
        during = self.look_at(process)
        ready.touch()
        out, err = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(mode_of(process.recording.path), 0o600)
        self.assertEqual(support.sessions(process.pid), [])
        after = {p.name: p.read_bytes() for p in self.folder.glob("*.pyro*")}
        self.assertEqual(set(after), {process.recording.path.name})
        return process, list(during.items()) + list(after.items())

    def assert_nowhere(self, files):
        self.assertTrue(files)
        for name, data in files:
            self.assertNotIn(SECRET.encode(), data, name)
            self.assertNotIn(SECRET.encode("utf-16-le"), data, name)

    def test_of_a_gpu_program(self):
        folder, env = self.planted()
        ready = self.folder / "ready"
        script = "steps 400 8; kernel a 50 0; sync; sleep 1; end; wait_for %s; print %s" % (
            ready, SECRET)
        for mask in (0, 0o077):
            with self.subTest(umask=mask):
                process, files = self.record_and_look(
                    [support.GPU_PROGRAM, script], ready, env=env, cwd=str(folder),
                    preexec_fn=lambda: os.umask(mask))
                self.assert_nowhere(files)
                process.recording.path.unlink()
                ready.unlink()

    def test_arguments_only_where_asked(self):
        run = self.record(["/bin/sh", "-c", "exit 0", SECRET], options=["--record-args"])
        self.assertEqual(run.recording.meta["command"], "/bin/sh -c exit 0 " + SECRET)
        run = self.record(["/bin/sh", "-c", "exit 0", SECRET])
        self.assertNotIn("command", run.recording.meta)

    @unittest.skipIf(support.SANITIZED, "a sanitized library cannot be loaded into Python")
    def test_of_a_training(self):
        if subprocess.run([support.PYTHON, "-c", "import torch"], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("no torch in " + support.PYTHON)
        folder, env = self.planted()
        ready = self.folder / "ready"
        (folder / "train.py").write_text("""
import os, sys, time, torch
password = sys.argv[1]
class Data(torch.utils.data.Dataset):
    def __len__(self): return 64
    def __getitem__(self, i): return torch.randn(8)
model = torch.nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(Data(), batch_size=8):
    optimizer.zero_grad(); model(x).sum().backward(); optimizer.step()
torch.save({password: model.state_dict()}, password + ".pt")
try:
    torch.load(password + ".not-there")
except OSError:
    pass
end = time.monotonic() + 60
while not os.path.exists(sys.argv[2]) and time.monotonic() < end:
    sum(range(1000)); time.sleep(0.01)
""")
        process, files = self.record_and_look(
            [support.PYTHON, str(folder / "train.py"), SECRET, str(ready)], ready, env=env,
            cwd=str(folder))
        self.assertEqual(process.recording.steps(), 8)
        self.assert_nowhere(files)


class LeftBehind(support.RunCase):
    """Session folders in shared memory: ours that are dead go, all others stay."""

    def make(self, name):
        path = support.SHARED_MEMORY / name
        path.mkdir(mode=0o700)
        self.addCleanup(subprocess.run, ["rm", "-rf", str(path)])
        (path / "1-1.ring").write_bytes(b"x")
        return path

    def dead_pid(self):
        process = subprocess.Popen(["/bin/true"])
        process.wait()
        return process.pid

    def test_of_dead_runs(self):
        user, pid = os.geteuid(), self.dead_pid()
        stale = self.make("pyrometer-%d-%d-12345" % (user, pid))
        reused = self.make("pyrometer-%d-%d-1" % (user, os.getpid()))  # our pid, another process
        others = [self.make(name % {"user": user, "pid": pid}) for name in (
            "pyrometer-%(user)d-%(pid)d", "pyrometer-%(user)d-%(pid)d-12x", "pyrometer-%(user)d-0-1",
            "pyrometer-test-%(pid)d", "pyrometer-%(user)dx-%(pid)d-1", "other-%(pid)d-1")]
        self.assertEqual(self.record(["/bin/true"]).returncode, 0)
        self.assertFalse(stale.exists())
        self.assertFalse(reused.exists())
        self.assertEqual([p for p in others if not p.exists()], [])

    def test_links_are_not_followed(self):
        target = pathlib.Path(tempfile.mkdtemp(dir=str(self.folder)))
        (target / "kept").write_text("kept")
        user = os.geteuid()
        link = support.SHARED_MEMORY / ("pyrometer-%d-%d-99" % (user, self.dead_pid()))
        link.symlink_to(target)
        self.addCleanup(link.unlink)
        inside = self.make("pyrometer-%d-%d-98" % (user, self.dead_pid()))
        (inside / "link").symlink_to(target)
        self.assertEqual(self.record(["/bin/true"]).returncode, 0)
        self.assertTrue((target / "kept").exists())
        self.assertTrue(link.is_symlink())
        self.assertFalse(inside.exists())

    @unittest.skipIf(os.geteuid() != 0, "needs root, to make folders of other users")
    def test_of_other_users(self):
        pid = self.dead_pid()
        theirs = [self.make("pyrometer-%d-%d-1" % (NOBODY, pid)),
                  self.make("pyrometer-%d-%d-2" % (os.geteuid(), pid))]
        for path in theirs:
            os.chown(str(path), NOBODY, NOBODY)
        self.assertEqual(self.record(["/bin/true"]).returncode, 0)
        self.assertEqual([p for p in theirs if not p.exists()], [])

    def test_of_runs_that_go_on(self):
        flag = self.folder / "go"
        first = self.start([support.GPU_PROGRAM, "kernel a 10 0; sync; wait_for %s" % flag])
        self.wait_until(lambda: support.sessions(first.pid), what="session")
        self.assertEqual(self.record(["/bin/true"]).returncode, 0)
        self.assertEqual(len(support.sessions(first.pid)), 1)
        flag.touch()
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(support.sessions(first.pid), [])

    def test_of_another_container(self):
        """Shared memory without shared pids: a run that we cannot see as a process is not dead."""
        unshare = ["unshare", "--pid", "--fork", "--mount-proc"]
        if subprocess.run([*unshare, "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no right to make a pid namespace")
        flag = self.folder / "go"
        self.addCleanup(flag.touch)  # before the folder goes
        words = [support.PYROMETER, "run", "-q", "-o", str(self.new_file(".pyro")), "--",
                 support.GPU_PROGRAM, "kernel a 10 0; sync; wait_for %s" % flag]
        first = subprocess.Popen([*unshare, *words], env=self.environment(), cwd=str(self.folder))
        self.running.append(first)
        # There it is process 1.
        rings = lambda: [p for s in support.sessions(1) for p in s.glob("*.ring")]
        self.wait_until(rings, what="ring")
        # As in another container with pids of its own, where the first one's pid is unknown.
        second = subprocess.run([*unshare, support.PYROMETER, "run", "-q", "-o",
                                 str(self.new_file(".pyro")), "--", "/bin/true"],
                                env=self.environment(), cwd=str(self.folder))
        self.assertEqual(second.returncode, 0)
        self.assertEqual(self.record(["/bin/true"]).returncode, 0)
        self.assertEqual(len(rings()), 1)
        flag.touch()
        self.assertEqual(first.wait(60), 0)
        self.assertEqual(rings(), [])

    def test_after_a_signal_to_the_monitor(self):
        """The command ends by it, then the monitor, which cleans up."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(number):
                process = self.start([support.GPU_PROGRAM, "kernel a 10 0; sync; sleep 60000"])
                self.wait_until(lambda: any(support.sessions(process.pid)) and
                                list(support.sessions(process.pid)[0].glob("*.ring")), what="ring")
                os.kill(process.pid, number)
                process.communicate(timeout=60)
                self.assertEqual(process.returncode, -number)
                self.assertEqual(process.recording.meta["exit_signal"], str(int(number)))
                self.assertEqual(support.sessions(process.pid), [])


if __name__ == "__main__":
    support.main()
