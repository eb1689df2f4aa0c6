"""Boots the arm64 image in QEMU: with settings of an owner, with power cuts, and with updates of its slots."""

import random
import re
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"))

# pylint: disable=wrong-import-position
import state
import vm


class Boot(vm.ImageTest):
    def good_file(self) -> Path:
        """Writes a valid rookery.toml to the card, and returns the key to log in with."""
        public = self.public_key()
        self.card.put("rookery.toml", f'hostname = "pi-7"\ntimezone = "Europe/Berlin"\n[ssh]\nkeys = ["{public}"]\n'
                                      '[wifi]\ncountry = "DE"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n')
        return self.key

    def test_a_good_file_gives_a_node_that_waits_for_its_owner(self):
        key = self.good_file()
        with self.machine() as machine:
            seconds = machine.wait_for_https()
            self.tell(f"\nfirst start: {seconds:.0f} s from power-on to the first answer over HTTPS")
            machine.wait_for_login(key)
            self.assertEqual(machine.shell(key, "hostname").strip(), "pi-7")
            self.assertEqual(machine.shell(key, "systemctl --failed --no-legend --plain").strip(), "")
            self.assertIn("/data ext4", machine.shell(key, "findmnt --noheadings --raw --output TARGET,FSTYPE /data"))
            self.assertIn("ro", machine.shell(key, "findmnt --noheadings --raw --output OPTIONS /").split(",")[0])
            size = int(machine.shell(key, "df --output=size --block-size=1M /data | tail -n 1"))
            self.assertGreater(size, 1000)
            resident = int(machine.shell(key, "ps -p $(systemctl show --property=MainPID --value rookery.service) -o rss=")) / 1024
            self.tell(f"rookery resident: {resident:.1f} MiB; {machine.shell(key, 'systemd-analyze time | head -n 1').strip()}")
            machine.wait_for("claim code on the boot partition", lambda: "Claim it with the code" in machine.shell(key, "sudo cat /boot/firmware/rookery-first-boot.log"))
            machine_id = machine.shell(key, "cat /etc/machine-id")
            machine.power_off(key)
        log = self.card.get("rookery-first-boot.log")
        self.assertIn("https://pi-7.local", log)
        self.assertNotIn("Problems:", log)
        self.assertNotIn("correct horse", self.card.get("rookery.toml"))
        with self.machine() as machine:
            self.tell(f"second start: {machine.wait_for_https():.0f} s")
            self.assertEqual(machine.shell(key, "cat /etc/machine-id"), machine_id)
            self.assertEqual(machine.shell(key, "systemctl --failed --no-legend --plain").strip(), "")

    def test_an_invalid_file_is_reported_on_the_boot_partition_and_no_node_is_created_until_it_is_corrected(self):
        self.card.put("rookery.toml", "hostname = pi-7\n")
        with self.machine() as machine:
            machine.wait_for("the log", lambda: re.search(r"(?s)No node is created.*is not valid TOML", self.card.get("rookery-first-boot.log") or ""))
        self.good_file()
        with self.machine() as machine:
            machine.wait_for_https()
            machine.wait_for("the log", lambda: "https://pi-7.local" in (self.card.get("rookery-first-boot.log") or ""))

    def test_power_cuts_while_the_data_partition_grows_lose_nothing(self):
        self.good_file()
        self.card.put("boot.env", "extra=console=ttyAMA0 loglevel=7\n")
        chance = random.Random(seed := random.randrange(1 << 30))
        self.tell(f"\nseed {seed}")
        flashed_card, self.card = self.card, vm.Card(self.directory / "other", vm.IMAGE)
        self.card.put("boot.env", "extra=console=ttyAMA0 loglevel=7\n")
        with self.machine() as machine:
            machine.wait_for("the root", lambda: "EXT4-fs (vda2): mounted" in machine.serial())
            started_at = time.monotonic()
            machine.wait_for("the data partition", lambda: "EXT4-fs (vda4): mounted" in machine.serial())
            seconds = time.monotonic() - started_at
        self.card, progress = flashed_card, []
        for _ in range(8):
            with self.machine(chance=chance) as machine:
                machine.wait_for("the root", lambda: "EXT4-fs (vda2): mounted" in machine.serial())
                time.sleep(chance.uniform(0, seconds))
                machine.pull_the_plug()
            progress.append(f"{self.card.progress()} ({machine.loss})")
        self.tell(f"growing took {seconds:.0f} s; after each cut: {'; '.join(progress)}")
        with self.machine() as machine:
            machine.wait_for_https()
            machine.wait_for_login(self.key)
            self.assertGreater(int(machine.shell(self.key, "df --output=size --block-size=1M /data | tail -n 1")), 1000)
        self.assertNotIn("Problems:", self.card.get("rookery-first-boot.log") or "")

    def test_with_a_file_of_imager_and_a_clock_that_jumps_the_owner_can_log_in_and_the_node_serves(self):
        self.card.put("user-data", f'#cloud-config\nhostname: pi-8\nuser:\n  name: anna\n  ssh_authorized_keys:\n    - "{self.public_key()}"\n')
        with self.machine(clock="1970-01-02T00:00:00") as machine:
            machine.wait_for_https()
            machine.wait_for_login(self.key, user="anna")
            self.assertEqual(machine.shell(self.key, "hostname", user="anna").strip(), "pi-8")
            for moment in ("2056-05-01 12:00", "1971-01-01 12:00", "2027-05-01 12:00"):
                machine.shell(self.key, f"sudo date -s '{moment}' >/dev/null", user="anna")
                time.sleep(5)
                machine.wait_for(f"answer in {moment}", lambda: machine.get("/readyz"))
                self.assertEqual(machine.shell(self.key, "systemctl is-active rookery.service", user="anna").strip(), "active")

    def test_power_cuts_during_the_first_boot_lose_nothing(self):
        self.good_file()
        chance = random.Random(seed := random.randrange(1 << 30))
        self.tell(f"\nseed {seed}")
        for _ in range(4):
            with self.machine(chance=chance) as machine:
                machine.wait_for("the kernel", lambda: "Starting kernel" in machine.serial())
                time.sleep(chance.uniform(3, 60))
                machine.pull_the_plug()
            self.tell(machine.loss)
        with self.machine() as machine:
            machine.wait_for_https()
            # A login succeeds only with complete host keys.
            machine.wait_for_login(self.key)
            self.assertEqual(machine.shell(self.key, "systemctl --failed --no-legend --plain").strip(), "")
            machine.wait_for("the log", lambda: "https://pi-7.local" in (self.card.get("rookery-first-boot.log") or ""))
        self.assertNotIn("Problems:", self.card.get("rookery-first-boot.log"))

    def test_an_update_that_does_not_start_is_rolled_back_and_one_that_serves_is_committed(self):
        key = self.good_file()
        with self.machine() as machine:
            machine.wait_for_https()
            machine.copy(key, vm.BUNDLE)
            self.assertIn("is in slot b and is tried", machine.shell(key, f"sudo rookery-slot install {vm.BUNDLE.name}", seconds=1800))
            # An update without /sbin/init: the kernel panics, and restarts after ten seconds.
            machine.shell(key, "sudo mount -o rw /dev/vda3 /mnt && sudo mv /mnt/usr/sbin/init /mnt/usr/sbin/init.away && sudo mv /mnt/usr/lib/systemd/systemd /mnt/usr/lib/systemd/systemd.away "
                               "&& sudo mv /mnt/usr/bin/sh /mnt/usr/bin/sh.away; sudo umount /mnt")
            machine.shell(key, "sudo systemd-run --on-active=1 systemctl reboot")
            machine.wait_for("three tries of slot b, then slot a", lambda: re.search(r"(?s)(on trial, [0-2] tries left.*){3}starting slot a", machine.serial()), 1800)
            machine.wait_for_https()
            machine.wait_for("the trial to end", lambda: state.read(str(self.card.path)) == state.SlotState("a"))
            machine.shell(key, f"sudo rookery-slot install {vm.BUNDLE.name}", seconds=1800)
            machine.shell(key, "sudo systemd-run --on-active=1 systemctl reboot")
            machine.wait_for("slot b to be committed", lambda: state.read(str(self.card.path)) == state.SlotState("b"), 1800)
            self.assertIn("Slot b runs; slot b is started by default.", machine.shell(key, "sudo rookery-slot status"))

    def test_instead_of_a_slot_that_cannot_be_loaded_the_previous_one_starts(self):
        state.write(str(self.card.path), state.SlotState("a", "b", 3))
        with self.machine() as machine:
            machine.wait_for("the empty slot to be passed over", lambda: "slot b cannot be started" in machine.serial(), 60)
            machine.wait_for_https()
            self.assertIn("starting slot a", machine.serial())
            machine.wait_for("the trial to end", lambda: state.read(str(self.card.path)) == state.SlotState("a"))

    def test_after_all_tries_the_previous_slot_becomes_the_default_again(self):
        state.write(str(self.card.path), state.SlotState("a", "b", 0))
        with self.machine() as machine:
            machine.wait_for_https()
            self.assertIn("starting slot a", machine.serial())
            self.assertNotIn("slot b on trial", machine.serial())
            machine.wait_for("the trial to end", lambda: state.read(str(self.card.path)) == state.SlotState("a"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
