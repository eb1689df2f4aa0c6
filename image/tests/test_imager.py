"""Tests the files of Raspberry Pi Imager at the first boot, on a directory instead of a machine: python3 -m unittest
image/tests/test_imager.py"""

import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
from directory import KEY, Directory
import first_boot
import imager


class Imager(Directory):
    """Files of Raspberry Pi Imager: version 2.0 writes a single user, 1.9 a list of users."""

    HASH, PSK = "$5$abc$def", "0123456789abcdef" * 4
    USER_DATA = f"""#cloud-config
hostname: pi-9
timezone: Europe/Berlin
user:
  name: anna
  shell: /bin/bash
  lock_passwd: false
  passwd: "{HASH}"
  ssh_authorized_keys:
    - "{KEY}"
  sudo: ALL=(ALL) NOPASSWD:ALL
ssh_pwauth: false
"""
    NETWORK = f"""network:
  version: 2
  ethernets:
    eth0:
      dhcp4: true
  wifis:
    wlan0:
      dhcp4: true
      regulatory-domain: "DE"
      access-points:
        "caf\\xc3\\xa9":
          hidden: true
          password: "{PSK}"
      optional: true
"""

    def start_with(self, user_data: str | None = USER_DATA, network: str | None = NETWORK) -> str:
        """Writes the files, of which None keeps the previous one, and returns the report of the first boot with them."""
        for file, text in (("user-data", user_data), ("network-config", network)):
            if text is not None:
                (self.root / "boot/firmware" / file).write_text(text, encoding="utf-8")
        return first_boot.set_up(self.machine, self.boot)

    def test_files_of_imager_are_used_and_their_secrets_are_covered(self):
        report = self.start_with()
        self.assertIn("no problems found", report)
        self.assertEqual(self.text("etc/hostname"), "pi-9\n")
        self.assertEqual(self.text("home/anna/.ssh/authorized_keys"), KEY + "\n")
        self.assertIn(f"ssid={'café'.encode().hex()}\n\tscan_ssid=1\n\tpsk={self.PSK}", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.assertNotIn(self.HASH, self.text("boot/firmware/user-data"))
        self.assertNotIn(self.PSK, self.text("boot/firmware/network-config"))
        self.assertIn(KEY, self.text("boot/firmware/user-data"))

    def test_covered_secrets_still_work_at_the_next_boot(self):
        self.start_with()
        wifi = self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf")
        self.assertIn("no problems found", self.start_with(None, None))
        self.assertEqual(self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"), wifi)

    def test_rookery_toml_takes_precedence(self):
        self.toml.write_text('hostname = "pi-1"\n')
        self.start_with()
        self.assertEqual(self.text("etc/hostname"), "pi-1\n")
        self.assertIn(self.PSK, self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))

    def test_networks_of_both_files_are_used_and_covered(self):
        self.toml.write_text('[wifi]\ncountry = "FR"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n')
        self.assertIn("no problems found", self.start_with())
        wifi = self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf")
        self.assertIn("country=FR\n", wifi)
        self.assertLess(wifi.index("correct horse"), wifi.index(self.PSK))
        self.assertNotIn(self.PSK, self.text("boot/firmware/network-config"))
        self.assertIn("no problems found", first_boot.set_up(self.machine, self.boot))
        self.assertEqual(self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"), wifi)

    def test_the_country_that_imager_1_writes_as_a_command_is_used(self):
        user_data = "#cloud-config\nhostname: pi-9\nruncmd:\n- localectl set-x11-keymap \"de\" pc105\n- sed -i 's/^\\s*REGDOMAIN=\\S*/REGDOMAIN=DE/' /etc/default/crda || true\n"
        network = "version: 2\nwifis:\n  renderer: networkd\n  wlan0:\n    dhcp4: true\n    optional: true\n    access-points:\n      \"home\":\n        password: \"" + self.PSK + "\"\n"
        for change, country in (("DE", "DE"), ("FR", "FR")):
            self.assertIn("no problems found", self.start_with(user_data.replace("DE", change), network))
            self.assertIn(f"country={country}\n", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.assertIn("no problems found", self.start_with(user_data, network.replace("dhcp4: true", "regulatory-domain: GB")))
        self.assertIn("country=GB\n", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.assertIn("the wireless country is missing", self.start_with(user_data.replace("DE", "x"), network))

    def test_imagers_network_without_a_country_gets_that_of_rookery_toml(self):
        (self.root / "usr/share/zoneinfo/zone.tab").write_text("DE\t+5230+01322\tEurope/Berlin\n", encoding="utf-8")
        network = self.NETWORK.replace('      regulatory-domain: "DE"\n', "")
        for toml, country, shown in (('[wifi]\ncountry = "FR"\n', "FR", "Wi-Fi:    café\n"), ('timezone = "Europe/Berlin"\n', "DE", "Wi-Fi:    café (country DE, by the time zone)\n")):
            self.toml.write_text(toml)
            report = self.start_with("hostname: pi-9\n", network)
            self.assertIn("no problems found", report)
            self.assertIn(shown, report)
            self.assertIn(f"country={country}\n", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.toml.write_text("")
        self.assertIn("the wireless country is missing", self.start_with("hostname: pi-9\n", network))

    def test_a_stored_network_is_kept_while_rookery_toml_is_in_doubt(self):
        home = '[wifi]\ncountry = "FR"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n'
        self.toml.write_text(home)
        self.start_with()
        for text in ("broken", home.replace("FR", "fr").replace("correct horse", "*" * 13)):
            self.toml.write_text(text)
            first_boot.set_up(self.machine, self.boot)
            wifi = self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf")
            self.assertIn("correct horse", wifi)
            self.assertLess(wifi.index(self.PSK), wifi.index("correct horse"))
        self.toml.write_text(home.replace("correct horse", "*" * 13))
        self.assertIn("no problems found", first_boot.set_up(self.machine, self.boot))
        self.assertLess(self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf").index("correct horse"), self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf").index(self.PSK))

    def test_for_a_network_in_both_files_rookery_tomls_passphrase_is_used_and_both_are_covered(self):
        self.toml.write_text('[wifi]\ncountry = "FR"\n[[wifi.networks]]\nssid = "café"\npassphrase = "correct horse"\n')
        for _ in range(2):
            self.assertIn("no problems found", self.start_with())
            self.assertIn("correct horse", self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
            self.assertNotIn(self.PSK, self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
            self.assertNotIn(self.PSK, self.text("boot/firmware/network-config"))
            self.assertNotIn("correct horse", self.text("boot/firmware/rookery.toml"))

    def test_imagers_passphrase_is_used_if_rookery_toml_has_stars_of_another_card(self):
        self.toml.write_text('[wifi]\ncountry = "FR"\n[[wifi.networks]]\nssid = "café"\npassphrase = "*************"\n')
        self.assertIn("no problems found", self.start_with())
        self.assertIn(self.PSK, self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.assertNotIn(self.PSK, self.text("boot/firmware/network-config"))

    def test_a_list_of_users_is_read(self):
        self.start_with(f"#cloud-config\nusers:\n- name: bob\n  ssh_authorized_keys:\n    - {KEY}\n  passwd: {self.HASH}\n", None)
        self.assertEqual(self.text("home/bob/.ssh/authorized_keys"), KEY + "\n")
        self.assertNotIn(self.HASH, self.text("boot/firmware/user-data"))

    def test_an_account_with_only_a_password_cannot_log_in_and_is_reported(self):
        self.assertIn("which Rookery does not support", self.start_with("#cloud-config\nuser:\n  name: anna\n  passwd: \"x\"\n", None))
        self.assertFalse((self.root / "home/anna").exists())

    def test_invalid_yaml_is_reported_without_its_secrets_and_keeps_them(self):
        for text in ("a: [", 'password: "correct horse"\n  b: c: d', "a: &a [b]\nc: *a", "[" * 5000, "a: " * 3, "x: !!int"[:3] + "\t- y"):
            with self.subTest(text):
                report = self.start_with(None, text)
                self.assertIn("network-config is not valid YAML", report)
                self.assertNotIn("horse", report)
                self.assertEqual(self.text("boot/firmware/network-config"), text)

    def test_a_host_name_and_a_time_zone_that_cannot_be_used_are_reported_with_their_lines(self):
        # 0123 is a number in YAML, Zulu a name that only tzdata-legacy has.
        report = self.start_with("#cloud-config\nhostname: 0123\ntimezone: Zulu\n", None)
        self.assertIn("user-data: '0123' (line 2) cannot be a host name", report)
        self.assertIn("user-data: 'Zulu' (line 3) is not a time zone of this machine", report)
        for text, line in (("hostname: [a]", 1), ("\ntimezone: {a: b}", 2)):
            self.assertIn(f"(line {line}) must be a text", self.start_with(text, None))

    def test_a_passphrase_of_digits_is_used_as_written(self):
        self.start_with(None, self.NETWORK.replace(f'"{self.PSK}"', "01234567"))
        self.assertIn('psk="01234567"', self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
        self.assertNotIn("01234567", self.text("boot/firmware/network-config"))

    def test_secrets_without_quotes_are_covered_and_the_file_stays_valid(self):
        places = (("\n        password: PSK", "01234567"), ("\n        password: PSK # of the router", "correct horse"), ("{password: PSK, hidden: true}", "correct horse"), ("{hidden: true, password: PSK}", "a#b c:long"))
        for place, passphrase in places:
            with self.subTest(place):
                network = "wifis:\n  wlan0:\n    regulatory-domain: DE\n    access-points:\n      home: " + place.replace("PSK", passphrase) + "\n"
                covered = network.replace(passphrase, "'" + "*" * (len(passphrase) - 2) + "'")
                for text in (network, None, network.replace(passphrase, "*" * len(passphrase))):
                    self.assertIn("no problems found", self.start_with(None, text))
                    self.assertIn(f'psk="{passphrase}"', self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"))
                    if text is None:
                        self.assertEqual(self.text("boot/firmware/network-config"), covered)

    def test_a_covered_password_leaves_the_account_and_the_name(self):
        for user_data in (f"hostname: pi-7\nusers:\n- name: bob\n  passwd: {self.HASH}\n  ssh_authorized_keys:\n  - {KEY}\n", f"hostname: pi-7\nusers: [{{name: bob, passwd: {self.HASH}, ssh_authorized_keys: [{KEY}]}}]\n"):
            for text in (user_data, None, user_data.replace(self.HASH, "*" * len(self.HASH)), None):
                report = self.start_with(text, None)
                self.assertIn("no problems found", report)
                self.assertIn("ssh bob@pi-7.local", report)
                self.assertEqual(self.text("boot/firmware/user-data"), user_data.replace(self.HASH, "'" + "*" * (len(self.HASH) - 2) + "'"))

    def test_what_is_given_and_not_used_is_reported_with_its_line(self):
        report = self.start_with(self.USER_DATA + "keyboard:\n  layout: de\nrpi:\n  interfaces:\n    i2c: true\nlocale: de_DE\nrunning:\n  a: b\n",
                                 self.NETWORK.replace("dhcp4: true", "dhcp4: false\n      addresses: [192.168.1.5/24]", 1))
        for words in ("user-data: 'passwd' (line 8) is not used: passwords", "'layout' (line 14) is not used: the screen's keyboard", "'i2c' (line 17) is not used: set interfaces",
                      "'locale' (line 18) is not used: Rookery does not know", "'running' (line 19)", "network-config: 'dhcp4' (line 5) is not used: addresses come from DHCP",
                      "'addresses' (line 6) is not used: Rookery does not know"):
            self.assertIn(words, report)
        self.assertIn("no problems found", report)

    def test_values_of_another_shape_are_reported(self):
        user_data = f"user: anna\nusers:\n- default\n- name: bob\n  ssh_authorized_keys: {KEY}\nkeyboard: us\n"
        report = self.start_with(user_data, "network:\n  wifis: wlan0\nethernets: {}\n")
        for words in ("user-data: a value of 'user' (line 1) is not used: settings are expected there", "a value of 'users' (line 2) is not used", "a value of 'keyboard' (line 6) is not used",
                      "network-config: a value of 'wifis' (line 2) is not used", "network-config: 'ethernets' (line 3) is not used: all settings are read from 'network' there"):
            self.assertIn(words, report)
        self.assertEqual(self.text("home/bob/.ssh/authorized_keys"), KEY + "\n")

    def test_a_passphrase_in_the_wrong_place_is_neither_reported_nor_makes_an_open_network(self):
        for access_points in ('{"home": "correct horse"}', '{"home": {auth: correct horse}}', "correct horse"):
            with self.subTest(access_points):
                report = self.start_with(None, f"wifis:\n  wlan0:\n    regulatory-domain: DE\n    access-points: {access_points}\n")
                self.assertIn("is not used: settings are expected there", report)
                self.assertNotIn("correct", report + self.text("run/rookery-image/settings-notes.txt"))
                self.assertFalse((self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").exists())

    def test_a_key_that_is_set_twice_is_reported(self):
        report = self.start_with("hostname: pi-7\nuser:\n  name: bob\n  name: carl\nhostname: pi-8\n", None)
        self.assertIn("user-data: 'hostname' (line 1) is not used, because line 5 sets it again", report)
        self.assertIn("user-data: 'name' (line 3) is not used, because line 4 sets it again", report)
        self.assertEqual(self.text("etc/hostname"), "pi-8\n")

    def test_a_character_that_no_file_can_have_does_not_prevent_the_report(self):
        report = self.start_with('hostname: "pi\\ud800"\n', self.NETWORK.replace('caf\\xc3\\xa9', '\\ud800'))
        self.assertIn("'pi?' (line 1) cannot be a host name", report)
        report.encode()

    def test_true_is_read_in_each_spelling_of_yaml(self):
        for word, is_hidden in (("yes", True), ("True", True), ("on", True), ("no", False), ("false", False)):
            with self.subTest(word):
                self.assertNotIn("'hidden'", self.start_with(None, self.NETWORK.replace("hidden: true", f"hidden: {word}")))
                self.assertEqual("scan_ssid=1" in self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"), is_hidden)
        self.assertIn("'hidden' (line 12) is not used: it must be true or false", self.start_with(None, self.NETWORK.replace("hidden: true", "hidden: maybe")))

    def test_a_network_whose_name_wpa_supplicant_refuses_is_reported_and_left_out(self):
        for name in ("", "a" * 33, "caf\\xc3\\xa9" * 7):
            with self.subTest(name):
                self.assertIn("cannot be the name of a wireless network", self.start_with(None, self.NETWORK.replace("caf\\xc3\\xa9", name)))
                self.assertFalse((self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").exists())

    def test_a_country_that_the_kernel_does_not_know_is_reported(self):
        (self.root / "usr/share/zoneinfo/iso3166.tab").write_text("DE\tGermany\nGB\tBritain (UK)\n", encoding="utf-8")
        self.assertIn("'UK' (line 9) is not a country's two capital letters of ISO 3166", self.start_with(None, self.NETWORK.replace('"DE"', "UK")))
        self.assertIn("no problems found", self.start_with(None, self.NETWORK.replace('"DE"', "GB")))

    def test_what_meta_data_gives_and_is_not_used_is_reported(self):
        meta_data = self.root / "boot/firmware/meta-data"
        meta_data.write_text("instance-id: rpi-imager-1\n")
        self.assertNotIn("meta-data", self.start_with())
        meta_data.write_text("instance-id: 1\nlocal-hostname: pi-5\nnetwork-interfaces: auto eth0\n")
        report = self.start_with()
        self.assertIn("meta-data: 'local-hostname' (line 2) is not used: the host name is read from user-data", report)
        self.assertIn("meta-data: 'network-interfaces' (line 3) is not used", report)

    def test_what_rookery_toml_sets_otherwise_is_reported(self):
        self.toml.write_text(f'hostname = "pi-1"\n[ssh]\nkeys = ["{KEY} other"]\n')
        report = self.start_with()
        self.assertIn("Raspberry Pi Imager's host name 'pi-9' is not used: rookery.toml sets 'pi-1'", report)
        self.assertIn("Raspberry Pi Imager's account and SSH keys are not used", report)

    def test_a_network_without_a_usable_passphrase_is_not_taken_for_an_open_one(self):
        for change in (("password: ", "password: [a]\n          x: "), ('password: "', 'auth: {key-management: psk}\n          x: "')):
            self.assertIn("has no passphrase that can be used", self.start_with(None, self.NETWORK.replace(*change)))
            self.assertFalse((self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").exists())

    def test_every_key_that_a_version_of_imager_writes_is_known(self):
        lines = [line.split() for line in (Path(__file__).parent / "imager_keys.txt").read_text(encoding="ascii").splitlines() if not line.startswith("#")]
        self.assertGreater(len(lines), 100)
        for version, file, key in lines:
            pattern = re.sub(r"\b(wlan0|eth0)\b", "*", key.removeprefix("network.")).replace("access-points.", "access-points.*.")
            if key != "network":
                self.assertIn(pattern, imager.KEYS[file], version)

    def test_unexpected_yaml_causes_no_failure(self):
        for text in ("[]", "", "7", "? [a]\n: b", "hostname:", "user: 5", "users: 5", "users: [a, {ssh_authorized_keys: x}]", "wifis: []", "network: {wifis: {wlan0: {access-points: [a]}}}", "ssh_authorized_keys: 7"):
            with self.subTest(text):
                self.assertNotIn("failed", self.start_with(text, text))


if __name__ == "__main__":
    unittest.main()
