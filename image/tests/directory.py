"""A directory that stands for a machine, for tests of the image's first boot."""

import base64
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/setup"))

# pylint: disable=wrong-import-position
import first_boot
import system
from boot_partition import BootPartition

KEY = "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0 " + bytes(32)).decode() + " me@pc"


def run(command, **options):
    """Runs `setpriv` only, with the user nobody if the tests run as root. Refuses all other programs."""
    if command[0] != "setpriv":
        return subprocess.CompletedProcess(command, 0, stdout="")
    command = [word.replace("uid=rookery", "uid=65534").replace("gid=rookery", "gid=65534") for word in command]
    return subprocess.run(command if os.geteuid() == 0 else command[command.index("dd"):], **options)  # pylint: disable=subprocess-run-check


def host_key(content: str) -> str:
    """Returns a private key file in the form of ssh-keygen."""
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{content}\n-----END OPENSSH PRIVATE KEY-----\n"


class Directory(unittest.TestCase):
    """A test case with a directory that stands for a machine. Programs are not run."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        self.root.chmod(0o755)
        for path in ("boot/firmware", "etc/ssh", "var/lib/rookery", "home", "usr/share/zoneinfo/Europe", "usr/share/rookery", "proc/device-tree", "run/rookery-image"):
            (self.root / path).mkdir(parents=True)
        (self.root / "usr/share/zoneinfo/Europe/Berlin").write_text("TZif")
        (self.root / "usr/share/rookery/config.json").write_text('{"data": "/var/lib/rookery/data"}')
        (self.root / "proc/device-tree/serial-number").write_text("10000000A1B2C3D4\0")
        (self.root / "etc/passwd").write_text(f"root:x:0:0::/root:/bin/bash\nrookery:x:{os.geteuid()}:{os.getegid()}::/var/lib/rookery:/usr/sbin/nologin\n")
        (self.root / "etc/group").write_text(f"root:x:0:\nrookery:x:{os.getegid()}:\n")
        self.machine = system.Machine(self.root, commands=run)
        self.boot = BootPartition(self.machine)
        self.toml = self.root / "boot/firmware/rookery.toml"

    def set_up(self, text: str) -> str:
        """Runs the first boot with this rookery.toml and returns its report."""
        self.toml.write_text(text, encoding="utf-8")
        return first_boot.set_up(self.machine, self.boot)

    def text(self, path: str) -> str:
        """The text of a file of the machine."""
        return (self.root / path).read_text(encoding="utf-8")
