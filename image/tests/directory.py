"""A machine that is a directory, for tests of what the image does at its start."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/setup"))

# pylint: disable=wrong-import-position
import first_boot
import system
from boot_partition import BootPartition


class Directory(unittest.TestCase):
    """A machine that is a directory, on which no program runs."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = Path(directory.name)
        for path in ("boot/firmware", "etc/ssh", "var/lib/rookery", "home", "usr/share/zoneinfo/Europe", "usr/share/rookery", "proc/device-tree", "run/rookery-image"):
            (self.root / path).mkdir(parents=True)
        (self.root / "usr/share/zoneinfo/Europe/Berlin").write_text("TZif")
        (self.root / "usr/share/rookery/config.json").write_text('{"data": "/var/lib/rookery/data"}')
        (self.root / "proc/device-tree/serial-number").write_text("10000000A1B2C3D4\0")
        (self.root / "etc/passwd").write_text("root:x:0:0::/root:/bin/bash\n")
        self.machine = system.Machine(self.root, commands=None)
        self.boot = BootPartition(self.machine)
        self.toml = self.root / "boot/firmware/rookery.toml"

    def set_up(self, text: str) -> str:
        self.toml.write_text(text, encoding="utf-8")
        return first_boot.set_up(self.machine, self.boot)

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")
