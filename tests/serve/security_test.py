"""Who may ask: tokens, TLS, names of the loopback, addresses beyond the machine."""
import os
import shutil
import socket
import ssl
import subprocess
import unittest
import warnings

import support

TOKEN = "correct-horse-battery"


class Security(support.ServeCase):
    def make_token(self, mode=0o600):
        path = self.folder / "token"
        path.write_text(TOKEN + "\n")
        path.chmod(mode)
        return str(path)

    def make_certificate(self):
        if not shutil.which("openssl"):
            self.skipTest("openssl is not here")
        certificate, key = self.folder / "cert.pem", self.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes", "-keyout", str(key), "-out", str(certificate), "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                       check=True, capture_output=True)
        key.chmod(0o600)
        return certificate, key

    def test_token(self):
        self.serve(support.HEALTHY, "--token-file", self.make_token())
        for path in ("/metrics", "/healthz", "/api/v1/gpus", "/api/v1/stream", "/", "/nothing"):
            reply = self.get(path)
            self.assertEqual(reply.status, 401, path)
            self.assertIn("bearer", reply.headers["www-authenticate"])
            self.assertNotIn("GPU-", reply.text)
        for wrong in ("Bearer wrong-wrong-wrong-wro", "Bearer " + TOKEN + "x", "Basic " + TOKEN, TOKEN):
            self.assertEqual(self.get("/metrics", Authorization=wrong).status, 401, wrong)
        self.assertEqual(self.get("/livez").status, 200)
        self.assertEqual(self.get("/metrics", Authorization="Bearer " + TOKEN).status, 200)

    def test_token_opens_other_addresses(self):
        self.serve(support.HEALTHY, "--token-file", self.make_token(), listen="0.0.0.0:0")
        self.assertEqual(self.get("/metrics", host="gpu7.example", Authorization="Bearer " + TOKEN).status, 200)
        self.assertEqual(self.get("/metrics", host="gpu7.example").status, 401)

    def test_other_addresses_are_refused(self):
        self.make_machine(support.HEALTHY)
        for listen in ("0.0.0.0:0", "[::]:0", ":0"):
            process = self.launch(listen=listen)
            _, error = process.communicate(timeout=30)
            if "Address family not supported" in error:
                continue
            self.assertEqual(process.returncode, 2, error)
            self.assertIn("can be reached from other machines", error)
        self.launch("--insecure", listen="0.0.0.0:0")
        self.assertIn("serving on http://0.0.0.0:", self.process.stderr.readline())

    def test_names_of_the_loopback(self):
        """A page on the web whose name points to 127.0.0.1 gets nothing."""
        self.serve(support.HEALTHY)
        for host in ("localhost", "localhost:9400", "127.0.0.1", "[::1]:9400"):
            self.assertEqual(self.get("/metrics", host=host).status, 200, host)
        for host in ("evil.example", "127.0.0.1.evil.example", "192.168.0.1:9400"):
            self.assertEqual(self.get("/metrics", host=host).status, 421, host)

    def test_tls(self):
        certificate, key = self.make_certificate()
        self.serve(support.HEALTHY, "--tls-cert", str(certificate), "--tls-key", str(key), listen="0.0.0.0:0")
        context = ssl.create_default_context(cafile=str(certificate))
        silent = self.connect()  # says nothing: holds up nobody
        plain = self.exchange(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertNotIn(b"200 OK", plain)
        self.exchange(os.urandom(3000))
        with socket.create_connection(("127.0.0.1", self.port), 20) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as connection:
                self.assertIn(connection.version(), ("TLSv1.2", "TLSv1.3"))
                for _ in range(3):
                    connection.sendall(b"GET /api/v1/gpus HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    head = b""
                    while b"\r\n\r\n" not in head:
                        head += connection.recv(65536)
                    self.assertIn(b"200 OK", head)
                    head, _, body = head.partition(b"\r\n\r\n")
                    length = int([h.split(b":")[1] for h in head.split(b"\r\n") if b"Length" in h][0])
                    while len(body) < length:
                        body += connection.recv(65536)
                    self.assertIn(b"GPU-00001", body)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                old.minimum_version = ssl.TLSVersion.TLSv1
                old.maximum_version = ssl.TLSVersion.TLSv1_1
            with socket.create_connection(("127.0.0.1", self.port), 20) as raw:
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    old.wrap_socket(raw)
        except ValueError:
            pass  # this Python has no such versions
        silent.close()
        self.assertEqual(self.end(), 0)

    def test_tls_stream(self):
        certificate, key = self.make_certificate()
        self.serve(support.HEALTHY, "--tls-cert", str(certificate), "--tls-key", str(key))
        context = ssl.create_default_context(cafile=str(certificate))
        with socket.create_connection(("127.0.0.1", self.port), 20) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as connection:
                connection.sendall(b"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
                seen = b""
                while seen.count(b"pyrometer.stat/1") < 3:
                    seen += connection.recv(65536)

    def test_wrong_files(self):
        certificate, key = self.make_certificate()
        other = self.folder / "other.pem"
        subprocess.run(["openssl", "ecparam", "-genkey", "-name", "prime256v1", "-out", str(other)], check=True,
                       capture_output=True)
        other.chmod(0o600)
        readable = self.folder / "readable.pem"
        shutil.copy(key, readable)
        readable.chmod(0o644)
        cases = {(certificate, other): "no key of this certificate", (key, key): "no certificate",
                 (certificate, certificate.with_name("none")): "No such file",
                 (certificate, readable): "everybody may read the key"}
        for (cert, secret), text in cases.items():
            process = self.launch("--tls-cert", str(cert), "--tls-key", str(secret), root=False)
            _, error = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 1, error)
            self.assertIn(text, error)


if __name__ == "__main__":
    unittest.main()
