"""Tests the first boot, on a directory instead of a machine: python3 -m unittest image/tests/test_setup.py"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
from directory import KEY, Directory, host_key
import first_boot
import settings
import system

COMPLETE_FILE = f"""
hostname = "Pi-1"
timezone = "Europe/Berlin"
power = "quiet"
memory = "256M"
[ssh]
user = "anna"
keys = ["{KEY}"]
[wifi]
country = "DE"
[[wifi.networks]]
ssid = 'the "net"'
passphrase = "correct horse"
[[wifi.networks]]
ssid = "café"
hidden = true
[cluster]
name = "home"
seeds = ["10.0.0.1:9443"]
"""


class TheMachine(Directory):
    def setUp(self):
        super().setUp()
        self.governors = [self.root / f"sys/devices/system/cpu/cpufreq/policy{number}/scaling_governor" for number in (0, 4)]
        for governor in self.governors:
            governor.parent.mkdir(parents=True)
            governor.write_text("schedutil\n")
            # As on the image, where the kernel loads a missing governor when it is written.
            governor.with_name("scaling_available_governors").write_text("performance schedutil\n")

    def test_the_processor_gets_the_governor_of_the_power_profile(self):
        for profile, governor in (("quiet", "conservative"), ("fast", "performance"), ("balanced", "schedutil")):
            self.assertIn("no problems found", self.set_up(f'power = "{profile}"'))
            self.assertEqual([file.read_text().strip() for file in self.governors], [governor] * 2)

    def test_a_refused_or_missing_governor_is_reported(self):
        self.governors[1].unlink()
        self.governors[1].mkdir()
        self.assertIn("- power: the kernel refuses the governor 'conservative'", self.set_up('power = "quiet"'))
        for file in self.governors:
            file.parent.rename(file.parent.with_name(f"gone-{file.parent.name}"))
        self.assertIn("- power: the kernel cannot change this processor's frequency", self.set_up('power = "quiet"'))
        self.assertIn("no problems found", self.set_up(""))

    def test_system_accounts_and_groups_get_no_login(self):
        (self.root / "etc/passwd").write_text("root:x:0:0::/root:/bin/bash\nprometheus:x:105:108::/var/lib/prometheus:/usr/sbin/nologin\npolkitd:x:998:998::/:/usr/sbin/nologin\nanna:x:1000:1000::/home/anna:/bin/bash\n")
        (self.root / "etc/group").write_text((self.root / "etc/group").read_text() + "docker:x:110:\nanna:x:1000:\n")
        for name, why in (("prometheus", "an account of the system"), ("polkitd", "an account of the system"), ("docker", "a group of the system")):
            with self.subTest(name):
                report = self.set_up(f'[ssh]\nuser = "{name}"\nkeys = ["{KEY}"]')
                self.assertIn(f"- ssh.user: '{name}' is {why}", report)
                self.assertIn("ssh admin@", report)
                self.assertTrue(self.text("etc/sudoers.d/rookery-account").startswith("admin "))
                self.assertFalse((self.root / "home" / name).exists())
        for name in ("anna", "berta"):
            self.assertIn(f"ssh {name}@", self.set_up(f'[ssh]\nuser = "{name}"\nkeys = ["{KEY}"]'))
            self.assertTrue(self.text("etc/sudoers.d/rookery-account").startswith(name + " "))

    def test_all_settings_of_a_complete_file_are_applied(self):
        (self.root / "etc/passwd").write_text("anna:x:1000:1000::/home/anna:/bin/bash\n")
        report = self.set_up(COMPLETE_FILE)
        self.assertIn("no problems found", report)
        self.assertIn("ssh anna@pi-1.local", report)
        self.assertEqual(self.text("etc/hostname"), "pi-1\n")
        self.assertEqual((self.root / "etc/localtime").readlink(), Path("/usr/share/zoneinfo/Europe/Berlin"))
        self.assertEqual(self.text("home/anna/.ssh/authorized_keys"), KEY + "\n")
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json")), {"data": "/var/lib/rookery/data", "memory": "256M", "peers": "10.0.0.1:9443"})
        wifi = self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf")
        self.assertIn('ssid=' + b'the "net"'.hex() + '\n\tpsk="correct horse"\n\tpriority=2\n', wifi)
        self.assertIn("ssid=" + "café".encode().hex() + "\n\tscan_ssid=1\n\tkey_mgmt=NONE\n\tpriority=1\n", wifi)
        self.assertEqual((self.root / "etc/wpa_supplicant/wpa_supplicant-wlan0.conf").stat().st_mode & 0o777, 0o600)

    def test_passphrases_are_covered_on_the_boot_partition_and_work_at_the_next_boot(self):
        self.set_up(COMPLETE_FILE)
        self.assertNotIn("correct horse", self.toml.read_text(encoding="utf-8"))
        before = self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf")
        self.assertIn("no problems found", first_boot.set_up(self.machine, self.boot))
        self.assertEqual(self.text("etc/wpa_supplicant/wpa_supplicant-wlan0.conf"), before)

    def test_a_preset_claim_code_is_stored_beside_the_data_and_covered_in_the_file(self):
        self.assertIn("no problems found", self.set_up('[cluster]\nclaim-code = "heron-violet-lamp-42"'))
        self.assertEqual(self.text("var/lib/rookery/claim-code"), "heron-violet-lamp-42\n")
        self.assertEqual((self.root / "var/lib/rookery/claim-code").stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.toml.read_text(encoding="utf-8"), '[cluster]\nclaim-code = "' + "*" * 20 + '"')
        for _ in range(2):
            self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["claimCodeFile"], "/var/lib/rookery/claim-code")
            self.assertIn("no problems found", first_boot.set_up(self.machine, self.boot))
        self.assertEqual(self.text("var/lib/rookery/claim-code"), "heron-violet-lamp-42\n")

    def test_a_covered_claim_code_of_another_machine_is_reported_and_an_unstored_code_stays_readable(self):
        self.assertIn("write it again", self.set_up('[cluster]\nclaim-code = "********************"'))
        self.assertNotIn("claimCodeFile", self.text("var/lib/rookery/config.json"))
        (self.root / "var/lib/rookery").rename(self.root / "gone")
        self.assertIn("this machine has not stored a claim code", self.set_up('[cluster]\nclaim-code = "heron-violet-lamp-42"'))
        self.assertIn("heron-violet-lamp-42", self.toml.read_text(encoding="utf-8"))

    def test_a_covered_passphrase_of_another_machine_is_reported(self):
        self.assertIn("write it again", self.set_up('[wifi]\ncountry="DE"\n[[wifi.networks]]\nssid="home"\npassphrase="********"'))

    def test_the_default_host_name_is_from_the_serial_number(self):
        self.set_up("")
        self.assertEqual(self.text("etc/hostname"), "rookery-b2c3d4\n")

    def test_with_an_invalid_file_the_machine_has_the_default_host_name(self):
        report = self.set_up("hostname = ")
        self.assertEqual(self.text("etc/hostname"), "rookery-b2c3d4\n")
        self.assertIn("Problems:\n- The file is not valid TOML", report)

    def test_a_missing_file_is_reported(self):
        self.assertIn("There is no rookery.toml", first_boot.set_up(self.machine, self.boot))

    def test_another_encoding_is_reported(self):
        self.toml.write_bytes("hostname = \"café\"".encode("utf-16"))
        self.assertIn("UTF-8", first_boot.set_up(self.machine, self.boot))

    def test_a_boot_without_changes_writes_nothing(self):
        def modification_times():
            return {path: path.stat().st_mtime_ns for path in self.root.rglob("*") if path.is_file() and path not in self.governors}

        self.set_up(COMPLETE_FILE)
        before = modification_times()
        first_boot.set_up(self.machine, self.boot)
        self.assertEqual(modification_times(), before)

    def test_keys_that_were_added_on_the_machine_stay(self):
        (self.root / "etc/passwd").write_text("admin:x:1000:1000::/home/admin:/bin/bash\n")
        (self.root / "home/admin/.ssh").mkdir(parents=True)
        (self.root / "home/admin/.ssh/authorized_keys").write_text("ssh-rsa other\n")
        self.set_up(f'[ssh]\nkeys = ["{KEY}"]')
        self.assertEqual(self.text("home/admin/.ssh/authorized_keys"), "ssh-rsa other\n" + KEY + "\n")

    def commands_of(self, passwd: str, shadow: str, group: str) -> list[tuple[str, ...]]:
        """The commands by which the first boot gives the account `admin` its key, on a machine with these accounts."""
        for name, text in (("passwd", passwd), ("shadow", shadow), ("group", group)):
            (self.root / "etc" / name).write_text(text)
        commands = []

        def record(command, **_):
            commands.append(command)
            return subprocess.CompletedProcess(command, 0, stdout="")

        system.set_account(system.Machine(self.root, commands=record), settings.Settings(ssh_keys=[KEY]))
        return [command for command in commands if command[0] in ("useradd", "userdel", "chown", "mkhomedir_helper")]

    def test_an_account_that_a_power_cut_left_incomplete_is_created_again(self):
        create, give = ("useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", "admin"), ("chown", "--recursive", "admin:", "/home/admin/.ssh")
        (self.root / "etc/passwd.lock").write_text("712")
        (self.root / "home/admin").mkdir()
        line, password, group = "admin:x:1000:1000::/home/admin:/bin/bash\n", "admin:*:20000::::::\n", "admin:x:1000:\n"
        self.assertEqual(self.commands_of("", "", ""), [create, give])
        self.assertFalse((self.root / "etc/passwd.lock").exists())
        for shadow, groups in (("", ""), (password, ""), ("", group)):
            self.assertEqual(self.commands_of(line, shadow, groups)[:2], [("userdel", "admin"), create])
        self.assertNotIn(create, self.commands_of(line, password, "people:x:1000:\n"))
        (self.root / "etc/shadow").unlink()
        (self.root / "etc/shadow").mkdir()
        system.create_account(system.Machine(self.root, commands=self.fail), "admin")
        (self.root / "etc/shadow").rmdir()
        (self.root / "home/admin").rename(self.root / "home/gone")
        self.assertEqual(self.commands_of(line, password, group), [("mkhomedir_helper", "admin", "0077"), give])

    def test_keys_go_to_the_home_that_the_owner_gave_the_account(self):
        (self.root / "home/elsewhere").mkdir()
        commands = self.commands_of("admin:x:1000:100::/home/elsewhere:/bin/bash\n", "admin:*:20000::::::\n", "users:x:100:\n")
        self.assertEqual(commands, [("chown", "--recursive", "admin:", "/home/elsewhere/.ssh")])
        self.assertEqual(self.text("home/elsewhere/.ssh/authorized_keys"), KEY + "\n")
        self.assertFalse((self.root / "home/admin").exists())

    def test_a_new_card_uses_the_host_keys_beside_the_data(self):
        (self.root / "var/lib/rookery/host").mkdir()
        (self.root / "var/lib/rookery/host/ssh_host_ed25519_key").write_text(host_key("the old machine's"))
        (self.root / "etc/ssh/ssh_host_ed25519_key").write_text(host_key("the card's"))
        self.set_up("")
        self.assertEqual(self.text("etc/ssh/ssh_host_ed25519_key"), host_key("the old machine's"))

    def test_an_incomplete_host_key_is_created_again(self):
        def run(command, **_):
            if command[0] == "ssh-keygen":
                Path(command[-1]).write_text(host_key("new"), encoding="utf-8")
                Path(command[-1] + ".pub").write_text("ssh-ed25519 new\n", encoding="utf-8")
            return subprocess.CompletedProcess(command, 0, stdout="")

        self.machine = system.Machine(self.root, commands=run)
        (self.root / "var/lib/rookery/host").mkdir()
        for incomplete_key in ("", host_key("old")[:50]):
            (self.root / "var/lib/rookery/host/ssh_host_ed25519_key").write_text("")
            (self.root / "etc/ssh/ssh_host_ed25519_key").write_text(incomplete_key)
            self.set_up("")
            for place in ("etc/ssh", "var/lib/rookery/host"):
                self.assertEqual(self.text(place + "/ssh_host_ed25519_key"), host_key("new"))
                self.assertEqual(self.text(place + "/ssh_host_ed25519_key.pub"), "ssh-ed25519 new\n")
        self.assertEqual(list((self.root / "run/rookery-image").glob("ssh_host*key")), [])

    def test_a_host_name_reserved_by_ansible_is_refused_unless_the_machine_has_it(self):
        for name in ("localhost", "All", "ungrouped", "rookery"):
            self.assertIn("use another name", self.set_up(f'hostname = "{name}"'))
            self.assertEqual(self.text("etc/hostname"), "rookery-b2c3d4\n")
        (self.root / "etc/hostname").write_text("rookery\n")
        self.assertIn("keeps the name", self.set_up('hostname = "Rookery"'))
        self.assertEqual(self.text("etc/hostname"), "rookery\n")

    def test_an_invalid_config_json_is_reported_and_moved_aside(self):
        (self.root / "var/lib/rookery/config.json").write_text('{"listen": "https://0.0.0.0:8443",}')
        self.assertIn("config.json.wrong", self.set_up('memory = "128M"'))
        self.assertEqual(self.text("var/lib/rookery/config.json.wrong"), '{"listen": "https://0.0.0.0:8443",}')
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["memory"], "128M")
        self.assertIn("no problems found", self.set_up('memory = "128M"'))

    def test_a_cluster_phrase_is_stored_beside_the_data_and_covered(self):
        self.assertIn("no problems found", self.set_up('[cluster]\nname = "home"\nexpect = 3\nphrase = "correct horse battery"'))
        self.assertIn(f'phrase = "{"*" * 21}"', self.toml.read_text(encoding="utf-8"))
        self.assertEqual(self.text("var/lib/rookery/form-phrase"), "correct horse battery\n")
        self.assertEqual((self.root / "var/lib/rookery/form-phrase").stat().st_mode & 0o777, 0o600)
        form = {"expect": 3, "phraseFile": "/var/lib/rookery/form-phrase"}
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["form"], form)
        self.assertIn("no problems found", first_boot.set_up(self.machine, self.boot))
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["form"], form)
        self.set_up('[cluster]\nname = "home"')
        self.assertNotIn("form", json.loads(self.text("var/lib/rookery/config.json")))

    def test_a_covered_phrase_of_another_machine_is_reported_and_forms_no_cluster(self):
        self.assertIn("cluster.phrase: the phrase is covered with *", self.set_up('[cluster]\nexpect = 3\nphrase = "*********************"'))
        self.assertNotIn("form", json.loads(self.text("var/lib/rookery/config.json")))

    def test_a_phrase_that_is_too_short_is_not_in_the_report(self):
        self.assertNotIn("horse", self.set_up('[cluster]\nexpect = 3\nphrase = "horse"'))

    def test_a_token_starts_the_joining_unit_until_it_is_covered(self):
        unit = (Path(__file__).parents[1] / "files/usr/lib/systemd/system/rookery-found.service").read_text(encoding="utf-8")
        self.assertIn(f"ConditionPathExists=|{first_boot.HAS_TOKEN}\n", unit)
        for token, is_marked in (("", False), ("*******************", False), ("rookery-join-1.abc", True)):
            self.set_up(f'[cluster]\ntoken = "{token}"' if token else "")
            self.assertEqual(self.machine.path(first_boot.HAS_TOKEN).exists(), is_marked)

    def test_configuration_entries_of_ansible_are_kept(self):
        (self.root / "var/lib/rookery/config.json").write_text('{"data": "/elsewhere", "publicUrl": "https://x"}')
        self.set_up('memory = "128M"')
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json")), {"data": "/elsewhere", "publicUrl": "https://x", "memory": "128M"})

    def test_a_configuration_entry_from_elsewhere_is_not_changed_and_is_reported(self):
        file = self.root / "var/lib/rookery/config.json"
        self.set_up('memory = "128M"')
        file.write_text('{"memory": "200M", "peers": "10.0.0.9:9443"}')
        for text in ('memory = "128M"\n[cluster]\nseeds = ["10.0.0.1:9443"]', 'memory = "150M"\n[cluster]\nseeds = ["10.0.0.1:9443"]'):
            report = self.set_up(text)
            self.assertIn("- memory: /var/lib/rookery/config.json has another value", report)
            self.assertIn("- cluster.seeds: /var/lib/rookery/config.json has another value", report)
            self.assertEqual(file.read_text(), '{"memory": "200M", "peers": "10.0.0.9:9443"}')
        self.assertIn("no problems found", self.set_up('hostname = "pi-1"'))
        self.assertEqual(file.read_text(), '{"memory": "200M", "peers": "10.0.0.9:9443"}')

    def test_a_setting_that_was_removed_from_the_file_is_removed_from_the_configuration(self):
        self.set_up('memory = "128M"\n[cluster]\nseeds = ["10.0.0.1:9443"]')
        self.set_up('memory = "150M"\n[cluster]\nseeds = ["10.0.0.1:9443"]')
        for text in ('memory = 150\n[cluster]\nseeds = ["10.0.0.1"]', "[clustr]", "broken"):
            self.set_up(text)
            self.assertEqual(json.loads(self.text("var/lib/rookery/config.json")), {"data": "/var/lib/rookery/data", "memory": "150M", "peers": "10.0.0.1:9443"}, text)
        self.set_up('hostname = "pi-1"')
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json")), {"data": "/var/lib/rookery/data"})

    def test_redis_clients_are_served_where_the_file_says(self):
        self.set_up('[redis]\nlisten = "[::]:6379"')
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["redis"], {"listen": "[::]:6379"})
        self.set_up('[redis]\nlisten = "6379"\ndatabase = "cache"')
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["redis"], {"listen": "6379", "database": "cache"})
        self.assertIn("redis.listen", self.set_up('[redis]\nlisten = "here"'))
        self.assertIn("redis.database: it has no use without redis.listen", self.set_up('[redis]\ndatabase = "cache"'))
        self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["redis"]["listen"], "6379")
        self.set_up("")
        self.assertNotIn("redis", json.loads(self.text("var/lib/rookery/config.json")))

    def test_a_port_for_redis_clients_that_the_firewall_keeps_closed_is_reported(self):
        firewall = (Path(__file__).parents[1] / "files/etc/nftables.conf").read_text(encoding="utf-8")
        (self.root / "etc/nftables.conf").write_text(firewall)
        for listen in ("6379", "127.0.0.1:6379", "[::1]:6379"):
            self.assertIn("no problems found", self.set_up(f'[redis]\nlisten = "{listen}"'))
        for listen in ("[::]:6379", "192.168.1.5:6379"):
            self.assertIn("- redis.listen: the firewall lets no other machine reach port 6379.", self.set_up(f'[redis]\nlisten = "{listen}"'))
        # Set by Ansible, or by hand.
        (self.root / "var/lib/rookery/config.json").write_text('{"redis": {"listen": "0.0.0.0:6380"}}')
        self.assertIn("reach port 6380.", self.set_up(""))
        (self.root / "var/lib/rookery/config.json").write_text('{"redis": {"listen": "here:6380"}}')
        self.assertIn("no problems found", self.set_up(""))
        (self.root / "var/lib/rookery/config.json").unlink()
        (self.root / "etc/nftables.d").mkdir()
        (self.root / "etc/nftables.d/redis.nft").write_text("add rule inet rookery input tcp dport 6379 jump from_near\n")
        self.assertIn("no problems found", self.set_up('[redis]\nlisten = "[::]:6379"'))

    def test_an_equal_configuration_in_another_layout_is_not_rewritten(self):
        file = self.root / "var/lib/rookery/config.json"
        self.set_up('memory = "128M"')
        file.write_text('{\n    "memory": "128M",\n    "data": "/var/lib/rookery/data"}')
        before = file.stat()
        self.set_up('memory = "128M"')
        self.assertEqual((file.stat().st_ino, file.stat().st_mtime_ns), (before.st_ino, before.st_mtime_ns))

    def test_memory_with_which_a_node_does_not_start_is_reported_and_not_used(self):
        (self.root / "proc/meminfo").write_text("MemTotal:         949356 kB\nMemFree: 1 kB\n")
        for memory, problem in (("64M", "- memory: '64M' must be a size such as \"256M\", at least \"96M\""), ("1G", "- memory: 1G is more than half of this machine's memory, 463M"), ("98303K", "- memory: '98303K'"), ("many", "- memory: 'many'")):
            with self.subTest(memory):
                self.assertIn(problem, self.set_up(f'memory = "{memory}"'))
                self.assertNotIn("memory", json.loads(self.text("var/lib/rookery/config.json")))
        (self.root / "proc/meminfo").write_text("MemTotal:         4000000 kB\n")
        self.set_up('memory = "1G"')
        (self.root / "proc/meminfo").write_text("MemTotal:         949356 kB\n")
        self.set_up('memory = "1G"')
        self.assertNotIn("memory", json.loads(self.text("var/lib/rookery/config.json")))
        for memory in ("96M", "463M"):
            self.assertIn("no problems found", self.set_up(f'memory = "{memory}"'))
            self.assertEqual(json.loads(self.text("var/lib/rookery/config.json"))["memory"], memory)

    def test_the_owners_lines_in_etc_hosts_stay(self):
        self.set_up('hostname = "pi-1"')
        self.assertIn("127.0.1.1 pi-1\n", self.text("etc/hosts"))
        hosts = self.root / "etc/hosts"
        hosts.write_text("# mine\n127.0.0.1 localhost\n127.0.1.1 pi-1 printer.home\n192.168.1.5 nas # the NAS\n")
        for name in ("pi-1", "pi-2", "pi-2"):
            self.set_up(f'hostname = "{name}"')
            self.assertEqual(hosts.read_text(), f"# mine\n127.0.0.1 localhost\n127.0.1.1 {name} printer.home\n192.168.1.5 nas # the NAS\n")
        hosts.write_text("127.0.0.1 localhost\n10.0.0.1 router\n")
        self.set_up('hostname = "pi-2"')
        self.assertEqual(hosts.read_text(), "127.0.0.1 localhost\n127.0.1.1 pi-2\n10.0.0.1 router\n")
        hosts.write_text("127.0.1.1 rookery\n127.0.1.1 pi-2 other\n")
        self.set_up('hostname = "pi-3"')
        self.assertEqual(hosts.read_text(), "127.0.1.1 pi-3\n127.0.1.1 other\n")

    def test_seeds_that_the_machine_cannot_resolve_are_refused(self):
        for seed in ("pi-1.local:9443", "PI-1.Local.:9443", "pi-1:9443", "fd00::1:9443", "[192.168.1.1]:9443", "300.1.1.1:9443", "a..b:9443", "192.168.1.11", "192.168.1.11:0"):
            with self.subTest(seed):
                self.assertIn("names under .local are not resolved (line 2)", self.set_up(f'[cluster]\nseeds = ["{seed}"]\n'))
        for seed in ("192.168.1.11:9443", "[fd00::11]:9443", "pi-1.fritz.box:9443"):
            with self.subTest(seed):
                self.assertIn("no problems found", self.set_up(f'[cluster]\nseeds = ["{seed}"]\n'))

    def test_capitals_of_a_host_name_are_reported(self):
        report = self.set_up('hostname = "Pi-One"')
        self.assertEqual(self.text("etc/hostname"), "pi-one\n")
        self.assertIn("- hostname: the capitals of 'Pi-One' are not used: the machine is called pi-one\n", report)

    def test_the_welcome_page_gets_what_is_wrong_with_the_settings_and_nothing_about_the_machine(self):
        (self.root / "run/rookery-image/no-data").touch()
        (self.root / "boot/firmware/user-data").write_text('hostname: "0123"\ntimezone: "Zu\\nlu"\nlocale: de_DE\n')
        self.set_up('hostname = "Pi-One"\ntimezone = "Zulu"\ncolour = "blue"\n')
        notes = self.text("run/rookery-image/settings-notes.txt")
        for place in ("timezone: 'Zulu' must be", "colour: there is no such setting", "user-data: '0123' (line 1)", "user-data: 'Zu lu' (line 2)", "'locale' (line 3) is not used", "hostname: the capitals"):
            self.assertIn(place, notes)
        self.assertNotIn("data partition", notes)
        (self.root / "boot/firmware/user-data").unlink()
        self.set_up('hostname = "pi-1"')
        self.assertEqual(self.text("run/rookery-image/settings-notes.txt"), "")

    def test_no_unit_that_a_person_waits_for_waits_for_the_network(self):
        units = Path(__file__).parents[1] / "files/usr/lib/systemd/system"
        for unit in units.glob("rookery*"):
            if unit.is_file():
                settings = [line for line in unit.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
                self.assertNotIn("network-online.target", "\n".join(settings), unit.name)
        self.assertIn("\nPathChanged=/run/systemd/netif/state\n", (units / "rookery-greeting.path").read_text(encoding="utf-8"))
        self.assertIn("--any ", (units / "systemd-networkd-wait-online.service.d/image.conf").read_text(encoding="utf-8"))

    def test_problems_name_the_lines_of_their_settings(self):
        text = ('\ufeff# a comment\r\nhostname = "a_b"\r\n[ssh]\r\nuser = "root"\r\nkeys = [\r\n  "ssh-ed25519 AAAA=",\r\n]\r\n[wifi]\r\ncountry = "DE"\r\n'
                '[[wifi.networks]]\r\nssid = "a"\r\npassphrase = "correct horse"\r\n[[wifi.networks]]\r\nssid = "b"\r\npassphrase = "short"\r\n[cluster]\r\nexpect = 1\r\n')
        report = self.set_up(text)
        for place, line in (("hostname: ", 2), ("ssh.user: ", 4), ("ssh.keys: ", 5), ("wifi.networks, number 2: passphrase: ", 15), ("cluster.expect: ", 17)):
            self.assertRegex(report, rf"- {place}.*\(line {line}\)\n")

    def test_files_that_are_not_read_under_their_names_are_reported(self):
        boot = self.root / "boot/firmware"
        # Names as browsers and editors of Windows and macOS write them.
        for name in ("rookery.toml.txt", "Rookery (1).toml", "copy of rookery.toml", "rookery.txt", "user-data.yaml", "network-config.txt", "boot.env.txt", "config.txt.txt"):
            (boot / name).write_text('hostname = "pi-7"')
            with self.subTest(name):
                self.assertIn(f"- {name} is not read: settings are read from ", self.set_up(""))
            (boot / name).unlink()
        for name in ("wpa_supplicant.conf", "ssh", "userconf.txt", "firstrun.sh", "vendor-data", "authorized_keys", "id_ed25519.pub", "Home.nmconnection"):
            (boot / name).write_text("x")
            with self.subTest(name):
                self.assertIn(f"- {name} is not used: ", self.set_up(""))
            (boot / name).unlink()
        for name in ("rookery-first-boot.log", "user-data", "network-config", "meta-data", "config.txt", "boot.env", "._rookery.toml", "start.elf"):
            (boot / name).write_text("")
        self.assertNotIn(" is not ", self.set_up("").replace("user-data contains", ""))

    def test_lines_of_boot_env_that_u_boot_does_not_use_are_reported(self):
        file = self.root / "boot/firmware/boot.env"
        for text in ("extra=usbcore.quirks=1:2:u quiet\r\n", "# extra=x\n\n  extra=a"):
            file.write_text(text)
            self.assertIn("no problems found", self.set_up(""))
        for data, sentence in ((b"quiet\n", "- boot.env: line 1 is not used: only extra=PARAMETERS is"), (b"\nextra = quiet", "- boot.env: line 2 is not used: only"),
                               (b"extra=a\n#\nextra=b\n", "- boot.env: line 1 is not used, because line 3 sets extra= again"), (b"EXTRA=a", "line 1 is not used: only"),
                               (b"\xef\xbb\xbfextra=a", "line 1 is not used, because the file begins with a byte order mark"), ("extra=a".encode("utf-16"), "- boot.env is not UTF-8 text")):
            file.write_bytes(data)
            with self.subTest(data):
                self.assertIn(sentence, self.set_up(""))

    def test_a_setting_that_fails_does_not_prevent_the_others(self):
        (self.root / "etc/hostname").mkdir()
        report = self.set_up('timezone = "Europe/Berlin"')
        self.assertIn("Setting the host name failed", report)
        self.assertTrue((self.root / "etc/localtime").is_symlink())

    def test_an_unused_data_partition_is_reported_and_no_configuration_is_written(self):
        (self.root / "run/rookery-image/no-data").touch()
        (self.root / "run/rookery-image/data.log").write_text("/dev/mmcblk0p4 holds something\n")
        self.assertIn("/dev/mmcblk0p4 holds something", self.set_up('memory = "128M"'))
        self.assertEqual(list((self.root / "var/lib/rookery").iterdir()), [])


class Wifi(Directory):
    def test_a_country_by_the_time_zone_is_told(self):
        (self.root / "usr/share/zoneinfo/zone.tab").write_text("DE\t+5230+01322\tEurope/Berlin\n", encoding="utf-8")
        report = self.set_up('timezone = "Europe/Berlin"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n')
        self.assertIn("Wi-Fi:    home (country DE, by the time zone)\n", report)
        self.assertIn("country=DE\n", self.text(self.CONFIGURATION))
        # Another country that was given comes first, also from Raspberry Pi Imager.
        (self.root / "boot/firmware/network-config").write_text("network:\n  wifis:\n    wlan0:\n      regulatory-domain: FR\n      access-points:\n        guests:\n          password: correct horse\n")
        self.assertIn("country=FR\n", (self.set_up('timezone = "Europe/Berlin"\n[[wifi.networks]]\nssid = "home"\npassphrase = "correct horse"\n'), self.text(self.CONFIGURATION))[1])

    def test_each_radio_has_a_name_that_the_network_settings_and_wpa_supplicant_match(self):
        files = Path(__file__).parents[1] / "files"
        # Without it Debian names a USB radio wlx and its address, and nothing starts wpa_supplicant for it.
        link = (files / "etc/systemd/network/10-wireless.link").read_text(encoding="utf-8")
        self.assertRegex(link, r"(?m)^Type=wlan$")
        self.assertRegex(link, r"(?m)^NamePolicy=$")
        self.assertIn("Name=wl*", (files / "etc/systemd/network/25-wireless.network").read_text(encoding="utf-8"))
        self.assertTrue((files / "usr/lib/systemd/system/wpa_supplicant@wlan0.service.d").is_dir())

    CONFIGURATION = "etc/wpa_supplicant/wpa_supplicant-wlan0.conf"
    COUNTRY = '[wifi]\ncountry = "DE"\n'

    @staticmethod
    def network(name: str, passphrase: str) -> str:
        return f'[[wifi.networks]]\nssid = "{name}"\npassphrase = "{passphrase}"\n'

    def test_wpa_supplicant_starts_also_at_the_first_boot_after_its_networks_are_written(self):
        units = Path(__file__).parents[1] / "files/usr/lib/systemd/system"
        self.assertEqual((units / "sys-subsystem-net-devices-wlan0.device.wants/wpa_supplicant@wlan0.service").readlink(), Path("../wpa_supplicant@.service"))
        drop_in = (units / "wpa_supplicant@wlan0.service.d/image.conf").read_text(encoding="utf-8")
        self.assertIn(f"\nConditionPathExists={system.WIFI}\n", drop_in)
        self.assertIn("\nAfter=rookery-setup.service\n", drop_in)
        self.set_up(COMPLETE_FILE)
        # A unit that the setup enables during the boot would start only at the next one, so it enables none.
        self.assertFalse((self.root / "etc/systemd").exists())

    def test_a_network_that_was_removed_from_the_file_is_removed(self):
        self.set_up(self.COUNTRY + self.network("home", "correct horse") + self.network("office", "battery staple"))
        self.set_up(self.COUNTRY + self.network("office", "*" * 14))
        self.assertNotIn(b"home".hex(), self.text(self.CONFIGURATION))
        self.assertIn('psk="battery staple"', self.text(self.CONFIGURATION))
        self.assertIn("Wi-Fi:    none", self.set_up('hostname = "pi-1"'))
        self.assertFalse((self.root / self.CONFIGURATION).exists())

    def test_networks_stay_while_the_file_is_in_doubt(self):
        self.set_up(self.COUNTRY + self.network("home", "correct horse"))
        before = self.text(self.CONFIGURATION)
        for text in ("broken", "[[wifi.networks]]\nssid = 5", "[wfi]", self.network("home", "*" * 13), '[wifi]\ncountry = "de"'):
            with self.subTest(text):
                self.assertIn("Wi-Fi:    as before", self.set_up(text))
                self.assertEqual(self.text(self.CONFIGURATION), before)
        self.toml.unlink()
        first_boot.set_up(self.machine, self.boot)
        self.assertEqual(self.text(self.CONFIGURATION), before)


if __name__ == "__main__":
    unittest.main()
