"""Tests what the screen and the log on the boot partition show: python3 -m unittest image/tests/test_log.py"""

import errno
import re
import sys
import threading
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import directory
from directory import Directory
import first_boot
import greeting
import system
from boot_partition import BootPartition


class TheLog(Directory):
    def setUp(self):
        super().setUp()
        self.log = self.root / "boot/firmware/rookery-first-boot.log"
        self.commands, self.clock = [], 1000.0
        self.machine = system.Machine(self.root, commands=self.run_command)
        self.boot = BootPartition(self.machine)

    def run_command(self, command, **options):
        self.commands.append(command)
        return directory.run(command, **options)

    def set_status(self, text: str) -> list[tuple[str, ...]]:
        """Sets the node's status and updates the screen and the log. Returns the commands that postpone the log's write."""
        (self.root / "run/rookery").mkdir(exist_ok=True)
        (self.root / "run/rookery/status").write_text(text)
        self.commands.clear()
        greeting.show(self.machine, self.boot, lambda: self.clock)
        self.assertIn(text, self.text("run/issue.d/rookery.issue"))
        return [command for command in self.commands if command[0] == "systemd-run"]

    def is_written(self) -> bool:
        """Whether the last update wrote the log, for which the boot partition is remounted."""
        return any(command[:2] == ("mount", "-o") for command in self.commands)

    def test_the_log_is_readable_on_every_pc_and_written_only_if_it_changes(self):
        self.assertTrue(self.boot.report("one\ntwo\n"))
        self.assertEqual(self.log.read_bytes().rstrip(b" "), b"one\r\ntwo\r\n")
        before = self.log.stat().st_mtime_ns
        self.assertFalse(self.boot.report("one\ntwo\n"))
        self.assertEqual(self.log.stat().st_mtime_ns, before)

    def test_the_log_is_written_in_place_and_keeps_no_old_text(self):
        self.boot.report("a line\n" * 900)
        for text in ("b\n" * 900, "c\n"):
            before = self.log.stat()
            self.boot.report(text)
            self.assertEqual(self.log.read_bytes().rstrip(b" "), text.replace("\n", "\r\n").encode())
            self.assertEqual(self.log.stat().st_ino, before.st_ino)
            self.assertEqual(self.log.stat().st_size % 4096, 0)

    def test_two_programs_do_not_have_the_boot_partition_writable_at_once(self):
        steps, first_has_begun, second_came = [], threading.Event(), threading.Event()

        def run(command, **_):
            steps.append((threading.current_thread().name, command[2]))
            if len(steps) == 1:
                first_has_begun.set()
                # The other thread comes here meanwhile, if nothing keeps it.
                second_came.wait(0.3)
            else:
                second_came.set()
            return mock.Mock(stdout="")

        boot = BootPartition(system.Machine(self.root, commands=run))
        first, second = (threading.Thread(target=boot.report, args=(text,), name=text) for text in ("one\n", "two\n"))
        first.start()
        first_has_begun.wait()
        second.start()
        first.join()
        second.join()
        self.assertEqual(steps, [(name, step) for name in ("one\n", "two\n") for step in ("remount,rw", "remount,ro")])

    def test_only_addresses_at_which_the_node_listens_are_shown(self):
        links = '[{"addr_info": [{"local": "192.168.1.11"}, {"local": "fd00::11"}, {"local": "fd00::99", "temporary": true}]}]'
        self.machine = system.Machine(self.root, commands=lambda command, **_: mock.Mock(stdout=links))
        for listen, shown in (("https://[::]:443", ["192.168.1.11", "fd00::11"]), ("https://0.0.0.0:443", ["192.168.1.11"]), ("https://[fd00::11]:443", ["fd00::11"]),
                              ("junk", ["192.168.1.11", "fd00::11"])):
            (self.root / "var/lib/rookery/config.json").write_text(f'{{"listen": "{listen}"}}')
            self.assertEqual(greeting.addresses(self.machine), shown, listen)

    def test_addresses_for_which_no_certificate_can_be_valid_are_not_shown(self):
        links = '[{"addr_info": [{"local": "203.0.113.11"}, {"local": "100.64.0.3"}, {"local": "2001:db8::11"}]}]'
        self.machine = system.Machine(self.root, commands=lambda command, **_: mock.Mock(stdout=links))
        for listen in ("https://[::]:443", "https://[2001:db8::11]:443"):
            (self.root / "var/lib/rookery/config.json").write_text(f'{{"listen": "{listen}"}}')
            self.assertEqual(greeting.addresses(self.machine), ["100.64.0.3"] if "::]" in listen else [], listen)

    def test_the_permitted_networks_are_those_of_the_authority(self):
        source = (Path(__file__).parents[2] / "cluster/src/Rookery.Cluster/Identity/NameConstraints.cs").read_text(encoding="utf-8")
        permitted = set(re.findall(r'IPNetwork\.Parse\("([^"]+)"\)', source))
        self.assertEqual({str(network) for network in greeting.CERTIFIABLE} | {"127.0.0.0/8", "::1/128"}, permitted)

    def test_the_log_of_the_image_keeps_its_size(self):
        self.log.write_bytes(b" " * 16384)
        self.boot.report("one\n")
        self.assertEqual((self.log.stat().st_size, self.log.read_bytes().rstrip(b" ")), (16384, b"one\r\n"))
        self.assertFalse(self.boot.would_change("one\n"))

    def fill(self):
        """Fills the boot partition: files keep their sizes, and new ones stay empty."""
        write = BootPartition._write  # pylint: disable=protected-access

        def write_on_full(path, data):
            if len(data) > (path.stat().st_size if path.exists() else 0):
                path.touch()
                raise OSError(errno.ENOSPC, "No space left on device")
            write(path, data)

        for name, value in (("boot_partition.BootPartition._write", staticmethod(write_on_full)), ("os.statvfs", lambda _: mock.Mock(f_bavail=0, f_frsize=4096, f_blocks=1, f_bfree=0))):
            patch = mock.patch(name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def test_on_a_full_boot_partition_the_log_says_that_it_is_not_complete(self):
        self.boot.report("one\n")
        self.fill()
        self.assertTrue(self.boot.report("a line of the report\n" * 900))
        text = self.log.read_bytes().decode()
        self.assertEqual(len(text), 4096)
        self.assertTrue(text.startswith("a line of the report\r\n"))
        self.assertTrue(text.endswith("Delete your own files from the partition.\r\n"))
        # The same log is not written a second time.
        self.assertFalse(self.boot.report("a line of the report\n" * 900))
        self.assertTrue(self.boot.would_change("another line\n" * 900))

    def test_a_log_that_cannot_be_written_leaves_no_empty_file_and_is_reported_on_the_screen(self):
        self.fill()
        with self.assertRaises(OSError):
            self.boot.report("one\n")
        self.assertFalse(self.log.exists())
        # pylint: disable=import-outside-toplevel
        import importlib.util
        specification = importlib.util.spec_from_file_location("setup_main", Path(first_boot.__file__).with_name("__main__.py"))
        main = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(main)
        main.run("first-boot", self.machine, self.boot)
        self.set_status("serves")
        self.assertIn("rookery-first-boot.log cannot be written (No space left on device)", self.text("run/issue.d/rookery.issue"))

    def test_the_screen_is_updated_at_once_and_the_card_at_growing_intervals(self):
        self.assertEqual(self.set_status("one"), [])
        self.assertTrue(self.is_written())
        writes = 0
        for second in range(0, 3600, 10):
            self.clock += 10
            if postponed := self.set_status(f"It sees {second}"):
                self.assertFalse(self.is_written())
                self.assertIn("--on-active=", " ".join(postponed[0]))
            else:
                writes += 1
                self.assertTrue(self.is_written())
        self.assertIn(writes, range(5, 9))
        self.clock += 3600
        self.assertEqual(self.set_status("the end"), [])
        self.assertIn(b"the end", self.log.read_bytes())

    def test_an_unchanged_log_does_not_delay_later_writes(self):
        self.set_status("one")
        self.assertEqual(len(self.set_status("two")), 1)
        self.assertEqual(self.set_status("one"), [])
        self.assertFalse(self.is_written())


if __name__ == "__main__":
    unittest.main()
