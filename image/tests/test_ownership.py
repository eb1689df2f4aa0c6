"""Tests that root's actions in directories of the node's user give that user no further rights: python3 -m unittest
image/tests/test_ownership.py"""

import json
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
from directory import Directory, host_key
import greeting

SECRET = "root:$y$only-for-root:20000::::::\n"


class TheNodesUser(Directory):
    """Places links and pipes in the node's home, as an attacker who controls the node can."""

    def setUp(self):
        super().setUp()
        self.home = self.root / "var/lib/rookery"
        self.secret = self.root / "etc/shadow"
        self.secret.write_text(SECRET)
        self.secret.chmod(0o600)
        (self.root / "etc/hostname").write_text("pi-1\n")

    def start(self) -> str:
        return self.set_up('[cluster]\nname = "home"\nexpect = 3\nphrase = "correct horse battery"\nclaim-code = "heron-violet-lamp-42"')

    def test_root_does_not_follow_a_link_with_the_name_of_a_future_file(self):
        for name in ("config.json", "claim-code", "form-phrase"):
            for trap in (name, name + ".new"):
                with self.subTest(trap):
                    (self.home / name).unlink(missing_ok=True)
                    (self.home / trap).symlink_to(self.secret)
                    self.assertIn("no problems found", self.start())
                    self.assertEqual(self.secret.read_text(), SECRET)
                    self.assertEqual(self.secret.stat().st_mode & 0o777, 0o600)
                    self.assertFalse((self.home / name).is_symlink())

    def test_a_foreign_temporary_file_does_not_become_the_new_file(self):
        (self.home / "form-phrase.new").write_text("")
        with open(self.home / "form-phrase.new", encoding="utf-8") as open_file:
            self.start()
            self.assertEqual(open_file.read(), "")

    def test_a_pipe_does_not_block_root(self):
        for name in ("config.json", "claim-code", "form-phrase", "form-phrase.new"):
            os.mkfifo(self.home / name)
        self.assertIn("no problems found", self.start())
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["form"]["expect"], 3)

    def test_links_among_the_host_keys_are_not_copied_to_etc(self):
        (self.home / "host").mkdir()
        (self.home / "host/ssh_host_x_key").symlink_to(self.secret)
        (self.home / "host/ssh_host_x_key.pub").symlink_to(self.secret)
        self.start()
        for file in (self.root / "etc/ssh").iterdir():
            self.assertNotEqual(file.read_text(), SECRET, file)

    def test_a_directory_of_host_keys_that_is_a_link_is_neither_read_nor_written_to(self):
        (self.root / "elsewhere").mkdir()
        (self.root / "elsewhere/ssh_host_x_key").write_text(SECRET)
        (self.root / "etc/ssh/ssh_host_ed25519_key").write_text(host_key("the card's"))
        (self.home / "host").symlink_to(self.root / "elsewhere")
        self.start()
        self.assertFalse((self.root / "etc/ssh/ssh_host_x_key").exists())
        self.assertEqual([file.name for file in (self.root / "elsewhere").iterdir()], ["ssh_host_x_key"])
        self.assertEqual(self.text("var/lib/rookery/host/ssh_host_ed25519_key"), host_key("the card's"))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_host_keys_in_a_directory_of_the_nodes_user_are_not_used(self):
        (self.root / "etc/ssh/ssh_host_ed25519_key").write_text(host_key("the card's"))
        (self.home / "host").mkdir()
        (self.home / "host/ssh_host_ed25519_key").write_text(host_key("the node's own"))
        os.chown(self.home / "host", 65534, 65534)
        self.start()
        self.assertEqual(self.text("etc/ssh/ssh_host_ed25519_key"), host_key("the card's"))
        self.assertEqual(self.text("var/lib/rookery/host/ssh_host_ed25519_key"), host_key("the card's"))
        self.assertEqual((self.home / "host").stat().st_uid, 0)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_a_file_of_the_nodes_user_is_replaced_by_roots_even_if_its_text_is_equal(self):
        self.start()
        os.chown(self.home / "config.json", 65534, 65534)
        self.start()
        status = (self.home / "config.json").stat()
        self.assertEqual((status.st_uid, status.st_gid, status.st_mode & 0o777), (0, os.getegid(), 0o640))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a file away")
    def test_the_phrase_belongs_to_the_node_and_all_other_files_to_root(self):
        (self.root / "etc/passwd").write_text("root:x:0:0::/root:/bin/bash\nrookery:x:65533:65534::/:/bin/false\n")
        (self.root / "etc/group").write_text("rookery:x:65534:\n")
        for _ in range(2):
            self.assertIn("no problems found", self.start())
            self.assertEqual({file.name: (file.stat().st_uid, file.stat().st_gid, oct(file.stat().st_mode & 0o777)) for file in self.home.iterdir()},
                             {"config.json": (0, 65534, "0o640"), "claim-code": (0, 65534, "0o640"), "form-phrase": (65533, 65534, "0o600"), "host": (0, os.getegid(), "0o700")})

    def test_the_greeting_follows_no_link_to_a_file(self):
        (self.home / "data/cluster").mkdir(parents=True)
        (self.root / "run/rookery").mkdir()
        for trap in ("data/claim-code", "data/cluster/authority.pem", "../../../run/rookery/status"):
            (self.home / trap).symlink_to(self.secret)
        self.assertNotIn("only-for-root", greeting.greet(self.machine))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_the_greeting_reads_no_file_of_root_through_a_linked_directory(self):
        (self.root / "root").mkdir(mode=0o700)
        (self.root / "root/claim-code").write_text(SECRET)
        (self.home / "data").symlink_to(self.root / "root")
        self.assertNotIn("only-for-root", greeting.greet(self.machine))

    def test_a_pipe_instead_of_the_claim_code_does_not_block_the_greeting(self):
        (self.home / "data").mkdir()
        os.mkfifo(self.home / "data/claim-code")
        self.assertIn("https://pi-1.local", greeting.greet(self.machine))


class ThePackage(unittest.TestCase):
    ROOT = Path(__file__).parents[1] / "package/root/usr/lib"

    def test_the_nodes_home_belongs_to_root_and_the_service_does_not_change_that(self):
        entries = (self.ROOT / "tmpfiles.d/rookery.conf").read_text(encoding="utf-8")
        self.assertIn("\nd /var/lib/rookery 1770 root rookery -\n", entries)
        unit = (self.ROOT / "systemd/system/rookery.service").read_text(encoding="utf-8")
        # With StateDirectory=, systemd would make the service's user the owner of the directory and all its files.
        self.assertNotIn("\nStateDirectory=", unit)
        self.assertIn("\nReadWritePaths=/var/lib/rookery\n", unit)


if __name__ == "__main__":
    unittest.main()
