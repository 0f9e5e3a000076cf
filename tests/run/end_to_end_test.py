"""From a program on the simulated GPU through the recording to the report."""
import support

TRAINING = (
    "steps 150 32; copy h2d 4096 pinned 100; kernel ampere_sgemm_128x64_nn 2000 7;"
    "kernel vectorized_elementwise_kernel 500 7; memset 64 10; sync; sleep 1; end; print done; exit 3"
)


class EndToEnd(support.RunCase):
    def test_every_event_reaches_the_recording_and_the_report(self):
        told_file = self.folder / "told"
        log = self.folder / "log"
        run = self.record([support.GPU_PROGRAM, TRAINING], options=["--overhead", "0"],
                          env={"PYROMETER_TEST_TOLD": str(told_file), "PYROMETER_STUB_LOG": str(log)})
        self.assertEqual((run.returncode, run.out, run.err), (3, b"done\n", b""))
        recording = run.recording
        self.assertEqual(recording.meta["exit_code"], "3")
        self.assertEqual(recording.losses, {})

        told = support.Told(told_file)
        self.assertEqual(len(told.steps), 150)
        self.assertEqual(
            recording.rows("SELECT sum(count), sum(samples), min(start_ns), max(end_ns) FROM step "
                           "WHERE captured AND count > 0"),
            [(150, 150 * 32, told.steps[0][1], told.steps[-1][2])])

        # The times of the GPU, from the stub's own log, in each kept window.
        truth = [line.split() for line in log.read_text().splitlines()]
        total = 0
        for start, end in recording.rows("SELECT start_ns, end_ns FROM kept_window"):
            wanted = sorted((int(w[4]), int(w[5])) for w in truth
                            if w[0] != "call" and start <= int(w[4]) < end)
            kept = recording.rows("SELECT start_ns, end_ns FROM activity WHERE start_ns >= ? AND "
                                  "start_ns < ? ORDER BY start_ns", start, end)
            self.assertEqual(kept, wanted)
            total += len(kept)
        self.assertGreater(total, 200)

        report = recording.report()
        job = report["job"]
        self.assertEqual(job["gpus"], 1)
        causes = job["causes"]
        self.assertEqual(sum(c["ns"] for c in causes.values()), job["gpu_time_ns"])
        self.assertAlmostEqual(sum(c["share"] for c in causes.values()), 1, 9)
        steps = job["gpu_steps"]
        self.assertAlmostEqual(causes["compute.math"]["ns"] / steps, 2e6, delta=1e5)
        self.assertAlmostEqual(causes["compute.memory"]["ns"] / steps, 5e5, delta=1e5)
        kernels = {k["name"] for k in report["ranks"][0]["kernels"]["by_name"]}
        self.assertIn("ampere_sgemm_128x64_nn", kernels)

    def test_cuda_12(self):
        self.gpu = "gpu12"
        run = self.record([support.GPU_PROGRAM, "steps 50 8; kernel a 100 0; sync; end"],
                          options=["--overhead", "0"])
        self.assertEqual(run.returncode, 0, run.err)
        self.assertEqual(run.recording.value("SELECT sum(count) FROM step WHERE captured"), 50)
        self.assertEqual(run.recording.value("SELECT capture FROM process"), "on")

    def test_without_steps(self):
        """A CUDA program that no hook knows still gets its waterfall."""
        run = self.record([support.GPU_PROGRAM, "repeat 300; kernel a 1000 0; sync; sleep 1; end"],
                          options=["--overhead", "0"])
        self.assertEqual(run.returncode, 0, run.err)
        causes = run.recording.report()["job"]["causes"]
        self.assertAlmostEqual(sum(c["share"] for c in causes.values()), 1, 9)
        self.assertGreater(causes["compute.other"]["ns"], 0)


if __name__ == "__main__":
    support.main()
