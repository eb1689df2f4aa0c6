"""Tests that an update refuses to lock out its caller: python3 -m unittest image/tests/test_caller.py"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
SLOT = Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"
sys.path.insert(0, str(SLOT))

# pylint: disable=wrong-import-position
import caller
import etc
from state import Refusal

INSTALL, SUDO, SHELL, SSHD = 40, 30, 20, 10
# What `ip -json route show table main` prints on a machine in 192.168.1.0/24 and 2001:db8:1::/64.
ROUTES = {
    "-4": [
        {"dst": "default", "gateway": "192.168.1.1", "dev": "eth0"},
        {"dst": "192.168.1.0/24", "dev": "eth0", "scope": "link"},
        {"dst": "198.51.100.0/24", "gateway": "192.168.1.2", "dev": "eth0"},
        {"type": "unreachable", "dst": "203.0.112.0/24"},
    ],
    "-6": [
        {"dst": "2001:db8:1::/64", "dev": "eth0"},
        {"dst": "2001:db8:2::/64", "nexthops": [{"gateway": "fe80::1", "dev": "eth0"}]},
        {"dst": "default", "dev": "ppp0"},
    ],
}


class Caller(unittest.TestCase):
    """A call of `sudo rookery-slot install` in an SSH session. sudo has removed SSH_CONNECTION."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.rules, self.upper = self.directory / "nftables.d", self.directory / "upper"
        for owner, name, value in (
            (caller, "PROCESSES", self.directory), (caller, "OWN_RULES", self.rules), (etc, "UPPER", self.upper),
        ):
            patch = mock.patch.object(owner, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.upper.mkdir()
        for process, parent in ((INSTALL, SUDO), (SUDO, SHELL), (SHELL, SSHD), (SSHD, 1)):
            (self.directory / str(process)).mkdir()
            (self.directory / str(process) / "stat").write_text(f"{process} (a (b) c) S {parent} 1 1 0 -1\n")
            (self.directory / str(process) / "environ").write_bytes(b"PATH=/bin\0TERM=xterm\0")

    def log_in(self, source: str) -> None:
        connection = f"LANG=C\0SSH_CONNECTION={source} 50000 192.168.1.11 22\0"
        (self.directory / str(SHELL) / "environ").write_bytes(connection.encode())

    def run_program(self, command, **_):
        self.assertEqual((command[:2], command[3:]), (["ip", "-json"], ["route", "show", "table", "main"]))
        return subprocess.CompletedProcess(command, 0, json.dumps(ROUTES[command[2]]), "")

    def require_return(self, slot_text: bytes = b"as released") -> None:
        with mock.patch("subprocess.run", self.run_program), mock.patch.object(etc, "text_of", lambda *_: slot_text):
            caller.require_return("/dev/none", INSTALL)

    def test_a_caller_from_the_internet_is_refused_with_the_address_and_what_to_do(self):
        for source in ("203.0.113.7", "198.51.100.1", "203.0.112.1", "2001:db8:2::1", "::ffff:203.0.113.7"):
            self.log_in(source)
            with self.assertRaisesRegex(Refusal, f"You are logged in from {source}, .*tcp dport 22 accept.*ssh.nft"):
                self.require_return()

    def test_a_caller_with_a_private_address_or_in_an_attached_network_is_not_refused(self):
        for source in ("192.168.9.1", "10.8.0.2", "100.64.0.3", "fd00::5", "fe80::1%eth0", "2001:db8:1::7", "::1"):
            self.log_in(source)
            self.require_return()

    def test_a_caller_at_the_console_is_not_refused(self):
        self.require_return()

    def test_a_caller_from_the_internet_whose_rules_are_in_place_is_not_refused(self):
        self.log_in("203.0.113.7")
        self.rules.mkdir()
        (self.rules / "notes.txt").write_text("")
        with self.assertRaises(Refusal):
            self.require_return()
        (self.rules / "ssh.nft").write_text("add rule inet rookery input tcp dport 22 accept\n")
        self.require_return()

    def test_a_firewall_of_the_owner_stays_and_its_copy_of_the_release_does_not(self):
        self.log_in("203.0.113.7")
        (self.upper / "nftables.conf").write_text("flush ruleset\n")
        self.require_return()
        with self.assertRaises(Refusal):
            self.require_return(b"flush ruleset\n")

    def test_the_firewall_and_this_check_know_the_same_private_networks(self):
        firewall = (SLOT.parents[3] / "etc/nftables.conf").read_text()
        for network in caller.PRIVATE:
            if not network.is_loopback:
                self.assertIn(str(network), firewall)

    def test_the_environment_of_a_real_process_is_read(self):
        # The kernel shows no environment for a moment after a program has begun, so the child says that it runs.
        script = "import sys; print(flush=True); sys.stdin.read()"
        with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env={"SSH_CONNECTION": "203.0.113.7 50000 192.168.1.11 22"}) as child:
            child.stdout.readline()
            with mock.patch.object(caller, "PROCESSES", Path("/proc")):
                self.assertEqual(caller.ssh_source(child.pid), "203.0.113.7")
            child.stdin.close()


if __name__ == "__main__":
    unittest.main()
