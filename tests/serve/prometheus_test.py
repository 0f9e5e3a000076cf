"""A real Prometheus scrapes it, and what deploy/ holds fits what it exports."""
import json
import pathlib
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

import support

DEPLOY = support.SOURCE / "deploy"
# Series that Prometheus makes itself.
PROMETHEUS_OWN = {"up"}
NAME = re.compile(r"\b((?:pyrometer|process|DCGM)_\w+|up)\b(?!\s*\()")


def expressions():
    """Every PromQL expression of deploy/: (where, expression)."""
    found = []
    rules = (DEPLOY / "prometheus" / "pyrometer.rules.yml").read_text()
    found += [("rule", match) for match in re.findall(r"^ +expr: (.*)$", rules, re.M)]
    dashboard = json.loads((DEPLOY / "grafana" / "pyrometer.json").read_text())
    for panel in dashboard["panels"]:
        found += [(panel["title"], target["expr"]) for target in panel.get("targets", [])]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            found.append((variable["name"], variable["definition"]))
    return found


class Deploy(support.RecordingCase):
    def busy_machine(self, *options):
        """Every kind of series: GPUs, processes, a lost one, Xid, a recording."""
        self.record("runs/train.pyro")
        self.serve(support.MIXED + "at 1 gpu0 xid 13\n", "--recordings", str(self.folder / "runs"), "--price", "2.50",
                   "--analysis-period", "1", *options)
        return self.wait_for(lambda p: p.find("pyrometer_recording_cost_usd_per_hour") and
                             p.find("pyrometer_recording_finding_ratio") and p.find("pyrometer_gpu_xid_events_total") and
                             p.find("pyrometer_recording_samples_per_second") and
                             p.find("pyrometer_gpu_sm_active_ratio") and
                             p.find("pyrometer_last_scrape_duration_seconds"), 60)

    def test_every_metric_named_in_deploy_exists(self):
        names = self.busy_machine().names() | PROMETHEUS_OWN
        wrong, used = [], set()
        for where, expression in expressions():
            in_expression = set(NAME.findall(re.sub(r'"[^"]*"', '""', expression)))
            self.assertTrue(in_expression, expression)
            used |= in_expression
            wrong += ["%s: %s" % (where, name) for name in in_expression - names]
        self.assertEqual(wrong, [])
        self.assertGreater(len(used), 40)

    def test_labels_named_in_deploy_exist(self):
        page = self.busy_machine()
        labels = {label for _, have in page for label, _ in have} | {"instance", "job"}
        for where, expression in expressions():
            for group in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
                missing = {name.strip() for name in group.split(",")} - labels - {"pod"}
                self.assertEqual(missing, set(), (where, expression))

    def test_dcgm_dashboard(self):
        """The series and labels that Grafana's dashboard 12239 asks for."""
        page = self.busy_machine()
        for name in ("DCGM_FI_DEV_GPU_TEMP", "DCGM_FI_DEV_POWER_USAGE", "DCGM_FI_DEV_SM_CLOCK", "DCGM_FI_DEV_GPU_UTIL",
                     "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", "DCGM_FI_DEV_FB_USED"):
            self.assertEqual(len(page.find(name, gpu="0")), 1, name)

    def test_rules_and_configuration(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not here")
        for words in (["rules", "pyrometer.rules.yml"], ["config", "prometheus.yml"]):
            checked = subprocess.run(["promtool", "check", *words], cwd=DEPLOY / "prometheus", capture_output=True,
                                     text=True, check=False, timeout=60)
            self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_files_are_sound(self):
        """YAML that can be read, options that exist, a unit without unknown sections."""
        try:
            import yaml
            for path in DEPLOY.glob("**/*.y*ml"):
                list(yaml.safe_load_all(path.read_text()))
        except ImportError:
            pass
        known = subprocess.run([support.PYROMETER, "serve", "--help-all"], capture_output=True, text=True, check=True,
                               timeout=60).stdout
        for path in DEPLOY.glob("**/*"):
            if path.is_file():
                for option in re.findall(r"(?<=[\s\[-])--[a-z][a-z-]+(?==|\s)", path.read_text()):
                    if option in ("--from-literal",):
                        continue
                    if "pyrometer" in path.read_text() and option not in ("--now",):
                        self.assertIn(option, known, path)
        if shutil.which("systemd-analyze"):
            unit = (DEPLOY / "systemd" / "pyrometer.service").read_text().replace(
                "/opt/pyrometer/bin/pyrometer", support.PYROMETER)
            copy = self.folder / "pyrometer.service"
            copy.write_text(unit)
            checked = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)], capture_output=True,
                                     text=True, check=False, timeout=60)
            ours = [line for line in checked.stderr.splitlines() if "pyrometer.service" in line]
            self.assertEqual(ours, [])

    def test_prometheus_scrapes(self):
        if not shutil.which("prometheus"):
            self.skipTest("prometheus is not here")
        self.busy_machine()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        text = (DEPLOY / "prometheus" / "prometheus.yml").read_text()
        config = self.folder / "prometheus.yml"
        config.write_text(text.replace("localhost:9400", "localhost:%d" % self.port).replace(
            "scrape_interval: 15s", "scrape_interval: 1s\n  evaluation_interval: 1s"))
        shutil.copy(DEPLOY / "prometheus" / "pyrometer.rules.yml", self.folder)
        log = open(self.folder / "prometheus.log", "w")
        self.addCleanup(log.close)
        prometheus = subprocess.Popen(
            ["prometheus", "--config.file=" + str(config), "--storage.tsdb.path=" + str(self.folder / "tsdb"),
             "--web.listen-address=127.0.0.1:%d" % port], stdout=log, stderr=log, cwd=self.folder)
        self.addCleanup(prometheus.wait)
        self.addCleanup(prometheus.kill)

        def query(expression):
            url = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": expression}))
            try:
                with urllib.request.urlopen(url, timeout=10) as reply:
                    return json.load(reply)["data"]["result"]
            except OSError:
                return []
        found = support.until(lambda: query('up{job="pyrometer"} == 1'), 90)
        self.assertTrue(found, (self.folder / "prometheus.log").read_text()[-3000:])
        self.assertTrue(support.until(lambda: query("count_over_time(pyrometer_gpu_up[1m]) >= 3"), 30))
        self.assertEqual(float(query('pyrometer_gpu_util_ratio{gpu="0"}')[0]["value"][1]), 0.87)
        self.assertEqual(float(query('DCGM_FI_DEV_GPU_UTIL{gpu="0"}')[0]["value"][1]), 87)
        self.assertAlmostEqual(float(query("sum(pyrometer_recording_cause_ratio)")[0]["value"][1]), 1, places=5)
        # What was scraped is what stands on the page.
        scraped = float(query('scrape_samples_scraped{job="pyrometer"}')[0]["value"][1])
        self.assertAlmostEqual(scraped, len(self.metrics()), delta=30)
        # Every expression of the dashboard is understood and answered.
        self.assertTrue(query('sum(pyrometer_gpu_up{parent_uuid=""})'))
        for where, expression in expressions():
            if "label_values" in expression:
                continue
            for name, value in (("$instance", ".*"), ("$gpu", ".*"), ("$job", ".*")):
                expression = expression.replace(name, value)
            url = "http://127.0.0.1:%d/api/v1/query?%s" % (port, urllib.parse.urlencode({"query": expression}))
            with urllib.request.urlopen(url, timeout=10) as reply:
                self.assertEqual(json.load(reply)["status"], "success", where)
        lost = support.until(lambda: query('ALERTS{alertname="GpuLost"}'), 30)
        self.assertTrue(lost)
        self.assertEqual(lost[0]["metric"]["gpu"], "2")


if __name__ == "__main__":
    unittest.main()
