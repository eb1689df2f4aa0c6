"""Tests the health check of a slot that is on trial, against servers on this machine."""

import http.server
import json
import os
import socket
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"))

# pylint: disable=wrong-import-position
import health


class Answer(http.server.BaseHTTPRequestHandler):
    """The answer of a node at /readyz: the server's `status`."""

    def do_GET(self):  # pylint: disable=invalid-name
        self.send_response(self.server.status if self.path == "/readyz" else 404)
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Node(http.server.HTTPServer):
    """A server at an address of this machine, with a certificate that nobody trusts."""

    def __init__(self, directory: Path, address: str = "127.0.0.1", handler=Answer):
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        super().__init__((address, 0), handler)
        self.status = 200
        self.timeout = 5
        certificate, key = directory / "certificate", directory / "key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes", "-subj", "/CN=pi-1", "-out", certificate, "-keyout", key], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def handle_error(self, *_):  # pylint: disable=arguments-differ
        pass


class NoHttp(socketserver.BaseRequestHandler):
    """The answer of another program, which does not speak HTTP."""

    def handle(self):
        self.request.recv(4096)
        self.request.sendall(b"hello, is this the node?\r\n\r\n")


class Health(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.configuration = self.directory / "config.json"
        patch = mock.patch.object(health, "CONFIGURATION", str(self.configuration))
        patch.start()
        self.addCleanup(patch.stop)

    def node(self, *arguments) -> Node:
        node = Node(self.directory, *arguments)
        self.addCleanup(node.server_close)
        self.addCleanup(node.shutdown)
        return node

    def test_the_health_check_uses_the_configured_address(self):
        for listen, urls in {
            "https://0.0.0.0:443": ["https://127.0.0.1:443/readyz"],
            "https://[::]:8443": ["https://127.0.0.1:8443/readyz", "https://[::1]:8443/readyz"],
            "https://192.168.1.20:8443/": ["https://192.168.1.20:8443/readyz"],
            "https://[fd00::20]": ["https://[fd00::20]/readyz"],
            "http://localhost:8080": ["http://127.0.0.1:8080/readyz"],
        }.items():
            self.configuration.write_text(json.dumps({"data": "/var/lib/rookery/data", "listen": listen}))
            self.assertEqual(health.readiness_urls(), urls)
        self.configuration.write_text("{}")
        self.assertEqual(health.readiness_urls(), ["http://127.0.0.1:8080/readyz"])

    def test_a_node_at_another_port_is_healthy_when_it_is_ready(self):
        node = self.node()
        for address in ("127.0.0.1", "0.0.0.0"):
            node.status = 200
            self.configuration.write_text(json.dumps({"listen": f"https://{address}:{node.server_port}"}))
            self.assertTrue(health.is_healthy())
            node.status = 503
            self.assertFalse(health.is_healthy())

    def test_a_node_at_all_addresses_is_healthy_over_IPv4_or_IPv6_alone(self):
        for address in ("127.0.0.1", "::1"):
            node = self.node(address)
            self.configuration.write_text(json.dumps({"listen": f"https://[::]:{node.server_port}"}))
            self.assertTrue(health.is_healthy(), address)
            node.status = 503
            self.assertFalse(health.is_healthy(), address)

    def test_unexpected_answers_count_as_unhealthy_without_an_error(self):
        self.configuration.write_text(json.dumps({"listen": f"https://127.0.0.1:{self.node('127.0.0.1', NoHttp).server_port}"}))
        self.assertFalse(health.is_healthy())

    def test_an_invalid_configuration_counts_as_unhealthy_without_an_error(self):
        self.assertFalse(health.is_healthy())
        for text in ("", "[]", "{", '{"listen": 7}', '{"listen": "https://pi.example"}', '{"listen": "https://127.0.0.1:port"}', '{"listen": "file:///etc/passwd"}', "[" * 100_000, "\0"):
            self.configuration.write_text(text)
            self.assertFalse(health.is_healthy(), text[:50])

    def test_a_configuration_that_is_a_link_or_a_pipe_is_not_read(self):
        node = self.node()
        real = self.directory / "real.json"
        real.write_text(json.dumps({"listen": f"https://127.0.0.1:{node.server_port}"}))
        self.configuration.symlink_to(real)
        self.assertFalse(health.is_healthy())
        self.configuration.unlink()
        os.mkfifo(self.configuration)
        self.assertFalse(health.is_healthy())
        self.configuration.unlink()
        real.rename(self.configuration)
        self.assertTrue(health.is_healthy())


if __name__ == "__main__":
    unittest.main()
