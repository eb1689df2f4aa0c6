"""The node's drive, with lsblk, mkfs and mount played by the test: python3 -m unittest image/tests/test_drive.py"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/setup"))

# pylint: disable=wrong-import-position
import drive
import system
from test_setup import Directory


class PowerCut(Exception):
    pass


class Hub:
    """What is attached, and what the programs would do with it."""

    def __init__(self, root: Path):
        self.root, self.disks, self.mounted, self.cut_in = root, [], None, None

    def attach(self, path: str, serial: str, tran: str = "usb", contents: bytes = bytes(drive.ZEROS_BYTES), **more) -> dict:
        disk = {"path": path, "type": "disk", "tran": tran, "model": "Fast NVMe", "serial": serial, "size": 500 * 10**9, "fstype": None, "label": None, "uuid": None, "mountpoint": None} | more
        (self.root / path.lstrip("/")).parent.mkdir(exist_ok=True)
        (self.root / path.lstrip("/")).write_bytes(contents)
        self.disks.append(disk)
        return disk

    def __call__(self, command, check, **_):
        name = next((part for part in command if part.startswith(("e2fsck", "blkid"))), command[0]) if command[0] == "sh" else command[0]
        if self.cut_in == name.split()[0]:
            raise PowerCut
        out = getattr(self, name.split()[0].replace(".", "_"), lambda *_: "")(*command[1:])
        return subprocess.CompletedProcess(command, 0, out, "")

    def lsblk(self, *_):
        return json.dumps({"blockdevices": [{"path": "/dev/zram0", "type": "disk", "tran": None, "size": 1}, *self.disks]})

    def blkid(self, *arguments):
        disk = next(disk for disk in self.disks if disk["path"] == arguments[-1])
        return (disk["uuid"] if "UUID" in arguments else disk["fstype"]) or ""

    def mkfs_ext4(self, *arguments):
        disk = next(disk for disk in self.disks if disk["path"] == arguments[-1])
        disk.update(fstype="ext4", label="rookery", uuid=f"uuid-of-{disk['serial']}")

    def mount(self, *arguments):
        self.mounted = arguments[-2]

    def umount(self, *_):
        self.mounted = None

    def findmnt(self, *_):
        return next((disk["uuid"] for disk in self.disks if disk["path"] == self.mounted), "")


class TheDrive(Directory):
    def setUp(self):
        super().setUp()
        (self.root / "run/rookery-image/disk").write_text("/dev/mmcblk0\n")
        self.hub = Hub(self.root)
        self.machine = system.Machine(self.root, self.hub)
        self.slept = 0

    def sleep(self, _):
        self.slept += 1

    def use(self, wanted: str | None = "any") -> str | None:
        return drive.use(self.machine, wanted, self.sleep)

    def waits(self, wanted: str | None, sentence: str) -> None:
        with self.assertRaisesRegex(drive.NoDrive, sentence):
            self.use(wanted)
        self.assertIsNone(self.hub.mounted)
        self.assertFalse(system.has_home(self.machine))

    def test_without_consent_no_drive_is_touched(self):
        self.hub.attach("/dev/sda", "A1")
        self.assertIsNone(self.use(None))
        self.assertIsNone(self.hub.mounted)
        self.assertIsNone(self.hub.disks[0]["fstype"])
        self.assertTrue(system.has_home(self.machine))

    def test_a_blank_drive_is_formatted_once_and_found_again(self):
        self.hub.attach("/dev/sda", "A1")
        self.assertEqual(self.use(), "Fast NVMe (serial A1)")
        self.assertEqual(self.hub.mounted, "/dev/sda")
        self.hub.mounted, self.hub.cut_in = None, "mkfs.ext4"
        self.hub.disks[0]["path"] = "/dev/sdb"
        self.assertEqual(self.use(), "Fast NVMe (serial A1)")
        self.assertEqual(self.hub.mounted, "/dev/sdb")
        self.assertTrue(system.has_home(self.machine))

    def test_a_new_card_goes_on_with_the_drive_of_a_node(self):
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4")
        self.hub.cut_in = "mkfs.ext4"
        self.use()
        self.assertEqual((self.hub.mounted, drive.read_mark(self.machine).uuid), ("/dev/sda", "u-1"))

    def test_without_its_drive_the_node_waits_and_names_it_whatever_the_file_says_now(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.hub.mounted = None
        self.hub.disks.clear()
        self.hub.attach("/dev/sdb", "B2")
        for wanted in ("any", None, "B2"):
            self.waits(wanted, r"Fast NVMe \(serial A1\), file system uuid-of-A1, is not attached")
        self.assertIsNone(self.hub.disks[0]["fstype"])
        self.assertEqual(self.slept, 3 * drive.PATIENCE_SECONDS)

    def test_no_drive_at_all_is_waited_for_and_not_replaced_by_the_card(self):
        self.waits("any", "no drive is attached")
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.assertTrue(system.has_home(self.machine))

    def test_what_is_on_a_drive_is_left_alone(self):
        for more in ({"fstype": "exfat"}, {"children": [{"path": "/dev/sda1", "label": None, "fstype": None, "uuid": None}]}, {"contents": bytes(4096) + b"secret"}):
            with self.subTest(**more):
                self.hub.disks.clear()
                self.hub.attach("/dev/sda", "A1", **more)
                self.waits("any", "is left alone: only a blank drive is formatted")

    def test_of_several_drives_one_is_named_by_its_serial_number(self):
        self.hub.attach("/dev/sda", "A1")
        self.hub.attach("/dev/sdb", "B2")
        self.waits("any", "several drives: .*A1.*B2")
        self.use("B2")
        self.assertEqual(self.hub.mounted, "/dev/sdb")

    def test_the_card_and_its_reader_are_no_drives(self):
        self.hub.attach("/dev/mmcblk0", "card", tran="mmc")
        self.hub.attach("/dev/sdc", "reader", size=0)
        self.waits("any", "no drive is attached")

    def test_a_power_cut_while_it_is_formatted_is_gone_over_again(self):
        disk = self.hub.attach("/dev/sda", "A1")
        self.hub.cut_in = "mkfs.ext4"
        with self.assertRaises(PowerCut):
            self.use()
        disk["fstype"], self.hub.cut_in = "half of ext4", None
        self.use()
        self.assertEqual(self.hub.mounted, "/dev/sda")

    def test_a_power_cut_after_it_was_formatted_loses_no_trace_of_it(self):
        self.hub.attach("/dev/sda", "A1")
        self.hub.cut_in = "mount"
        with self.assertRaises(PowerCut):
            self.use()
        self.hub.cut_in = "mkfs.ext4"
        self.use()
        self.hub.mounted = None
        self.hub.disks.clear()
        self.waits(None, "is not attached")

    def test_a_node_that_lives_on_the_card_stays_there(self):
        (self.root / "data/rookery/data").mkdir(parents=True)
        self.hub.attach("/dev/sda", "A1")
        with self.assertRaisesRegex(drive.NoDrive, "lives on the card already"):
            self.use()
        self.assertTrue(system.has_home(self.machine))
        self.assertIsNone(self.hub.disks[0]["fstype"])

    def test_a_nodes_drive_without_consent_is_told_and_not_used(self):
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4")
        with self.assertRaisesRegex(drive.NoDrive, "attached and not used"):
            self.use(None)
        self.assertTrue(system.has_home(self.machine))


if __name__ == "__main__":
    unittest.main()
