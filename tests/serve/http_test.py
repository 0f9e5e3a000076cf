"""The server as clients see it: pages, limits, clients that misbehave, ends."""
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time
import unittest

import support

REFERENCE = support.SOURCE / "docs" / "reference"


class Http(support.ServeCase):
    def test_documents_fit_their_schemas(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not here")
        self.serve(support.MIXED + "at 1 gpu0 xid 13\n")
        self.wait_for_gpus(5)
        self.wait_for(lambda p: p.find("pyrometer_gpu_xid_events_total"))
        pages = {"/api/v1/gpus": "stat", "/api/v1/gpus/1": "stat", "/api/v1/processes": "processes",
                 "/api/v1/events": "events", "/healthz": "health", "/api/v1/recordings": "recordings"}
        for path, name in pages.items():
            schema = json.loads((REFERENCE / (name + ".schema.json")).read_text())
            jsonschema.Draft202012Validator.check_schema(schema)
            reply = self.get(path)
            self.assertEqual((reply.status, reply.headers["content-type"]), (200, "application/json"), path)
            schema.pop("$id")  # old versions of the library would look for it on the web
            jsonschema.Draft202012Validator(schema).validate(reply.json)
        self.assertEqual([d["label"] for d in self.get("/api/v1/gpus/1").json["devices"]], ["1", "1/7/0", "1/8/0"])
        self.assertEqual(len(self.get("/api/v1/gpus/MIG-00002001").json["devices"]), 1)
        self.assertEqual(len(self.get("/api/v1/gpus/0000%3A01%3A00.0").json["devices"]), 1)
        self.assertEqual(self.get("/api/v1/gpus/7").status, 404)
        self.assertEqual({p["pid"] for p in self.get("/api/v1/processes").json["processes"]}, {4242, 4243})
        events = self.get("/api/v1/events").json["events"]
        self.assertIn("xid", {e["kind"] for e in events})
        later = self.get("/api/v1/events?since=%d" % events[1]["number"]).json["events"]
        self.assertEqual(later, events[2:])

    def test_methods_and_paths(self):
        self.serve(support.HEALTHY)
        self.assertEqual(self.get("/").status, 200)
        head = self.get("/", method="HEAD")
        self.assertEqual((head.status, head.raw_body), (200, b""))
        self.assertEqual(int(head.headers["content-length"]), len(self.get("/").body))
        post = self.get("/metrics", method="POST")
        self.assertEqual((post.status, post.headers["allow"]), (405, "get, head"))
        for path in ("/nothing", "/metrics/", "/api/v1/gpusx", "/..%2f..%2fetc/passwd", "/api/v1/recordings/x/report"):
            self.assertEqual(self.get(path).status, 404, path)
        self.assertNotIn("access-control-allow-origin", self.get("/metrics", Origin="http://evil.example").headers)

    def test_gzip(self):
        self.serve(support.HEALTHY)
        self.wait_for_gpus(2)
        packed = self.get("/metrics", Accept_Encoding="gzip, deflate")
        self.assertEqual(packed.headers["content-encoding"], "gzip")
        self.assertLess(len(packed.raw_body) * 4, len(packed.body))
        self.assertIn("pyrometer_gpu_up", packed.text)

    def test_keep_alive_and_pipelining(self):
        self.serve(support.HEALTHY)
        connection = self.connect()
        request = b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(request * 20 + request[:10])
        raw = b""
        while raw.count(b"ok\n") < 20:
            raw += connection.recv(65536)
        connection.sendall(request[10:-2] + b"Connection: close\r\n\r\n")
        raw += self.read_all(connection)
        self.assertEqual(raw.count(b"HTTP/1.1 200 OK\r\n"), 21)

    def test_stream_of_lines(self):
        self.serve("gpus 1\nat 2.5 gpu0 lost\n")
        connection = self.connect()
        connection.sendall(b"GET /api/v1/stream HTTP/1.0\r\n\r\n")
        lines = connection.makefile("rb")
        while lines.readline().strip():
            pass
        seen, states = [], []
        while "pyrometer.event/1" not in seen or states.count("lost") == 0 or len(seen) < 4:
            document = json.loads(lines.readline())
            seen.append(document["schema"])
            states += [d["state"] for d in document.get("devices", [])]
        self.assertIn("ok", states)
        self.assertEqual(self.metrics().one("pyrometer_http_streams"), 1)

    def test_stream_of_events(self):
        self.serve(support.HEALTHY)
        connection = self.connect()
        connection.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        raw = b""
        while raw.count(b"event: snapshot\ndata: {") < 3:
            raw += connection.recv(65536)
        head = raw.split(b"\r\n\r\n")[0].lower()
        self.assertIn(b"content-type: text/event-stream", head)
        self.assertIn(b"transfer-encoding: chunked", head)

    def test_streams_are_bounded(self):
        self.serve(support.HEALTHY)
        for i in range(17):
            connection = self.connect()
            connection.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            status = connection.recv(15).split()[1]
            self.assertEqual(status, b"200" if i < 16 else b"503")

    def test_slow_clients_hold_up_nobody(self):
        """Half a request, an answer that is not taken, a stream that is not read: all are dropped, and
        the others do not notice."""
        self.serve("gpus 16\n" + "".join("gpu%d process %d compute 100 5\n" % (i, 5000 + j)
                                         for i in range(16) for j in range(8)))
        self.wait_for_gpus(16)
        half = [self.connect() for _ in range(20)]
        for connection in half:
            connection.sendall(b"GET /metrics HT")
        deaf = []
        for _ in range(10):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", self.port))
            connection.sendall(b"GET /api/v1/gpus HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
            deaf.append(connection)
        slowest, dropped = 0.0, 0
        end = time.monotonic() + 25
        while time.monotonic() < end and dropped < 30:
            begin = time.monotonic()
            dropped = self.metrics().one("pyrometer_http_dropped_total")
            slowest = max(slowest, time.monotonic() - begin)
            time.sleep(0.1)
        self.assertGreaterEqual(dropped, 30)
        self.assertLess(slowest, 1.0)
        self.assertIn(b"408", half[0].recv(100))

    def test_connections_are_bounded(self):
        """Idle ones give way; without any, the newest is sent away."""
        self.serve(support.HEALTHY)
        idle = [self.connect() for _ in range(80)]
        for _ in range(3):
            self.assertEqual(self.get("/livez").status, 200)
        self.assertEqual(idle[0].recv(10), b"")
        busy = []
        for _ in range(70):
            connection = self.connect()
            connection.sendall(b"GET / HT")
            busy.append(connection)
            time.sleep(0.005)  # one that has not been read from yet gives way, too
        reply = support.until(lambda: (lambda r: r if r.status == 503 else None)(self.get("/livez")), 3)
        self.assertTrue(reply)
        for connection in busy:
            connection.close()
        self.assertTrue(support.until(lambda: self.get("/livez").status == 200))

    def test_garbage(self):
        """Raw bytes of all kinds; afterwards it serves as before."""
        self.serve(support.HEALTHY)
        self.wait_for_gpus(2)
        dice = random.Random(1)
        seeds = [path.read_bytes() for path in (support.SOURCE / "tests/fuzz/corpus/http").iterdir()]
        for number in range(300):
            data = bytearray(dice.choice(seeds))
            for _ in range(dice.randrange(6)):
                at = dice.randrange(len(data) + 1)
                kind = dice.randrange(4)
                if kind == 0:
                    data[at:at] = bytes(dice.randrange(256) for _ in range(dice.randrange(40)))
                elif kind == 1 and data:
                    del data[at:at + dice.randrange(20)]
                elif kind == 2 and at < len(data):
                    data[at] = dice.randrange(256)
                else:
                    data[at:at] = data[:dice.randrange(len(data) + 1)]
            if number % 50 == 0:
                data = bytearray(b"GET /" + b"a" * 40000)
            raw = self.exchange(bytes(data))
            for part in raw.split(b"HTTP/1.1 ")[1:]:
                self.assertIn(part[:3], (b"200", b"400", b"401", b"404", b"405", b"408", b"413", b"421", b"431",
                                         b"503", b"505"), data)
        self.assertEqual(self.metrics().find("pyrometer_gpu_up"), [1, 1])
        self.assertEqual(self.end(), 0)

    def test_many_scrapers_at_once(self):
        self.serve(support.HEALTHY)
        self.wait_for_gpus(2)
        failures = []

        def scrape():
            for _ in range(20):
                reply = self.get("/metrics", Accept_Encoding="gzip")
                if reply.status != 200 or "pyrometer_gpu_up" not in reply.text:
                    failures.append(reply.status)
        threads = [threading.Thread(target=scrape) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Ends(support.ServeCase):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.serve(support.HEALTHY)
            stream = self.connect()
            stream.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            stream.recv(100)
            self.assertEqual(self.end(number), 0)
            self.assertEqual(self.process.stderr.read(), "")
            self.process.stderr.close()

    def test_ends_while_the_driver_hangs(self):
        self.serve("gpus 1\nhang nvmlDeviceGetTemperature\nhang nvmlDeviceGetPowerUsage\nhang nvmlInit_v2\n"
                   "hang nvmlDeviceGetMemoryInfo_v2\n")
        time.sleep(0.5)
        self.assertEqual(self.get("/livez").status, 200)
        self.assertEqual(self.end(), 0)

    def test_tells_the_service_manager(self):
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(str(self.folder / "notify"))
        manager.settimeout(20)
        self.make_machine(support.HEALTHY)
        environment = self.environment
        self.environment = lambda: dict(environment(), NOTIFY_SOCKET=str(self.folder / "notify"))
        self.launch()
        self.assertEqual(manager.recv(100), b"READY=1")
        self.assertEqual(self.end(), 0)
        self.assertEqual(manager.recv(100), b"STOPPING=1")

    def test_unix_socket(self):
        path = self.folder / "s"
        self.serve(support.HEALTHY, listen="unix:" + str(path))
        self.assertEqual(path.stat().st_mode & 0o777, 0o660)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(path))
            connection.sendall(b"GET /livez HTTP/1.1\r\nHost: whatever.example\r\nConnection: close\r\n\r\n")
            self.assertIn(b"200 OK", self.read_all(connection))
        self.assertEqual(self.end(), 0)
        self.assertFalse(path.exists())


if __name__ == "__main__":
    unittest.main()
