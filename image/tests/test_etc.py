"""Tests what an update does with a machine's changes to /etc, on file systems in files instead of a card."""

import contextlib
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
SLOT = Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"
sys.path.insert(0, str(SLOT))

# pylint: disable=wrong-import-position
import etc
from state import Refusal

ACCOUNTS = {
    "passwd": "root:x:0:0::/root:/bin/bash\navahi:x:101:101::/:/usr/sbin/nologin\n",
    "group": "root:x:0:\navahi:x:101:\nadm:x:4:\n",
    "shadow": "root:*:1::::::\navahi:!:1::::::\n",
    "gshadow": "root:*::\navahi:!::\nadm:*::\n",
}


class Etc(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.upper = self.directory / "upper"
        self.upper.mkdir()
        for name, value in {"UPPER": self.upper, "DROP": self.directory / "drop", "ETC": self.directory / "etc"}.items():
            patch = mock.patch.object(etc, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.files = {"present": {"etc/rookery-image": "version=1\n"}, "new": {"etc/rookery-image": "version=2\n"}}

    def slot(self, name: str) -> str:
        """Creates the file system of a slot from its files and returns its path. `-> TARGET` makes a link."""
        root, image = self.directory / f"{name}.root", self.directory / f"{name}.ext4"
        shutil.rmtree(root, ignore_errors=True)
        for path, text in self.files[name].items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            if text.startswith("-> "):
                (root / path).symlink_to(text.removeprefix("-> "))
            else:
                (root / path).write_text(text)
        subprocess.run(["mkfs.ext4", "-q", "-F", "-d", root, image, "4M"], check=True, capture_output=True)
        return str(image)

    def change(self, path: str, text: str) -> Path:
        """Writes a file of the machine, which hides the slot's."""
        file = self.upper / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def hidden(self) -> dict[str, str]:
        """What the machine hides of the new slot: sentences by path."""
        with etc.slots(self.slot("present"), self.slot("new")) as (present, new):
            self.assertTrue(present.is_complete and new.is_complete)
            found = etc.hidden(present, new)
            etc.write_drop(found)
        return {one.path: one.sentence for one in found}

    def in_both(self, path: str, present: str | None, new: str | None) -> None:
        for name, text in (("present", present), ("new", new)):
            if text is not None:
                self.files[name][path] = text

    def test_a_slot_of_which_a_part_cannot_be_read_is_not_complete(self):
        self.in_both("etc/default/a", "1", "2")
        with etc.slots(self.slot("present"), self.slot("new")) as (present, new):
            self.assertEqual((present.problem, new.problem), (None, None))
        full = subprocess.CompletedProcess([], 0, b"", b"debugfs 1.47.2 (1-Jan-2025)\nrdump: No space left on device while writing file\n")
        real_run = subprocess.run

        def fail_on_new(command, **options):
            result = real_run(command, **options)
            return full if str(command[-1]).endswith("new.ext4") else result

        with mock.patch("subprocess.run", fail_on_new), etc.slots(self.slot("present"), self.slot("new")) as (present, new):
            self.assertTrue((new.etc / "rookery-image").is_file())
            self.assertEqual((present.is_complete, new.is_complete), (True, False))
            self.assertIn("No space left on device", new.problem)

    def test_a_slot_that_cannot_be_read_in_time_is_not_complete(self):
        self.addCleanup(setattr, etc, "DEBUGFS_SECONDS", etc.DEBUGFS_SECONDS)
        etc.DEBUGFS_SECONDS = 0.2
        # A debugfs that waits for a card that does not answer.
        program = self.directory / "debugfs"
        program.write_text("#!/bin/sh\nexec sleep 60\n")
        program.chmod(0o755)
        with mock.patch.dict(os.environ, {"PATH": f"{self.directory}:{os.environ['PATH']}"}):
            with etc.slots("/dev/none", "/dev/none") as (present, new):
                self.assertFalse(present.is_complete or new.is_complete)
            with self.assertRaisesRegex(Refusal, "cannot be read from /dev/none: debugfs did not end within 0.2 seconds"):
                etc.text_of("/dev/none", "/etc/nftables.conf")

    def test_a_partition_without_an_image_is_not_complete(self):
        del self.files["new"]["etc/rookery-image"]
        self.in_both("etc/default/a", "1", "2")
        with etc.slots(self.slot("present"), self.slot("new")) as (_, new):
            self.assertIn("contains no Rookery image", new.problem)

    def test_changed_files_are_listed_and_stay(self):
        self.in_both("etc/default/a", "1", "2")
        self.in_both("etc/default/b", "1", "1")
        self.in_both("etc/default/c", "1", None)
        self.in_both("etc/default/d", "1", "mine")
        self.in_both("etc/default/e", None, "2")
        for name in "abcdef":
            self.change(f"default/{name}", "mine")
        self.assertEqual(self.hidden(), {
            "default/a": "was changed here and stays; the new release has another version",
            "default/b": "was changed here and stays",
            "default/c": "was changed here and stays; the new release has none",
            "default/e": "was changed here and stays; the new release has another version",
        })
        self.assertEqual((self.directory / "drop").read_text(), "")

    def test_an_unchanged_copy_follows_the_new_release(self):
        self.in_both("etc/default/a", "1", "2")
        self.change("default/a", "1").chmod(0o644)
        self.assertEqual(self.hidden(), {"default/a": "was not changed here; it follows the new release at the next start"})
        self.assertEqual((self.directory / "drop").read_text(), f"{hashlib.sha256(b'1').hexdigest()} 644:{os.getuid()}:{os.getgid()} default/a\n")
        (self.upper / "default/a").chmod(0o600)
        self.assertIn("was changed here", self.hidden()["default/a"])

    def test_the_list_of_copies_to_delete_is_durable_before_it_gets_its_name(self):
        self.in_both("etc/default/a", "1", "2")
        self.change("default/a", "1")
        # For each sync: the file that is synced, and whether the list already has its name.
        synced, fsync = [], os.fsync

        def record(descriptor: int) -> None:
            fsync(descriptor)
            synced.append((Path(os.readlink(f"/proc/self/fd/{descriptor}")).name, (self.directory / "drop").exists()))

        with mock.patch("os.fsync", record):
            self.hidden()
        self.assertEqual(synced, [("drop.part", False), (self.directory.name, True)])

    def test_a_file_that_hides_the_release_is_removed(self):
        self.change("rookery-image", "version=0\n")
        self.assertIn("hides the release of the slot", self.hidden()["rookery-image"])
        self.assertTrue((self.directory / "drop").read_text().endswith(" rookery-image\n"))

    def test_a_directory_of_the_machine_over_a_file_or_link_of_the_release_is_listed(self):
        # What the link names on the running system is not part of the release.
        outside = self.directory / "outside"
        outside.mkdir()
        (outside / "x.conf").write_text("of the running system")
        self.in_both("etc/a", None, "2")
        self.in_both("etc/b", None, f"-> {outside}")
        self.in_both("etc/c", f"-> {outside}", f"-> {outside}")
        for name in "abc":
            self.change(f"{name}/x.conf", "mine")
        self.assertEqual(self.hidden(), {
            "a": "is a directory here and stays; the new release has a file or link of that name",
            "b": "is a directory here and stays; the new release has a file or link of that name",
            "c": "is a directory here and stays",
        })

    @unittest.skipUnless(os.geteuid() == 0, "trusted attributes need root")
    def test_a_link_of_the_machine_in_a_replaced_directory_is_not_followed(self):
        outside = self.directory / "outside"
        outside.mkdir()
        (outside / "x.conf").write_text("of the running system")
        self.in_both("etc/a/d/x.conf", None, "2")
        (self.upper / "a").mkdir()
        (self.upper / "a/d").symlink_to(outside)
        os.setxattr(self.upper / "a", "trusted.overlay.opaque", b"y")
        self.assertIn("a/d/x.conf", self.hidden())

    def test_a_unit_of_the_machine_in_place_of_one_of_the_release_is_listed(self):
        self.in_both("usr/lib/systemd/system/a.service", "1", "2")
        self.in_both("usr/lib/systemd/system/b.service", "1", "1")
        self.in_both("usr/lib/systemd/system/c.service.d/image.conf", "1", "2")
        self.in_both("usr/lib/systemd/journald.conf.d/a.conf", "1", "1")
        for name in ("a.service", "b.service", "mine.service", "a.service.d/x.conf", "c.service.d/image.conf"):
            self.change(f"systemd/system/{name}", "mine")
        self.change("systemd/journald.conf.d/a.conf", "mine")
        self.assertEqual(self.hidden(), {
            "systemd/journald.conf.d/a.conf": "takes the place of /usr/lib/systemd/journald.conf.d/a.conf",
            "systemd/system/c.service.d/image.conf": "takes the place of /usr/lib/systemd/system/c.service.d/image.conf, which the new release changes",
            "systemd/system/a.service": "takes the place of /usr/lib/systemd/system/a.service, which the new release changes",
            "systemd/system/b.service": "takes the place of /usr/lib/systemd/system/b.service",
        })

    def test_what_the_machine_itself_writes_is_not_listed(self):
        for name in ("hostname", "hosts", "machine-id", "ssh/ssh_host_ed25519_key", "passwd", "shadow-", "sudoers.d/rookery-account"):
            self.in_both(f"etc/{name}", "1", "2")
            self.change(name, "mine")
        self.assertEqual(self.hidden(), {})

    @unittest.skipUnless(os.geteuid() == 0, "device files and trusted attributes need root")
    def test_deleted_files_and_replaced_directories_are_listed(self):
        self.in_both("etc/cron.d/a", "1", "1")
        self.in_both("etc/cron.d/b", "1", "2")
        for name in ("a", "b", "gone"):
            (self.upper / "cron.d").mkdir(exist_ok=True)
            os.mknod(self.upper / "cron.d" / name, 0o020000, 0)
        self.in_both("etc/ssh/sshd_config.d/new.conf", None, "2")
        self.in_both("etc/ssh/sshd_config.d/old.conf", "1", "2")
        self.change("ssh/sshd_config.d/old.conf", "1")
        os.setxattr(self.upper / "ssh/sshd_config.d", "trusted.overlay.opaque", b"y")
        self.assertEqual(self.hidden(), {
            "cron.d/a": "was deleted here and stays deleted",
            "cron.d/b": "was deleted here and stays deleted; the new release has another version",
            "ssh/sshd_config.d/new.conf": "is hidden, because its directory was replaced here",
            # Without the machine's copy the directory would have no such file at all.
            "ssh/sshd_config.d/old.conf": "was changed here and stays; the new release has another version",
        })
        self.assertEqual((self.directory / "drop").read_text(), "")

    def merge(self, ours: dict[str, str], theirs: dict[str, str]) -> list[str]:
        """Merges accounts: those of the machine, `ours`, with those of the new slot."""
        (self.directory / "etc").mkdir()
        for name, text in ours.items():
            (self.directory / "etc" / name).write_text(text)
            self.change(name, text)
        self.files["new"].update({f"etc/{name}": text for name, text in theirs.items()})
        with etc.slots(self.slot("present"), self.slot("new")) as (_, new):
            return etc.merge_accounts(new)

    def test_accounts_of_the_new_release_are_added_and_the_machines_stay(self):
        ours = {name: text + {"passwd": "ann:x:1000:1000::/home/ann:/bin/bash\n", "group": "ann:x:1000:\n", "shadow": "ann:*:2::::::\n", "gshadow": "ann:!::\n"}[name] for name, text in ACCOUNTS.items()}
        theirs = {name: text + {"passwd": "_chrony:x:102:102::/:/usr/sbin/nologin\n", "group": "_chrony:x:102:\n", "shadow": "_chrony:!:3::::::\n", "gshadow": "_chrony:!::\n"}[name]
                  for name, text in ACCOUNTS.items()}
        theirs["group"] = theirs["group"].replace("adm:x:4:", "adm:x:4:avahi")
        (self.directory / "etc").mkdir()
        shutil.rmtree(self.directory / "etc")
        notes = self.merge(ours, theirs)
        self.assertEqual(notes, ["The group _chrony of the new release was added.", "The account _chrony of the new release was added."])
        merged = {name: (self.directory / "etc" / name).read_text() for name in ours}
        self.assertEqual(merged["passwd"], ours["passwd"] + "_chrony:x:102:102::/:/usr/sbin/nologin\n")
        self.assertEqual(merged["shadow"], ours["shadow"] + "_chrony:!:3::::::\n")
        self.assertEqual(merged["group"], ours["group"].replace("adm:x:4:", "adm:x:4:avahi") + "_chrony:x:102:\n")
        self.assertEqual(merged["gshadow"], ours["gshadow"] + "_chrony:!::\n")

    def test_added_accounts_are_durable_before_the_new_release_may_start(self):
        theirs = {name: text + {"passwd": "_new:x:102:102::/:/usr/sbin/nologin\n", "group": "_new:x:102:\n", "shadow": "_new:!:3::::::\n", "gshadow": "_new:!::\n"}[name] for name, text in ACCOUNTS.items()}
        synced, fsync = [], os.fsync

        def record(descriptor: int) -> None:
            fsync(descriptor)
            synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)

        with mock.patch("os.fsync", record):
            self.merge(ACCOUNTS, theirs)
        self.assertEqual(synced, [one for name in ("gshadow", "group", "shadow", "passwd") for one in (f"{name}.rookery-new", "etc")])

    def test_numbers_of_accounts_that_contradict_are_listed_and_the_machines_stay(self):
        theirs = {**ACCOUNTS, "passwd": ACCOUNTS["passwd"].replace("101:101", "109:101") + "_new:x:101:101::/:/usr/sbin/nologin\n"}
        notes = self.merge(ACCOUNTS, theirs)
        self.assertEqual(notes, [
            "The account avahi has the number 101 here and stays so; the new release gives its files to number 109.",
            "The account _new of the new release is not added: its number 101 is avahi's here. Give avahi another number.",
        ])
        self.assertEqual((self.directory / "etc/passwd").read_text(), ACCOUNTS["passwd"])

    def test_an_account_whose_group_is_another_one_here_is_not_added(self):
        theirs = {**ACCOUNTS, "passwd": ACCOUNTS["passwd"] + "_new:x:102:102::/:/usr/sbin/nologin\n",
                  "group": ACCOUNTS["group"] + "_new:x:102:\n", "shadow": ACCOUNTS["shadow"] + "_new:!:1::::::\n"}
        # The number of the account's group is that of the owner's group `secret`.
        ours = {**ACCOUNTS, "group": ACCOUNTS["group"] + "secret:x:102:ann\n"}
        self.assertEqual(self.merge(ours, theirs), [
            "The group _new of the new release is not added: its number 102 is secret's here. "
            "Give secret another number.",
            "The account _new of the new release is not added: the number 102 of its group is secret's here. "
            "Give the group secret another number.",
        ])
        for name, text in ours.items():
            self.assertEqual((self.directory / "etc" / name).read_text(), text)

    def test_an_account_whose_group_has_another_number_here_is_not_added(self):
        theirs = {**ACCOUNTS, "passwd": ACCOUNTS["passwd"] + "_new:x:102:102::/:/usr/sbin/nologin\n",
                  "group": ACCOUNTS["group"] + "_new:x:102:\n"}
        ours = {**ACCOUNTS, "group": ACCOUNTS["group"] + "_new:x:109:\n"}
        self.assertEqual(self.merge(ours, theirs)[1],
                         "The account _new of the new release is not added: its group _new has another number here "
                         "than 102. Give the group _new this number.")
        self.assertEqual((self.directory / "etc/passwd").read_text(), ACCOUNTS["passwd"])

    def test_without_changed_accounts_nothing_is_written(self):
        with etc.slots(self.slot("present"), self.slot("new")) as (_, new):
            self.assertEqual(etc.merge_accounts(new), [])
        self.assertFalse((self.directory / "etc").exists())

    def test_the_list_is_printed_at_the_installation(self):
        import importlib.util  # pylint: disable=import-outside-toplevel

        specification = importlib.util.spec_from_file_location("rookery_slot", SLOT / "__main__.py")
        rookery_slot = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(rookery_slot)
        self.in_both("etc/default/a", "1", "2")
        self.change("default/a", "mine")
        with contextlib.redirect_stdout(io.StringIO()) as out:
            rookery_slot.merge_etc(self.slot("present"), self.slot("new"))
        self.assertEqual(out.getvalue(), "The machine's changes to /etc hide 1 of the release's files:\n- /etc/default/a was changed here and stays; the new release has another version.\n")


if __name__ == "__main__":
    unittest.main()
