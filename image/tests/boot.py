"""Starts the arm64 image in QEMU: `make image-test`. Minutes, because every processor is emulated."""

import random
import re
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"))

# pylint: disable=wrong-import-position
import state
import vm

VERSION = re.search(r"<Version>(.*)</Version>", (vm.TOP / "Directory.Build.props").read_text(encoding="utf-8"))[1]
IMAGE = vm.ARTIFACTS / f"rookery-{VERSION}-arm64.img"
BUNDLE = vm.ARTIFACTS / f"rookery-{VERSION}-arm64.update.tar"
U_BOOT = vm.ARTIFACTS / "image/arm64/u-boot-virt.bin"


class Boot(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="rookery-image-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.card = vm.Card(self.directory, IMAGE)

    def machine(self) -> vm.Machine:
        return vm.Machine(self.card, U_BOOT)

    def good_file(self) -> Path:
        key = vm.new_key(self.directory)
        public = key.with_suffix(".pub").read_text(encoding="ascii").strip()
        self.card.put("rookery.toml", f'hostname = "pi-7"\ntimezone = "Europe/Berlin"\n[ssh]\nkeys = ["{public}"]\n'
                                      '[wifi]\ncountry = "DE"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n')
        return key

    def test_a_good_file_gives_a_node_that_waits_for_its_owner(self):
        key = self.good_file()
        with self.machine() as machine:
            seconds = machine.wait_for_https()
            print(f"\nfirst start: {seconds:.0f} s from power-on to the first answer over HTTPS", flush=True)
            machine.wait_for("login over SSH", lambda: "SSH-2.0" in machine.shell(key, "echo SSH-2.0"))
            self.assertEqual(machine.shell(key, "hostname").strip(), "pi-7")
            self.assertEqual(machine.shell(key, "systemctl --failed --no-legend --plain").strip(), "")
            self.assertIn("/data ext4", machine.shell(key, "findmnt --noheadings --raw --output TARGET,FSTYPE /data"))
            self.assertIn("ro", machine.shell(key, "findmnt --noheadings --raw --output OPTIONS /").split(",")[0])
            size = int(machine.shell(key, "df --output=size --block-size=1M /data | tail -n 1"))
            self.assertGreater(size, 1000)
            resident = int(machine.shell(key, "ps -C rookery -o rss=")) / 1024
            print(f"rookery resident: {resident:.1f} MiB; {machine.shell(key, 'systemd-analyze time | head -n 1').strip()}", flush=True)
            machine.wait_for("claim code on the boot partition", lambda: "Its code" in machine.shell(key, "sudo cat /boot/firmware/rookery-first-boot.log"))
            machine_id = machine.shell(key, "cat /etc/machine-id")
            machine.power_off(key)
        log = self.card.get("rookery-first-boot.log")
        self.assertIn("https://pi-7.local", log)
        self.assertNotIn("What is wrong", log)
        self.assertNotIn("correct horse", self.card.get("rookery.toml"))
        with self.machine() as machine:
            print(f"second start: {machine.wait_for_https():.0f} s", flush=True)
            self.assertEqual(machine.shell(key, "cat /etc/machine-id"), machine_id)
            self.assertEqual(machine.shell(key, "systemctl --failed --no-legend --plain").strip(), "")

    def test_a_wrong_file_is_explained_on_the_boot_partition(self):
        self.card.put("rookery.toml", "hostname = pi-7\n")
        with self.machine() as machine:
            machine.wait_for_https()
            machine.wait_for("the log", lambda: "is no TOML" in (self.card.get("rookery-first-boot.log") or ""))
        self.assertRegex(self.card.get("rookery-first-boot.log"), r"https://rookery-[0-9a-z]{6}\.local")

    def test_power_that_fails_during_the_first_start_costs_nothing(self):
        self.good_file()
        chance = random.Random(seed := random.randrange(1 << 30))
        print(f"\nseed {seed}", flush=True)
        for _ in range(4):
            with self.machine() as machine:
                machine.wait_for("the kernel", lambda: "Starting kernel" in machine.serial())
                time.sleep(chance.uniform(3, 45))
        with self.machine() as machine:
            machine.wait_for_https()
            machine.wait_for("the log", lambda: "https://pi-7.local" in (self.card.get("rookery-first-boot.log") or ""))
        self.assertNotIn("What is wrong", self.card.get("rookery-first-boot.log"))

    def test_an_update_that_does_not_come_up_is_left_again_and_one_that_does_stays(self):
        key = self.good_file()
        with self.machine() as machine:
            machine.wait_for_https()
            machine.copy(key, BUNDLE)
            self.assertIn("is in slot b and is tried", machine.shell(key, f"sudo rookery-slot install {BUNDLE.name}", seconds=1800))
            # An update without the first program of all: the kernel panics, and restarts after ten seconds.
            machine.shell(key, "sudo mount -o rw /dev/vda3 /mnt && sudo mv /mnt/usr/sbin/init /mnt/usr/sbin/init.away && sudo mv /mnt/usr/lib/systemd/systemd /mnt/usr/lib/systemd/systemd.away "
                               "&& sudo mv /mnt/usr/bin/sh /mnt/usr/bin/sh.away; sudo umount /mnt")
            machine.shell(key, "sudo systemd-run --on-active=1 systemctl reboot")
            machine.wait_for("three tries of slot b, then slot a", lambda: re.search(r"(?s)(on trial, [0-2] tries left.*){3}starting slot a", machine.serial()), 1800)
            machine.wait_for_https()
            machine.wait_for("the trial to end", lambda: state.read(str(self.card.path)) == state.SlotState("a"))
            machine.shell(key, f"sudo rookery-slot install {BUNDLE.name}", seconds=1800)
            machine.shell(key, "sudo systemd-run --on-active=1 systemctl reboot")
            machine.wait_for("slot b to be committed", lambda: state.read(str(self.card.path)) == state.SlotState("b"), 1800)
            self.assertIn("Slot b runs; slot b is started by default.", machine.shell(key, "sudo rookery-slot status"))

    def test_a_slot_that_does_not_start_is_left_again(self):
        state.write(str(self.card.path), state.SlotState("a", "b", 3))
        with self.machine() as machine:
            machine.wait_for("the empty slot to be passed over", lambda: "slot b cannot be started" in machine.serial(), 60)
            machine.wait_for_https()
            self.assertIn("starting slot a", machine.serial())
            machine.wait_for("its tries to be counted", lambda: state.read(str(self.card.path)).tries == 2)

    def test_after_its_tries_the_slot_before_comes_back_for_good(self):
        state.write(str(self.card.path), state.SlotState("a", "b", 0))
        with self.machine() as machine:
            machine.wait_for_https()
            self.assertNotIn("on trial", machine.serial())
            machine.wait_for("the trial to end", lambda: state.read(str(self.card.path)) == state.SlotState("a"))


if __name__ == "__main__":
    missing = vm.have("qemu-system-aarch64", "mcopy", "ssh-keygen") + [str(path) for path in (IMAGE, BUNDLE, U_BOOT) if not path.exists()]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}; `make image` makes the image")
    unittest.main(verbosity=2)
