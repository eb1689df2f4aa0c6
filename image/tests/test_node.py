"""Tests the creation of the node at the first boot, the greeting, and the covering of secrets: python3 -m unittest image/tests/test_node.py"""

import base64
import hashlib
import json
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
from directory import Directory
import found
import greeting


class TheNode(Directory):
    def setUp(self):
        super().setUp()
        self.commands = []
        # Exit code and output of `rookery`, by its subcommand.
        self.answers = {"join": (0, "joined"), "init": (0, "made")}

    def create_node(self, text: str) -> str:
        """Runs `setup found` with this rookery.toml and returns its sentence for the owner."""
        self.toml.write_text(text, encoding="utf-8")
        (self.root / "etc/hostname").write_text("pi-1\n")
        return found.found(self.machine, self.boot, self.run_rookery, sleep=lambda seconds: None)

    def run_rookery(self, _, *arguments, text=None):
        self.commands.append((*arguments, text))
        return self.answers[arguments[0] if arguments[0] in self.answers else arguments[1]]

    def test_a_new_node_founds_its_own_cluster(self):
        self.assertEqual(self.create_node('[cluster]\nname = "home"'), "")
        self.assertEqual(self.commands, [("cluster", "init", "--data", found.DATA, "--node-name", "pi-1", "--name", "home", None)])

    def test_an_existing_node_is_left_unchanged(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        self.assertEqual(self.create_node('[cluster]\nname = "home"'), "")
        self.assertEqual(self.commands, [])

    def test_a_join_token_is_passed_by_stdin_and_covered_afterwards(self):
        self.assertEqual(self.create_node('[cluster]\ntoken = "rookery-join-1.abc"'), "joined\n")
        self.assertEqual(self.commands, [("cluster", "join", "-", "--data", found.DATA, "--name", "pi-1", "rookery-join-1.abc\n")])
        self.assertIn('token = "******************"', self.toml.read_text(encoding="utf-8"))

    def test_a_failed_token_is_reported_and_kept_and_the_node_waits_for_its_owner(self):
        self.answers["join"] = (1, "The token ended.")
        self.assertIn("The token ended.", self.create_node('[cluster]\ntoken = "rookery-join-1.abc"'))
        self.assertEqual([command[1] for command in self.commands], ["join", "init"])
        self.assertIn("rookery-join-1.abc", self.toml.read_text(encoding="utf-8"))

    def test_a_join_waits_for_a_network_of_either_version_of_ip(self):
        head = "Iface\tDestination\tGateway \tFlags\n"
        rest = " 00 00000000000000000000000000000000 00 00000000000000000000000000000000 00000400 00000001 00000000 00000001 "
        loopback, link = "0" * 31 + "1 80" + rest[3:] + "      lo\n", "fe80" + "0" * 28 + " 40" + rest[3:] + "    eth0\n"
        lone, attached = loopback + link, link + "20010db8" + "0" * 24 + " 40" + rest[3:] + "    eth0\n"
        (self.root / "proc/net").mkdir()
        for ipv4, ipv6, seconds in ((head, lone, 60), (head + "eth0\t0001A8C0\t00000000\t0001\n", "", 0), (head, attached, 20), (head + "eth0\t0000FEA9\t00000000\t0001\n", lone, 20)):
            (self.root / "proc/net/route").write_text(ipv4)
            (self.root / "proc/net/ipv6_route").write_text(ipv6)
            waited = []
            self.toml.write_text('[cluster]\ntoken = "rookery-join-1.abc"')
            found.found(self.machine, self.boot, self.run_rookery, sleep=waited.append)
            self.assertEqual(len(waited), seconds, (ipv4, ipv6))

    def test_a_token_that_has_worked_is_covered(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        self.answers["join"] = (78, "The node of /var/lib/rookery/data is pi-1 of this cluster already: start it.")
        self.assertIn("already", self.create_node('[cluster]\ntoken = "rookery-join-1.abc"'))
        self.assertNotIn("rookery-join-1.abc", self.toml.read_text(encoding="utf-8"))

    def test_a_token_is_kept_for_a_node_that_was_removed(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        (self.root / "var/lib/rookery/data/cluster/excluded").touch()
        self.answers["join"] = (78, "The node of /var/lib/rookery/data is pi-1 of this cluster already: start it.")
        self.assertIn("Joining the cluster failed", self.create_node('[cluster]\ntoken = "rookery-join-1.abc"'))
        self.assertIn("rookery-join-1.abc", self.toml.read_text(encoding="utf-8"))

    def test_no_node_is_created_in_restored_data(self):
        (self.root / "var/lib/rookery/data").mkdir()
        for file, advice in (("format", "Create a node from them"), ("restore-unfinished", "run `rookery restore` again")):
            (self.root / "var/lib/rookery/data" / file).touch()
            self.assertRegex(self.create_node(""), f"No node is created.*{advice}")
            self.assertEqual(self.commands, [])
            (self.root / "var/lib/rookery/data" / file).unlink()

    def test_an_interrupted_join_does_not_found_a_cluster(self):
        (self.root / "var/lib/rookery/data/joining").mkdir(parents=True)
        self.assertEqual(self.create_node(""), "")
        self.assertEqual(self.commands, [])

    def test_no_node_is_created_while_its_settings_are_in_doubt(self):
        for text in ("hostname = pi-1", '[cluster]\nname = "My Home"', '[clutser]\nname = "home"', 'name = "home"', "[storage]\ndrive = 5", '[ssh]\ndrive = "any"', '[cluster]\nexpect = 3',
                     '[cluster]\nname = "My Home"\ntoken = "rookery-join-1.abc"'):
            with self.subTest(text):
                self.assertIn("Correct the file", self.create_node(text))
                self.assertEqual(self.commands, [])
        self.toml.write_bytes('[cluster]\nname = "café"'.encode("utf-16"))
        self.assertIn("Correct the file", found.found(self.machine, self.boot, self.run_rookery))
        self.toml.unlink()
        self.assertIn("Correct the file", found.found(self.machine, self.boot, self.run_rookery))
        self.assertEqual(self.commands, [])

    def test_a_wrong_line_of_another_section_does_not_prevent_a_node(self):
        self.assertEqual(self.create_node('timezone = "Mars"\n[ssh]\nkeys = ["a"]\n[wifi]\ncountry = "de"'), "")
        self.assertEqual(self.commands[0][1], "init")

    def test_without_rookery_toml_a_node_is_created(self):
        self.toml.with_name("config.txt").touch()
        self.assertEqual(found.found(self.machine, self.boot, self.run_rookery), "")
        self.assertEqual(self.commands[0][1], "init")

    def test_an_existing_node_starts_with_any_file(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        self.assertEqual(self.create_node("hostname = pi-1"), "")
        self.assertEqual(self.commands, [])

    def test_the_greeting_shows_the_claim_code_until_the_node_is_claimed(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        (self.root / "etc/hostname").write_text("pi-1\n")
        (self.root / "var/lib/rookery/data/claim-code").write_text("abcd-efgh\n")
        self.assertIn("abcd-efgh", greeting.greet(self.machine))
        (self.root / "var/lib/rookery/claim-code").write_text("abcd-efgh\n")
        self.assertNotIn("abcd-efgh", greeting.greet(self.machine))
        self.assertIn("the one from rookery.toml", greeting.greet(self.machine))
        (self.root / "var/lib/rookery/data/claim-code").unlink()
        self.assertNotIn("no owner", greeting.greet(self.machine))

    def test_the_greeting_shows_the_nodes_status_without_control_characters(self):
        (self.root / "etc/hostname").write_text("pi-1\n")
        self.assertNotIn("Node:", greeting.greet(self.machine))
        (self.root / "run/rookery").mkdir()
        for status, line in (("Serving. This node waits to form the cluster home of 3. It sees pi-2; 1 more is missing.\n", "Node:     Serving. This node waits to form the cluster home of 3. It sees pi-2; 1 more is missing.\n"),
                           ("Serving. This node is in the cluster home, with pi-2, pi-3. It has an owner.\n", "Node:     Serving. This node is in the cluster home, with pi-2, pi-3. It has an owner.\n"),
                           ("pi-2 says \x1b[2J:\nno.", "Node:     pi-2 says [2J: no.\n")):
            (self.root / "run/rookery/status").write_text(status)
            self.assertIn(line, greeting.greet(self.machine))

    def test_the_disk_is_measured_once_and_reported(self):
        (self.root / "var/lib/rookery/data").mkdir()
        self.answers["doctor"] = (0, json.dumps({"Findings": [{"Subject": "clock", "Sentence": "It is late.", "Fix": None}, {"Subject": "disk", "Sentence": "It is slow.", "Fix": "Get another."}]}))
        self.assertTrue(greeting.measure_disk(self.machine, self.run_rookery))
        self.assertFalse(greeting.measure_disk(self.machine, self.run_rookery))
        self.assertEqual(len(self.commands), 1)
        text = greeting.greet(self.machine)
        self.assertIn("Disk:     It is slow. Get another.\n", text)
        self.assertNotIn("late", text)

    def test_without_a_data_partition_nothing_is_measured_and_no_node_is_created(self):
        units = Path(__file__).parents[1] / "files/usr/lib/systemd/system"
        for unit in ("rookery-measure.service", "rookery-found.service", "rookery.service.d/image.conf"):
            self.assertIn("\nConditionPathIsMountPoint=/var/lib/rookery\n", (units / unit).read_text(encoding="utf-8"), unit)
        (self.root / "run/rookery-image/no-data").touch()
        self.assertFalse(greeting.measure_disk(self.machine, self.run_rookery))
        self.assertEqual(self.commands, [])

    def test_the_disk_is_measured_when_the_node_is_created(self):
        self.answers["doctor"] = (0, '{"Findings": []}')
        self.assertFalse(greeting.measure_disk(self.machine, self.run_rookery))
        (self.root / "var/lib/rookery/data").mkdir()
        self.assertTrue(greeting.measure_disk(self.machine, self.run_rookery))

    def test_a_failed_measurement_is_repeated_at_the_next_boot(self):
        (self.root / "var/lib/rookery/data").mkdir()
        self.answers["doctor"] = (78, "config.json is not there")
        self.assertFalse(greeting.measure_disk(self.machine, self.run_rookery))
        self.answers["doctor"] = (1, '{"Findings": []}')
        self.assertTrue(greeting.measure_disk(self.machine, self.run_rookery))

    def test_the_greeting_shows_openssls_fingerprint_and_the_address_of_the_welcome_page(self):
        (self.root / "var/lib/rookery/data/cluster").mkdir(parents=True)
        (self.root / "etc/hostname").write_text("pi-1\n")
        der = bytes(range(100))
        pem = "-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(der).decode() + "-----END CERTIFICATE-----\n"
        (self.root / "var/lib/rookery/data/cluster/authority.pem").write_text(pem + pem.replace("A", "B") + "check 12345678\n")
        self.assertNotIn("http:", greeting.greet(self.machine))
        (self.root / "var/lib/rookery/config.json").write_text('{"welcome": "0.0.0.0:80"}')
        text = greeting.greet(self.machine)
        self.assertIn("How to trust it: http://pi-1.local\n", text)
        fingerprint = hashlib.sha256(der).hexdigest().upper()
        self.assertIn(fingerprint, "".join(text.split()).replace(":", ""))


class Secrets(Directory):
    def test_an_invalid_file_keeps_its_secrets_readable(self):
        self.set_up('hostname = pi-1\n[wifi]\nnetworks = [{ ssid = "home", passphrase = "correct horse" }]\n')
        self.assertIn("correct horse", self.toml.read_text(encoding="utf-8"))

    def test_secrets_are_covered_in_every_form_of_quotes(self):
        for quoted in ('"four words by chance"', "'four words by chance'", '"""four words by chance"""', "'''four words by chance'''"):
            with self.subTest(quoted):
                self.set_up(f"[cluster]\nexpect = 3\nphrase = {quoted}\n")
                self.assertEqual(self.text("var/lib/rookery/form-phrase"), "four words by chance\n")
                self.assertNotIn("words", self.toml.read_text(encoding="utf-8"))
                self.assertIn("no problems found", self.set_up(self.toml.read_text(encoding="utf-8")))

    def test_a_phrase_that_was_removed_from_the_file_is_deleted_and_one_in_an_invalid_file_is_kept(self):
        self.set_up('[cluster]\nexpect = 3\nphrase = "four words by chance"\n')
        self.set_up("broken")
        self.assertTrue((self.root / "var/lib/rookery/form-phrase").exists())
        self.set_up('[cluster]\nname = "home"\n')
        self.assertFalse((self.root / "var/lib/rookery/form-phrase").exists())


    def assert_keeps(self, secret: str, text: str):
        """Verifies that a boot with the file `text` leaves the secret readable in it."""
        report = self.set_up(text)
        self.assertIn(secret, self.toml.read_text(encoding="utf-8"), report)

    def test_a_passphrase_that_was_not_stored_stays_readable(self):
        network = 'ssid = "home"\npassphrase = "correct horse"\n'
        for text in ("[[wifi.networks]]\n" + network, '[wifi]\ncountry = "DE"\n[[wifi.network]]\n' + network, '[wifi]\ncountry = "de"\n[[wifi.networks]]\n' + network,
                     '[wifi]\ncountry = "DE"\n[[wifi.networks]]\npassphrase = "correct horse"\n'):
            with self.subTest(text):
                self.assert_keeps("correct horse", text)

    def test_a_passphrase_that_could_not_be_stored_durably_stays_readable(self):
        text = '[wifi]\ncountry = "DE"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n'
        (self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").mkdir(parents=True)
        self.assert_keeps("correct horse", text)
        (self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").rmdir()
        (self.root / "run/rookery-image/no-data").touch()
        self.assert_keeps("correct horse", text)
        self.assertIn("correct horse", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))

    def test_without_a_data_partition_code_and_phrase_stay_readable(self):
        (self.root / "run/rookery-image/no-data").touch()
        text = '[cluster]\nexpect = 3\nphrase = "four words by chance"\nclaim-code = "heron-violet-lamp-42"\n'
        self.assert_keeps("four words", text)
        self.assert_keeps("heron", text)

    def test_an_invalid_new_code_stays_readable_and_the_stored_one_is_kept(self):
        self.set_up('[cluster]\nclaim-code = "heron-violet-lamp-42"\n')
        self.assert_keeps("pelican-7", '[cluster]\nclaim-code = "pelican-7"\n')

    def test_a_phrase_with_a_wrong_number_of_nodes_stays_readable_and_the_stored_one_is_kept(self):
        self.set_up('[cluster]\nexpect = 3\nphrase = "four words by chance"\n')
        self.assert_keeps("other words", '[cluster]\nexpect = 30\nphrase = "four other words by chance"\n')
        self.assertEqual(self.text("var/lib/rookery/form-phrase"), "four words by chance\n")

    def test_the_examples_of_the_shipped_file_stay_readable(self):
        shipped = (Path(__file__).parents[1] / "boot/rookery.toml").read_text(encoding="utf-8")
        self.set_up(shipped)
        self.assertEqual(self.toml.read_text(encoding="utf-8"), shipped)


if __name__ == "__main__":
    unittest.main()
