"""Tests the node's drive, with simulated lsblk, mkfs and mount: python3 -m unittest image/tests/test_drive.py"""

import json
import os
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
from directory import Directory


class PowerCut(Exception):
    """Ends the set-up where the power fails."""


class Hub:
    """The attached drives, and simulations of the programs that use them. A drive is a file, which mkfs writes too. The
    power can fail after a number of its writes.

    `disks` are described as lsblk does. `mounted` has the device by mount point. `formatted` has the serial numbers of
    the formatted drives. `owner_commands` are the arguments of chown and chmod. `settle_calls` counts the waits for
    udev.
    The tests set these failures: `cut_in` is the program during which the power fails, `cut_after_writes` the number of
    writes of mkfs after which it fails, `cut_before_chown` the owner and file name before whose chown it fails, and
    `fails` the programs that end with an error."""

    def __init__(self, root: Path):
        self.root, self.disks, self.mounted, self.formatted, self.cut_in, self.cut_after_writes, self.fails = root, [], {}, [], None, None, set()
        self.cut_before_chown, self.owner_commands, self.settle_calls, self.is_triggered = None, [], 0, False

    def attach(self, path: str, serial: str, tran: str = "usb", contents: bytes = bytes(drive.ZEROS_BYTES), **fields) -> dict:
        disk = {"path": path, "type": "disk", "tran": tran, "model": "Fast NVMe", "serial": serial, "size": 64 << 20, "fstype": None, "label": None, "uuid": None, "mountpoint": None, "files": []} | fields
        (self.root / path.lstrip("/")).parent.mkdir(exist_ok=True)
        with open(self.root / path.lstrip("/"), "wb") as file:
            file.write(b"ext4" if disk["fstype"] else contents)
            file.truncate(disk["size"])
        self.disks.append(disk)
        return disk

    def __call__(self, command, check, **_):
        """Runs the method with the name of the program; a program without a method prints nothing and succeeds."""
        name = command[2].split()[0] if command[0] == "sh" else command[0]
        if self.cut_in == name:
            raise PowerCut
        if name in self.fails:
            raise subprocess.CalledProcessError(1, command, "", f"{name} failed")
        out = getattr(self, name.replace(".", "_"), lambda *_: "")(*command[1:])
        return subprocess.CompletedProcess(command, 0, out, "")

    def of(self, path: str) -> dict:
        """The drive with this device."""
        return next(disk for disk in self.disks if disk["path"] == path)

    def systemctl(self, *arguments):
        self.is_triggered = self.is_triggered or arguments == ("start", "systemd-udev-trigger.service")
        return ""

    def udevadm(self, *_):
        assert self.is_triggered, "there is nothing to wait for before udev was told to look"
        self.settle_calls += 1
        return ""

    def lsblk(self, *_):
        return json.dumps({"blockdevices": [{"path": "/dev/zram0", "type": "disk", "tran": None, "size": 1}, *self.disks]})

    def blkid(self, *arguments):
        if self.of(arguments[-1]).get("unreadable"):
            raise subprocess.CalledProcessError(8, "blkid", "", "")
        return self.of(arguments[-1])["fstype"] or ""

    def mkfs_ext4(self, *arguments):
        """Writes in the order of mke2fs 1.47: zeros over the first block and the end of the file system, descriptors,
        and after a sync the superblock."""
        path, kibibytes = arguments[-2:] if arguments[-1][:-1].isdigit() else (arguments[-1], f"{self.of(arguments[-1])['size'] >> 10}k")
        disk = self.of(path)
        self.formatted.append(disk["serial"])
        with open(self.root / path.lstrip("/"), "r+b") as file:
            for number, (offset, data) in enumerate(((0, bytes(4096)), ((int(kibibytes[:-1]) << 10) - 65536, bytes(65536)), (8192, b"descriptors"), (1024, b"superblock"))):
                if number == self.cut_after_writes:
                    raise PowerCut
                file.seek(offset)
                file.write(data)
        disk.update(fstype="ext4", label="rookery", uuid=arguments[arguments.index("-U") + 1])

    def mount(self, *arguments):
        path, place = arguments[-2:]
        self.mounted[place] = path
        for name in self.of(path)["files"] if place == drive.LOOK else []:
            (self.root / place.lstrip("/") / name).mkdir(exist_ok=True)

    def umount(self, *arguments):
        self.mounted.pop(arguments[-1], None)

    def id(self, kind, _):
        return {"-u": "443\n", "-g": "444\n"}[kind]

    def chmod(self, *arguments):
        self.owner_commands.append(arguments)

    def chown(self, *arguments):
        self.owner_commands.append(arguments)
        options = [argument for argument in arguments if argument.startswith("--")]
        if not options:
            return
        owner, *entries = arguments[len(options):]
        for entry in entries:
            if (owner, Path(entry).name) == self.cut_before_chown:
                raise PowerCut
            subprocess.run(["chown", *options, owner, entry], check=True)

    def findmnt(self, *_):
        return self.of(self.home)["uuid"] if self.home else ""

    @property
    def home(self) -> str | None:
        return self.mounted.get(drive.HOME)


