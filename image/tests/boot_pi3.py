"""Boots the card in QEMU's Raspberry Pi 3, which has the processor, SD controller and serial port of a real one. U-Boot
and the device tree come from the card's boot partition."""

import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import vm

DEVICE_TREE = "bcm2837-rpi-3-b-plus.dtb"
# Drivers of devices that QEMU does not emulate would stop the kernel for minutes.
EXTRA = "extra=console=ttyS1,115200 loglevel=7 module_blacklist=vc4,hci_uart,bcm2835_vchiq,snd_bcm2835\n"


class Pi3(vm.Machine):
    """QEMU replaces the firmware: it loads U-Boot and the device tree. Debian's kernel does not find the emulated
    network adapter on USB, so the test uses the serial console only."""

    def __init__(self, card: vm.Card, directory: Path):
        super().__init__(card, vm.U_BOOT)
        for name in ("u-boot.bin", DEVICE_TREE):
            subprocess.run(["mcopy", "-n", "-i", f"{card.path}@@{vm.BOOT_OFFSET}", f"::{name}", directory / name], check=True)
        self.directory = directory

    def __enter__(self):
        self.started_at = time.monotonic()
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", "raspi3b", "-smp", "4", "-m", "1G", "-display", "none", "-monitor", "none", "-serial", "null", "-serial", f"file:{self.log}",
            "-kernel", self.directory / "u-boot.bin", "-dtb", self.directory / DEVICE_TREE, "-drive", f"file={self.card.path},format=raw,if=sd",
        ], stdin=subprocess.DEVNULL)
        return self


class OnAPi3(vm.ImageTest):
    def test_the_card_boots_and_creates_its_data_partition(self):
        self.card.put("boot.env", EXTRA)
        with Pi3(self.card, self.directory) as machine:
            for stage, text in (("start of slot a by the card's U-Boot", "Rookery: starting slot a"), ("card found by the kernel", "mmcblk0: p1 p2 p3 p4"),
                               ("root", "EXT4-fs (mmcblk0p2): mounted"), ("data partition", "EXT4-fs (mmcblk0p4): mounted")):
                machine.wait_for(stage, lambda text=text: text in machine.serial(), 1200)
                self.tell(f"\n{stage} after {time.monotonic() - machine.started_at:.0f} s")


if __name__ == "__main__":
    unittest.main(verbosity=2)
