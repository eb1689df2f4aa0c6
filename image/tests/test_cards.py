"""Tests what the owner is told about cards and drives: python3 -m unittest image/tests/test_cards.py"""

import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/setup"))

# pylint: disable=wrong-import-position
import cards
import directory
import greeting


class Cards(directory.Directory):
    def setUp(self):
        super().setUp()
        self.disks, self.identities, self.avahi = [], {}, ""
        self.machine._commands = self.run_program  # pylint: disable=protected-access
        (self.root / "run/rookery-image/disk").write_text("/dev/mmcblk0\n")
        (self.root / "etc/machine-id").write_text("card-one\n")
        self.own("cluster c1\ncluster-name home\nnode n1\n")

    def own(self, text: str):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True, exist_ok=True)
        (self.root / "var/lib/rookery/data/cluster/cluster").write_text(text)

    def attach(self, path: str, label: str, text: str, tran: str | None = "usb", uuid: str = "u"):
        self.disks.append({"path": path, "type": "disk", "tran": tran, "model": "Reader", "serial": "s", "size": 1 << 30, "fstype": None, "label": None, "uuid": None,
                           "children": [{"path": path + "4", "fstype": "ext4", "label": label, "uuid": uuid}]})
        self.identities[path + "4"] = text

    def run_program(self, command, **options):
        if command[0] == "lsblk":
            return subprocess.CompletedProcess(command, 0, json.dumps({"blockdevices": self.disks}))
        if command[0] == "sh" and "debugfs" in command[2]:
            return subprocess.CompletedProcess(command, 0, self.identities[command[-1]])
        if command[0] == "busctl":
            return subprocess.CompletedProcess(command, 0, self.avahi)
        if command[0] == "findmnt":
            return subprocess.CompletedProcess(command, 0, "in-use\n")
        return directory.run(command, **options)

    def test_a_copy_of_the_own_node_is_told(self):
        self.attach("/dev/sda", "rookery-data", "cluster c1\ncluster-name home\nnode n1\n")
        self.assertIn("/dev/sda holds a copy of this machine's node", greeting.greet(self.machine))

    def test_a_card_of_another_node_of_the_cluster_is_told(self):
        self.attach("/dev/sda", "rookery-data", "cluster c1\ncluster-name home\nnode n2\n")
        # Also in the board's own slot, while the machine started from USB.
        self.attach("/dev/mmcblk1", "rookery-data", "cluster c1\ncluster-name home\nnode n3\n", tran=None)
        text = greeting.greet(self.machine)
        self.assertIn("/dev/sda holds another node of this machine's cluster", text)
        self.assertIn("/dev/mmcblk1 holds another node of this machine's cluster", text)

    def test_a_card_of_another_cluster_is_told_without_trusting_its_name(self):
        self.attach("/dev/sda", "rookery-data", "cluster c2\ncluster-name \x1b[31m" + "x" * 500 + "\nnode n1\n")
        text = greeting.greet(self.machine)
        self.assertIn("holds a node of the cluster '[31mxx", text)
        self.assertNotIn("\x1b", text)
        self.assertNotIn("x" * 65, text)

    def test_a_card_without_a_node_and_the_drive_in_use(self):
        self.attach("/dev/sda", "rookery-data", "")
        self.attach("/dev/sdb", "rookery", "cluster c1\nnode n1\n", uuid="in-use")
        self.attach("/dev/sdc", "holiday", "cluster c1\nnode n1\n")
        text = cards.notices(self.machine)
        self.assertIn("/dev/sda is a Rookery card or drive, and no node can be read from it", text[0])
        self.assertEqual(len(text), 1, text)

    @unittest.skipUnless(shutil.which("mke2fs") and shutil.which("debugfs"), "needs e2fsprogs")
    def test_the_beginning_of_a_file_is_read_from_a_disk_that_is_not_mounted(self):
        files, disk = self.root / "files/rookery/data/cluster", self.root / "disk.img"
        files.mkdir(parents=True)
        (files / "cluster").write_text("cluster c1\n" + "x" * 1_000_000)
        subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", self.root / "files", disk, "8M"], check=True, stdout=subprocess.DEVNULL)
        self.machine._commands = subprocess.run  # pylint: disable=protected-access
        text = cards.read_unmounted(self.machine, str(disk), "/rookery/data/cluster/cluster")
        self.assertEqual((text[:11], len(text)), ("cluster c1\n", cards.IDENTITY_BYTES))
        self.assertEqual(cards.read_unmounted(self.machine, str(disk), "/rookery/none"), "")
        self.assertEqual(cards.read_unmounted(self.machine, str(self.root / "no-disk"), "/x"), "")

    def test_nothing_is_told_of_a_card_alone(self):
        cards.notice_move(self.machine, None)
        self.assertEqual(cards.notices(self.machine), [])

    def test_data_in_another_board_are_told_in_that_boot_alone(self):
        self.set_up("")
        self.set_up("")
        self.assertNotIn("Noticed", greeting.greet(self.machine))
        (self.root / "proc/device-tree/serial-number").write_text("10000000FFFFFFFF\0")
        self.set_up("")
        self.set_up("")
        text = greeting.greet(self.machine)
        self.assertIn("used in another board until now", text)
        self.assertNotIn("used with another card", text)
        (self.root / cards.NOTICED.lstrip("/")).unlink()
        self.set_up("")
        self.assertNotIn("Noticed", greeting.greet(self.machine))
        self.assertNotIn("a1b2c3d4", self.text("var/lib/rookery/host/last-used.json").lower())

    def test_a_drive_with_another_card_is_told(self):
        (self.root / "var/lib/rookery/host").mkdir()
        cards.notice_move(self.machine, "Fast NVMe (serial 7)")
        (self.root / "etc/machine-id").write_text("card-two\n")
        cards.notice_move(self.machine, "Fast NVMe (serial 7)")
        self.assertIn("The data on Fast NVMe (serial 7) were used with another card until now", "".join(cards.notices(self.machine)))

    def test_a_file_system_that_became_read_only_is_told(self):
        mounts = self.root / "proc/mounts"
        (self.root / "sys/fs/ext4/mmcblk0p4").mkdir(parents=True)
        mounts.write_text("/dev/mmcblk0p2 / ext4 ro,noatime 0 0\n/dev/mmcblk0p4 /var/lib/rookery ext4 rw,noatime 0 0\n")
        self.assertEqual(cards.notices(self.machine), [])
        (self.root / "sys/fs/ext4/mmcblk0p4/errors_count").write_text("2\n")
        self.assertIn("has recorded errors (2)", "".join(cards.notices(self.machine)))
        mounts.write_text("/dev/mmcblk0p4 /var/lib/rookery ext4 ro,noatime,errors=remount-ro 0 0\n")
        self.assertIn("/dev/mmcblk0p4 had an error and is read-only since", greeting.greet(self.machine))

    def test_a_name_that_another_machine_has_too_is_told(self):
        (self.root / "etc/hostname").write_text("pi-7\n")
        for answer, is_told in (('s "pi-7"\n', False), ('s "pi-7-2"\n', True), ("", False), ("Call failed: Unit dbus-org.freedesktop.Avahi.service not found.", False)):
            self.avahi = answer
            self.assertEqual("is called pi-7, too, so this one answers as pi-7-2.local" in greeting.greet(self.machine), is_told, answer)

    def test_a_failure_to_look_hides_nothing_else(self):
        self.disks = None
        self.assertIn("https://", greeting.greet(self.machine))


if __name__ == "__main__":
    unittest.main()
