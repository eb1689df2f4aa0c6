"""Tests the change of U-Boot's default environment (image/u-boot-environment)."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = Path(__file__).parents[1] / "u-boot-environment"
# As in Debian's u-boot-rpi 2025.01-3+deb13u1, shortened.
ENVIRONMENT = (
    b"bootcmd=bootflow scan\0bootdelay=2\0baudrate=115200\0preboot=pci enum; usb start;\0vendor=raspberrypi\0soc=bcm283x\0"
    b"dhcpuboot=usb start; dhcp u-boot.uimg; bootm\0boot_targets=mmc usb pxe dhcp\0kernel_addr_r=0x00080000\0\0"
)
BEFORE, AFTER = b"cyclic list - list cyclic functions\n\0", b"\x000123456789ABCDEFdisabled\0"


class Environment(unittest.TestCase):
    def change(self, binary: bytes) -> tuple[int, bytes, str]:
        """Runs the program. Returns its exit code, the changed binary, and its messages."""
        with tempfile.TemporaryDirectory() as directory:
            source, target = Path(directory) / "u-boot.bin", Path(directory) / "changed.bin"
            source.write_bytes(binary)
            result = subprocess.run([sys.executable, PROGRAM, source, target], capture_output=True, text=True, check=False)
            return result.returncode, target.read_bytes() if target.exists() else b"", result.stderr

    def test_the_changed_u_boot_waits_for_no_key_and_repeats_a_failed_start(self):
        code, binary, message = self.change(BEFORE + ENVIRONMENT + AFTER)
        self.assertEqual(code, 0, message)
        self.assertEqual(len(binary), len(BEFORE + ENVIRONMENT + AFTER))
        self.assertTrue(binary.startswith(BEFORE + b"bootcmd=bootflow scan;sleep 60;reset\0bootdelay=-2\0baudrate=115200\0"))
        self.assertTrue(binary.endswith(b"\0\0" + AFTER))
        for variable in (b"preboot=pci enum; usb start;", b"vendor=raspberrypi", b"soc=bcm283x", b"boot_targets=mmc usb pxe dhcp", b"kernel_addr_r=0x00080000"):
            self.assertIn(b"\0" + variable + b"\0", binary)

    def test_an_unknown_environment_is_refused(self):
        for text in (ENVIRONMENT.replace(b"bootdelay=2", b"bootdelay=5"), ENVIRONMENT.replace(b"bootflow scan", b"run distro"), ENVIRONMENT + AFTER + ENVIRONMENT, b"",
                     ENVIRONMENT.replace(b"dhcpuboot", b"dhcpu-boot").replace(b"vendor", b"vendors")):
            code, binary, message = self.change(BEFORE + text + AFTER)
            self.assertEqual((code, binary), (1, b""))
            self.assertIn("cannot be changed", message)


if __name__ == "__main__":
    unittest.main()