class TheDrive(Directory):
    def setUp(self):
        super().setUp()
        (self.root / "run/rookery-image/disk").write_text("/dev/mmcblk0\n")
        self.hub = Hub(self.root)
        self.machine = system.Machine(self.root, self.hub)
        # The number of seconds slept, and a function that is called in each second.
        self.slept, self.slow = 0, lambda: None

    def sleep(self, _):
        self.slept += 1
        self.slow()

    def use(self, wanted: str | None = "any") -> str | None:
        """Mounts the drive; `wanted` is the setting storage.drive."""
        return drive.use(self.machine, wanted, self.sleep)

    def expect_waiting(self, wanted: str | None, sentence: str) -> None:
        """Verifies that no drive is used, and that the node waits for one with this sentence."""
        with self.assertRaisesRegex(drive.NoDrive, sentence):
            self.use(wanted)
        self.assertIsNone(self.hub.home)
        self.assertFalse(system.has_home(self.machine))

    def restart(self) -> None:
        """Restarts the machine, whose power has returned."""
        self.hub.mounted.clear()
        (self.root / drive.WAITS.lstrip("/")).unlink(missing_ok=True)
        self.hub.cut_in = self.hub.cut_after_writes = self.hub.cut_before_chown = None

    def test_without_the_setting_no_drive_is_changed(self):
        self.hub.attach("/dev/sda", "A1")
        self.assertIsNone(self.use(None))
        self.assertIsNone(self.hub.home)
        self.assertEqual(self.hub.formatted, [])
        self.assertTrue(system.has_home(self.machine))

    def test_a_blank_drive_is_formatted_once_and_used_at_the_next_boot(self):
        self.hub.attach("/dev/sda", "A1")
        self.assertEqual(self.use(), "Fast NVMe (serial A1)")
        self.assertEqual(self.hub.home, "/dev/sda")
        self.restart()
        self.hub.disks[0]["path"] = "/dev/sdb"
        self.assertEqual(self.use(), "Fast NVMe (serial A1)")
        self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sdb", ["A1"]))
        self.assertTrue(system.has_home(self.machine))

    def test_a_new_card_continues_with_the_drive_of_a_node(self):
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4", files=["data", "lost+found"])
        self.use()
        self.assertEqual((self.hub.home, drive.read_mark(self.machine).uuid, self.hub.formatted), ("/dev/sda", "u-1", []))

    def test_a_blank_drive_stays_blank_if_a_nodes_drive_is_attached(self):
        self.hub.attach("/dev/sda", "A1")
        self.slow = lambda: self.slept == 3 and self.hub.attach("/dev/sdb", "B2", uuid="u-1", label="rookery", fstype="ext4")
        self.use()
        self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sdb", []))

    def test_a_foreign_disk_with_the_same_name_is_left_unchanged(self):
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4", files=["photos"])
        self.expect_waiting("any", "does not belong to a node")

    def test_the_node_waits_for_its_missing_drive_and_names_it_whatever_the_file_says(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.restart()
        self.hub.disks.clear()
        # A blank disk with the same name and serial number, as any disk in the same adapter has.
        self.hub.attach("/dev/sdb", "A1")
        self.slept = 0
        for wanted in ("any", None, "A1"):
            self.expect_waiting(wanted, r"Fast NVMe \(serial A1\), file system [0-9a-f-]{36}, is not attached")
        self.assertEqual((self.hub.formatted, self.slept), (["A1"], 3 * drive.PATIENCE_SECONDS))

    def test_a_nodes_drive_is_identified_by_its_file_system_not_by_its_label(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.restart()
        self.hub.disks[0]["label"] = "documents"
        self.use()
        self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sda", ["A1"]))

    def test_a_copy_of_a_nodes_drive_is_refused(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.restart()
        copy = dict(self.hub.disks[0], path="/dev/sdb", serial="B2")
        self.hub.disks.insert(0, copy)
        self.use()
        self.assertEqual(self.hub.home, "/dev/sda")
        self.restart()
        copy["serial"] = "A1"
        self.expect_waiting("any", "all but one are copies")

    def test_an_unreadable_mark_prevents_the_node_from_starting(self):
        self.hub.attach("/dev/sda", "A1")
        mark = self.root / drive.MARK.lstrip("/")
        mark.parent.mkdir(parents=True)
        for text in ("", "{}", "[1]", '{"uuid": 7}'):
            with self.subTest(text):
                mark.write_text(text)
                self.expect_waiting(None, "cannot be read")
        mark.unlink()
        mark.mkdir()
        self.expect_waiting(None, "cannot be read")

    def test_after_any_failure_the_node_has_no_home(self):
        self.hub.attach("/dev/sda", "A1")
        for program in ("lsblk", "mkfs.ext4", "e2fsck", "mount", "chown"):
            with self.subTest(program):
                self.hub.fails = {program}
                with self.assertRaises(subprocess.CalledProcessError):
                    self.use()
                self.assertIsNone(self.hub.home)
                self.assertFalse(system.has_home(self.machine))

    def test_an_unreadable_foreign_drive_causes_no_wait(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.restart()
        self.hub.attach("/dev/sdb", "B2", unreadable=True)
        self.use()
        self.assertEqual(self.hub.home, "/dev/sda")

    def test_a_missing_drive_is_awaited_and_not_replaced_by_the_card(self):
        self.expect_waiting("any", "no drive is attached")
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.assertTrue(system.has_home(self.machine))

    def test_a_drive_with_other_contents_is_left_unchanged(self):
        for fields in ({"fstype": "exfat"}, {"children": [{"path": "/dev/sda1", "label": None, "fstype": None, "uuid": None}]}, {"contents": bytes(4096) + b"secret"}, {"unreadable": True}):
            with self.subTest(**fields):
                self.hub.disks.clear()
                self.hub.attach("/dev/sda", "A1", **fields)
                self.expect_waiting("any", "is left unchanged: only a blank drive is formatted")

    def test_no_drive_is_formatted_if_the_card_cannot_store_the_mark(self):
        self.hub.attach("/dev/sda", "A1")
        (self.root / "run/rookery-image/no-data").touch()
        self.expect_waiting("any", "data partition")
        self.assertEqual(self.hub.formatted, [])

    def test_the_serial_number_selects_one_of_several_drives(self):
        self.hub.attach("/dev/sda", "A1")
        self.hub.attach("/dev/sdb", "B2")
        self.expect_waiting("any", "several drives are attached: .*A1.*B2")
        self.use("B2")
        self.assertEqual(self.hub.home, "/dev/sdb")

    def test_the_card_and_an_empty_reader_are_no_drives(self):
        self.hub.attach("/dev/mmcblk0", "card", tran="mmc")
        self.hub.attach("/dev/sdc", "reader", size=0)
        self.expect_waiting("any", "no drive is attached")

    def test_a_power_cut_during_formatting_is_recovered_on_the_same_drive_only(self):
        disk = self.hub.attach("/dev/sda", "A1")
        self.hub.cut_in = "mkfs.ext4"
        with self.assertRaises(PowerCut):
            self.use()
        self.restart()
        # Another disk in the same adapter, with other data.
        self.hub.disks[:] = []
        self.hub.attach("/dev/sdb", "A1", fstype="exfat")
        self.expect_waiting("any", r"Formatting this node's drive, Fast NVMe \(serial A1\), was interrupted, and it now holds exfat, so it is left unchanged")
        self.hub.disks[:] = []
        self.expect_waiting("any", "is not attached")
        self.hub.disks[:] = [disk]
        self.use()
        self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sda", ["A1"]))

    def test_a_power_cut_between_any_two_writes_of_the_formatting_is_recovered(self):
        for writes in range(4):
            with self.subTest(writes=writes):
                self.hub.disks.clear()
                self.hub.formatted.clear()
                (self.root / drive.MARK.lstrip("/")).unlink(missing_ok=True)
                self.hub.attach("/dev/sda", "A1")
                self.hub.cut_after_writes = writes
                with self.assertRaises(PowerCut):
                    self.use()
                self.restart()
                self.use()
                self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sda", ["A1", "A1"]))
                self.restart()

    def test_a_half_formatted_drive_that_was_used_since_is_left_unchanged(self):
        disk = self.hub.attach("/dev/sda", "A1")
        self.hub.cut_after_writes = 3
        with self.assertRaises(PowerCut):
            self.use()
        self.restart()
        disk["fstype"] = "exfat"
        self.expect_waiting("any", "now holds exfat")
        disk.update(fstype=None, children=[{"path": "/dev/sda1", "label": None, "fstype": None, "uuid": None}])
        self.expect_waiting("any", "now holds partitions")
        self.assertEqual(self.hub.formatted, ["A1"])

    def test_another_disk_without_a_signature_in_the_same_adapter_is_left_unchanged(self):
        self.hub.attach("/dev/sda", "A1")
        self.hub.cut_after_writes = 3
        with self.assertRaises(PowerCut):
            self.use()
        self.restart()
        self.hub.disks.clear()
        self.hub.attach("/dev/sda", "A1", contents=bytes(4096) + b"encrypted")
        self.expect_waiting("any", "now holds unknown data, so it is left unchanged")
        self.assertEqual(self.hub.formatted, ["A1"])

    def test_a_power_cut_after_the_formatting_causes_no_second_formatting(self):
        for program in ("sync", "e2fsck", "mount"):
            with self.subTest(program):
                self.hub.disks.clear()
                self.hub.formatted.clear()
                (self.root / drive.MARK.lstrip("/")).unlink(missing_ok=True)
                self.hub.attach("/dev/sda", "A1")
                self.hub.cut_in = program
                with self.assertRaises(PowerCut):
                    self.use()
                self.restart()
                self.use()
                self.assertEqual((self.hub.home, self.hub.formatted), ("/dev/sda", ["A1"]))
                self.restart()

    def test_the_drives_top_directory_belongs_to_root_and_the_node_may_only_add_entries(self):
        self.hub.attach("/dev/sda", "A1")
        self.use()
        self.assertEqual(self.hub.owner_commands, [("root:rookery", drive.HOME), ("1770", drive.HOME)])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_files_of_other_user_ids_get_the_ids_of_this_machine(self):
        home, outside = self.root / "var/lib/rookery", self.root / "outside"
        owners = {"data": (988, 987), "data/journal": (988, 987), "data/journal/1": (988, 987), "data/link": (988, 987), "config.json": (0, 987), "phrase": (988, 987), "zz": (988, 987),
                  "host": (0, 0), "host/key": (0, 0)}
        expected_owners = {name: (443 if user == 988 else 0, 444 if group == 987 else 0) for name, (user, group) in owners.items()}

        def set_owners(owners_to_set: dict) -> None:
            for name, owner in owners_to_set.items():
                os.chown(home / name, *owner, follow_symlinks=False)

        def actual_owners() -> dict:
            return {name: (status.st_uid, status.st_gid) for name in owners for status in [(home / name).lstat()]}

        for name in ("data/journal", "host"):
            (home / name).mkdir(parents=True)
        for name in ("data/journal/1", "config.json", "phrase", "zz", "host/key"):
            (home / name).touch()
        outside.touch()
        os.chown(outside, 988, 987)
        (home / "data/link").symlink_to(outside)
        disk = self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4", files=["data"])
        for cut in (None, ("443", "phrase"), ("443", "data"), (":444", "phrase"), (":444", "data")):
            with self.subTest(cut=cut):
                set_owners(owners)
                self.hub.cut_before_chown = cut
                if cut is not None:
                    with self.assertRaises(PowerCut):
                        self.use()
                    self.restart()
                self.use()
                self.assertEqual((self.hub.home, actual_owners()), (disk["path"], expected_owners))
                self.assertEqual((outside.stat().st_uid, outside.stat().st_gid), (988, 987))
                self.restart()
        self.hub.owner_commands.clear()
        self.use()
        self.assertEqual(len(self.hub.owner_commands), 2)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_files_of_root_keep_their_owner_if_the_data_directory_is_roots(self):
        for name in ("data", "host"):
            (self.root / "var/lib/rookery" / name).mkdir()
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4", files=["data"])
        self.use()
        self.assertEqual((self.root / "var/lib/rookery/host").stat().st_uid, 0)

    def test_a_node_on_the_card_stays_on_the_card(self):
        (self.root / "data/rookery/data").mkdir(parents=True)
        self.hub.attach("/dev/sda", "A1")
        with self.assertRaisesRegex(drive.NoDrive, "the card already holds a node"):
            self.use()
        self.assertTrue(system.has_home(self.machine))
        self.assertEqual(self.hub.formatted, [])

    def test_a_nodes_drive_without_the_setting_is_reported_and_not_used(self):
        self.hub.attach("/dev/sda", "A1", uuid="u-1", label="rookery", fstype="ext4")
        with self.assertRaisesRegex(drive.NoDrive, "attached drive of a node is not used"):
            self.use(None)
        self.assertTrue(system.has_home(self.machine))

    def test_only_the_boot_that_creates_a_node_on_the_card_waits_for_drives(self):
        self.use(None)
        self.assertEqual(self.hub.settle_calls, 1)
        (self.root / "data/rookery/data").mkdir(parents=True)
        self.use(None)
        self.assertEqual(self.hub.settle_calls, 1)


if __name__ == "__main__":
    unittest.main()
