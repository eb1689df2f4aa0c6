"""What is told of the machine on its screen and on the boot partition: python3 -m unittest image/tests/test_log.py"""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import directory
from directory import Directory
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

    def run_command(self, command, **how):
        self.commands.append(command)
        return directory.run(command, **how)

    def say(self, text: str) -> list[tuple[str, ...]]:
        """Lets the node say something, and the greeting follow; what was put off."""
        (self.root / "run/rookery").mkdir(exist_ok=True)
        (self.root / "run/rookery/status").write_text(text)
        self.commands.clear()
        greeting.show(self.machine, self.boot, lambda: self.clock)
        self.assertIn(text, self.text("run/issue.d/rookery.issue"))
        return [command for command in self.commands if command[0] == "systemd-run"]

    def written(self) -> bool:
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

    def test_the_screen_is_updated_at_once_and_the_card_at_growing_intervals(self):
        self.assertEqual(self.say("one"), [])
        self.assertTrue(self.written())
        writings = 0
        for second in range(0, 3600, 10):
            self.clock += 10
            if put_off := self.say(f"It sees {second}"):
                self.assertFalse(self.written())
                self.assertIn("--on-active=", " ".join(put_off[0]))
            else:
                writings += 1
                self.assertTrue(self.written())
        self.assertIn(writings, range(5, 9))
        self.clock += 3600
        self.assertEqual(self.say("the end"), [])
        self.assertIn(b"the end", self.log.read_bytes())

    def test_an_unchanged_log_does_not_delay_later_writes(self):
        self.say("one")
        self.assertEqual(len(self.say("two")), 1)
        self.assertEqual(self.say("one"), [])
        self.assertFalse(self.written())


if __name__ == "__main__":
    unittest.main()
