"""Tests which problems of rookery.toml are found, and `image/check`: python3 -m unittest image/tests/test_settings.py"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
from directory import KEY
import settings


class TheFile(unittest.TestCase):
    def problems_of(self, text: str) -> list[str]:
        return settings.parse(text, Path("/nowhere"))[1]

    def test_an_empty_file_is_valid(self):
        self.assertEqual(self.problems_of(""), [])

    def test_the_shipped_file_is_valid_with_and_without_its_examples(self):
        shipped = (Path(__file__).parents[1] / "boot/rookery.toml").read_text(encoding="utf-8")
        self.assertEqual(self.problems_of(shipped), [])
        uncommented = "\n".join(line[1:] if line.startswith("#") and not line.startswith("# ") else line for line in shipped.splitlines())
        problems = self.problems_of(uncommented)
        # The example key is not a valid key, and the example secrets are refused because they are public. All other
        # examples are valid.
        self.assertEqual([problem.split(":")[0] for problem in problems], ["ssh.keys", "cluster.claim-code", "cluster.phrase"])
        for secret in (settings.EXAMPLE_CLAIM_CODE, settings.EXAMPLE_PHRASE):
            self.assertIn(f'"{secret}"', shipped)

    def test_an_unknown_country_is_refused_if_a_table_of_countries_exists(self):
        with tempfile.TemporaryDirectory() as zones:
            (Path(zones) / "iso3166.tab").write_text("# comment\nDE\tGermany\nGB\tBritain (UK)\n", encoding="utf-8")
            for code, is_valid in (("DE", True), ("GB", True), ("UK", False), ("XX", False), ("# ", False), ("de", False)):
                problems = settings.parse(f'[wifi]\ncountry = "{code}"', Path(zones))[1]
                self.assertEqual(problems == [], is_valid, code)
        self.assertEqual(self.problems_of('[wifi]\ncountry = "XX"'), [])

    def test_an_unknown_time_zone_is_refused_if_time_zone_files_exist(self):
        with tempfile.TemporaryDirectory() as zones:
            (Path(zones) / "Europe").mkdir()
            (Path(zones) / "Europe/Berlin").touch()
            (Path(zones) / "Europe/Busingen").symlink_to("Berlin")
            for name, is_valid in (("Europe/Berlin", True), ("Europe/Busingen", True), ("Europe/Rookery", False), ("Europe", False), ("../zoneinfo", False)):
                self.assertEqual(settings.parse(f'timezone = "{name}"', Path(zones))[1] == [], is_valid, name)
        self.assertEqual(self.problems_of('timezone = "Europe/Berlin"'), [])
        self.assertEqual(len(self.problems_of('timezone = "../Berlin"')), 1)

    def test_public_example_secrets_are_refused_in_every_spelling(self):
        for code in (settings.EXAMPLE_CLAIM_CODE, settings.EXAMPLE_CLAIM_CODE.upper().replace("-", " ")):
            self.assertEqual(len(self.problems_of(f'[cluster]\nclaim-code = "{code}"')), 1, code)
        for phrase in (settings.EXAMPLE_PHRASE, f" {settings.EXAMPLE_PHRASE} "):
            self.assertEqual(len(self.problems_of(f'[cluster]\nexpect = 3\nphrase = "{phrase}"')), 1, phrase)

    def test_accounts_of_debian_are_refused_on_a_pc_too(self):
        for name, is_valid in (("daemon", False), ("sudo", False), ("www-data", False), ("anna", True)):
            self.assertEqual(self.problems_of(f'[ssh]\nuser = "{name}"') == [], is_valid, name)

    def test_a_phrase_of_few_different_letters_is_refused(self):
        self.assertIn("8 of them different", self.problems_of(f'[cluster]\nexpect = 3\nphrase = "{"aab" * 8}"')[0])

    def test_image_check_reports_the_problems_of_each_file(self):
        checker = Path(__file__).parents[1] / "check"

        def run_check(*arguments):
            result = subprocess.run([checker, *arguments], capture_output=True, text=True, check=False)
            return result.returncode, result.stdout + result.stderr

        with tempfile.TemporaryDirectory() as folder:
            good, wrong, latin = (Path(folder) / name for name in ("good.toml", "wrong.toml", "latin.toml"))
            good.write_text('hostname = "pi-1"\ntimezone = "Europe/Berlin"', encoding="utf-8")
            wrong.write_text('hostnam = "pi-1"', encoding="utf-8")
            latin.write_bytes(b'[[wifi.networks]]\nssid = "caf\xe9"')
            self.assertEqual(run_check(good), (0, f"{good}: no problems found\n"))
            status, output = run_check(wrong, latin, good, Path(folder) / "none")
            self.assertEqual(status, 1)
            self.assertEqual([line.split(": ")[1:3] for line in output.splitlines()],
                             [["hostnam", "there is no such setting; did you mean hostname? (line 1)"], ["The file is not UTF-8 text (byte 29). Save it as UTF-8."], ["no problems found"],
                              ["cannot be read", "No such file or directory"]])
        self.assertEqual((run_check()[0], run_check("--help")[0]), (64, 0))

    def test_an_unknown_setting_is_reported_with_a_similar_one(self):
        self.assertEqual(self.problems_of('hostnam = "pi-1"'), ["hostnam: there is no such setting; did you mean hostname? (line 1)"])
        self.assertIn("wifi.networks, number 1: pasphrase: there is no such setting; did you mean passphrase? (line 5)", self.problems_of('[wifi]\ncountry="DE"\n[[wifi.networks]]\nssid="a"\npasphrase="12345678"'))

    def test_invalid_toml_is_reported_with_its_line(self):
        self.assertIn("line 2", self.problems_of('\nhostname = pi-1')[0])

    def test_thousands_of_digits_or_brackets_are_a_problem_like_others(self):
        digits = "9" * 5000
        for text in (f"expect = {digits}", "a = " + "[" * 5000, f'memory = "{digits}"', f'[cluster]\nseeds = ["10.0.0.1:{digits}"]', f'[redis]\nlisten = "{digits}"'):
            self.assertEqual(len(self.problems_of(text)), 1, text[:20])

    def test_wrong_values_are_reported_and_not_used(self):
        for text, key in (('hostname = "-x"', "hostname"), ('hostname = 5', "hostname"), ('power = "hot"', "power"), ('[ssh]\nuser = "root"', "ssh.user"),
                          ('[ssh]\nkeys = ["ssh-ed25519 AAAA"]', "ssh.keys"), ('[ssh]\nkeys = "a"', "ssh.keys"), ('[wifi]\ncountry = "de"', "wifi.country"),
                          ('[cluster]\nseeds = ["10.0.0.1"]', "cluster.seeds"), ('[cluster]\ntoken = "abc"', "cluster.token"),
                          ('[cluster]\nexpect = 3', "cluster.phrase"), ('[cluster]\nexpect = 1\nphrase = "****"', "cluster.expect"), ('[cluster]\nphrase = "correct horse battery"', "cluster.expect"),
                          ('[cluster]\nexpect = 3\nphrase = "short"', "cluster.phrase"), ('[cluster]\nexpect = "3"\nphrase = "****"', "cluster.expect"),
                          ('wifi = 1', "wifi"), ('[[ssh]]', "ssh")):
            problems = self.problems_of(text)
            self.assertEqual(len(problems), 1, (text, problems))
            self.assertTrue(problems[0].startswith(key + ":"), problems)

    def test_an_incompletely_copied_key_is_refused(self):
        self.assertTrue(settings.is_ssh_key(KEY))
        self.assertFalse(settings.is_ssh_key("ssh-ed25519 " + KEY.split()[1][9:]))

    def test_a_network_name_may_have_the_blanks_of_telephones_and_no_control_characters(self):
        for name, is_valid in (("iPhone de\u00a0Anna", True), ("a" * 32, True), ("a" * 33, False), ("", False), ("a\\nb", False)):
            self.assertEqual(self.problems_of(f'[wifi]\ncountry="DE"\n[[wifi.networks]]\nssid="{name}"') == [], is_valid, name)

    def test_a_wrong_passphrase_is_not_in_the_report(self):
        problems = self.problems_of('[wifi]\ncountry="DE"\n[[wifi.networks]]\nssid="a"\npassphrase="short"')
        self.assertEqual(len(problems), 1)
        self.assertNotIn("short", problems[0])

    def test_without_a_country_that_of_the_time_zone_is_taken(self):
        network = '[[wifi.networks]]\nssid="a"\npassphrase="12345678"\n'
        with tempfile.TemporaryDirectory() as zones:
            (Path(zones) / "zone.tab").write_text("# comment\nDE\t+5230+01322\tEurope/Berlin\tmost of Germany\nFR\t+4852+00220\tEurope/Paris\n", encoding="utf-8")
            (Path(zones) / "Europe").mkdir()
            for name in ("Europe/Berlin", "Europe/Paris", "UTC"):
                (Path(zones) / name).touch()
            for head, country, is_of_zone in (('timezone = "Europe/Berlin"\n', "DE", True), ('timezone = "Europe/Paris"\n', "FR", True), ('timezone = "Europe/Paris"\n[wifi]\ncountry = "DE"\n', "DE", False),
                                              ('timezone = "UTC"\n', None, False), ("", None, False)):
                parsed, problems = settings.parse(head + network, Path(zones))
                self.assertEqual((parsed.wifi_country, parsed.is_country_of_zone, len(parsed.wifi_networks)), (country, is_of_zone, int(country is not None)), head)
                self.assertEqual(problems == [], country is not None, head)

    def test_without_a_country_the_radio_stays_off(self):
        parsed, problems = settings.parse('[[wifi.networks]]\nssid="a"', Path("/nowhere"))
        self.assertEqual(parsed.wifi_networks, [])
        self.assertIn("wifi.country", problems[0])

    def test_a_file_from_windows_is_read(self):
        self.assertEqual(settings.parse('\ufeffhostname = "pi-1"\r\n[ssh]\r\n', Path("/nowhere")), (settings.Settings(hostname="pi-1"), []))

    def test_a_weak_claim_code_is_refused_and_not_in_the_report(self):
        for code in ("short-1", "aaaa-aaaa-aaaa-aaaa-aaaa", "pelican-orbit-lämp-7"):
            parsed, problems = settings.parse(f'[cluster]\nclaim-code = "{code}"', Path("/nowhere"))
            self.assertIsNone(parsed.claim_code)
            self.assertEqual(len(problems), 1, problems)
            self.assertTrue(problems[0].startswith("cluster.claim-code: this must have at least 16"), problems)
            self.assertNotIn(code, problems[0])
        self.assertEqual(self.problems_of('[cluster]\nclaim-code = "****************"'), [])

    def test_a_network_with_a_misspelt_passphrase_key_is_not_used_as_an_open_one(self):
        parsed, _ = settings.parse('[wifi]\ncountry="DE"\n[[wifi.networks]]\nssid="a"\npasphrase="12345678"\n[[wifi.networks]]\nssid="b"', Path("/nowhere"))
        self.assertEqual([network.ssid for network in parsed.wifi_networks], ["b"])

    def test_covering_a_secret_keeps_the_length_and_structure_of_the_text(self):
        text = 'passphrase = "a\\"bé"\n"passphrase" = "q"\n{ passphrase=\'x\' }\n# passphrase is not a value\ntoken = "t"'
        covered = settings.without_secrets(text, "passphrase")
        self.assertEqual(len(covered.encode()), len(text.encode()))
        self.assertEqual(covered, 'passphrase = "******"\n"passphrase" = "*"\n{ passphrase=\'*\' }\n# passphrase is not a value\ntoken = "t"')


if __name__ == "__main__":
    unittest.main()
