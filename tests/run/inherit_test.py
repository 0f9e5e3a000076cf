"""The command finds itself where it would be without pyrometer: what a process inherits."""
import json
import os
import signal

import support

# Prints all of it, as Python sees it.
LOOK = r"""
import json, os, resource, signal, sys
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
def targets():
    seen = {}
    for fd in sorted(map(int, os.listdir("/proc/self/fd"))):
        try:
            seen[fd] = os.readlink("/proc/self/fd/%d" % fd).partition(":")[0]
        except OSError:
            pass  # of the listing itself
    return seen
print(json.dumps({
    "signals": {k: status[k].strip() for k in ("SigBlk", "SigIgn", "SigCgt")},
    "files": targets(),
    "limits": [resource.getrlimit(i) for i in range(16)],
    "umask": os.umask(0),
    "folder": os.getcwd(),
    "nice": os.nice(0),
    "cores": sorted(os.sched_getaffinity(0)),
    "group": [os.getpgrp(), os.getsid(0)],
    "policy": os.sched_getscheduler(0),
    "no_new_privs": status["NoNewPrivs"].strip(),
    "dumpable": os.stat("/proc/self").st_uid,
    "arguments": sys.argv,
    "environment": dict(os.environ),
}))
"""
OURS = {"PYROMETER_SESSION", "PYROMETER_LIBRARY", "CUDA_INJECTION64_PATH", "PYTHONPATH"}


class Inherit(support.RunCase):
    def look(self, run, **how):
        done = run([support.PYTHON, "-c", LOOK, "a", "b c", "--", "-o"], **how)
        out = done.out if hasattr(done, "out") else done.stdout
        self.assertEqual(done.returncode, 0, getattr(done, "err", b""))
        return json.loads(out)

    def assert_alike(self, **how):
        without = self.look(self.plain, **how)
        with_it = self.look(self.record, **how)
        added = with_it.pop("environment")
        before = without.pop("environment")
        self.assertEqual(with_it, without)
        self.assertEqual({k: v for k, v in added.items() if k not in OURS}, before)
        self.assertEqual(set(added) - set(before), OURS)

    def test_everything(self):
        self.assert_alike()

    def test_of_an_odd_parent(self):
        def odd():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # nohup
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # a shell's background job
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGTERM])
            os.umask(0o027)
            os.nice(3)
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
            os.setpgid(0, 0)
        # The group is the process's own then, so it differs.
        without = self.look(self.plain, preexec_fn=odd, restore_signals=False)
        with_it = self.look(self.record, preexec_fn=odd, restore_signals=False)
        for seen in (without, with_it):
            seen.pop("environment")
            seen["group"].pop(0)
        self.assertEqual(with_it, without)

    def test_open_files_of_the_parent(self):
        read, write = os.pipe()
        os.set_inheritable(write, True)
        try:
            self.assert_alike(pass_fds=[write])
        finally:
            os.close(read)
            os.close(write)

    def test_closed_standard_streams(self):
        def close():
            os.close(0)
            os.close(2)
        command = ["/bin/sh", "-c", "ls /proc/self/fd; exit 3"]
        without = self.plain(command, preexec_fn=close)
        with_it = self.record(command, preexec_fn=close)
        self.assertEqual((with_it.returncode, with_it.out), (without.returncode, without.stdout))

    def test_own_settings_stay(self):
        """PYTHONPATH is added to, variables of others stay."""
        run = self.record(["/bin/sh", "-c", "echo $PYTHONPATH; echo $SECRET_OF_MINE"],
                          env={"PYTHONPATH": "/my/path", "SECRET_OF_MINE": "x y"})
        path, mine = run.out.decode().splitlines()
        self.assertTrue(path.endswith(":/my/path"), path)
        self.assertEqual(mine, "x y")


if __name__ == "__main__":
    support.main()
