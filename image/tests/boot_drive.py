"""Boots a node on a USB drive in QEMU: also with a new card and the old drive, and without the drive."""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import vm


class OnADrive(vm.ImageTest):
    def give_consent(self) -> None:
        """Writes a rookery.toml that allows any drive."""
        self.card.put("rookery.toml", f'hostname = "pi-7"\n[ssh]\nkeys = ["{self.public_key()}"]\n[storage]\ndrive = "any"\n')

    def node_id(self, machine: vm.Machine) -> str:
        """Waits for the node, and returns its id and the machine's SSH host key, which a node on a drive keeps."""
        machine.wait_for_https()
        machine.wait_for_login(self.key)
        self.assertEqual(machine.shell(self.key, "findmnt --noheadings --output LABEL --mountpoint /var/lib/rookery").strip(), "rookery")
        return re.search(r"node (\S+)", machine.shell(self.key, "sudo cat /var/lib/rookery/data/format"))[1] + machine.shell(self.key, "cat /etc/ssh/ssh_host_ed25519_key.pub")

    def test_a_new_card_with_the_old_drive_is_the_same_node_and_without_its_drive_it_waits(self):
        drive = vm.Drive(self.directory, "R00KERY1")
        self.give_consent()
        with self.machine(drives=(drive,)) as machine:
            node = self.node_id(machine)
            machine.power_off(self.key)
        self.card = vm.Card(self.directory, vm.IMAGE)
        self.give_consent()
        with self.machine(drives=(drive,)) as machine:
            self.assertEqual(self.node_id(machine), node)
            machine.power_off(self.key)
        with self.machine(has_usb=True) as machine:
            machine.wait_for("the drive to be named", lambda: re.search(r"R00KERY1.*is not attached", self.card.get("rookery-first-boot.log") or ""))
            machine.wait_for_login(self.key)
            self.assertIn("inactive", machine.shell(self.key, "systemctl is-active rookery.service; true"))
            self.assertIn("no", machine.shell(self.key, "sudo test -e /var/lib/rookery/data || sudo test -e /data/rookery/data || echo no"))
            self.assertIsNone(machine.get("/readyz"))
            machine.attach(drive)
            self.assertEqual(self.node_id(machine), node)
            machine.wait_for("the log to be right again", lambda: "not attached" not in (self.card.get("rookery-first-boot.log") or "not attached"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
