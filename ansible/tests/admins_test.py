#!/usr/bin/python3
"""Tests the administrators of the role `base` (roles/base/tasks/admins.yml), on this machine: ansible/tests/admins_test.py

It needs root and sudo, because it runs with an /etc and a /home of its own, which vanish with it."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

collection = pathlib.Path(__file__).resolve().parents[1]
# Prints what a run left, as shell commands see it.
LOOK = """
for name in anna ann.b berta account carl; do
  home=$(getent passwd $name | cut -d: -f6)
  [ -z "$home" ] || echo "$name keys: $(cat $home/.ssh/authorized_keys 2>/dev/null | tr '\\n' ' ') owner: $(stat --format=%U:%G $home/.ssh 2>/dev/null) shell: $(getent passwd $name | cut -d: -f7)"
  [ -z "$home" ] || sudo -l -U $name | grep -o 'NOPASSWD: ALL' | sed "s/^/$name /" || true
done
ls /etc/sudoers.d
getent group sudo
"""


@unittest.skipUnless(os.geteuid() == 0 and shutil.which("visudo"), "needs root and sudo")
class Admins(unittest.TestCase):
    def run_role(self, *runs, before="", image=False, connection=""):
        """Runs the role once for each list of administrators, in one /etc. Returns Ansible's output of the runs, and what LOOK prints at the end. `connection` is the account that became root."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "ansible_collections/rookery").mkdir(parents=True)
            (directory / "ansible_collections/rookery/cluster").symlink_to(collection)
            lines = ["mount -t tmpfs tmpfs $1", "mkdir $1/upper $1/work", "mount -t overlay -o lowerdir=/etc,upperdir=$1/upper,workdir=$1/work overlay /etc"]
            lines += ["mount -t tmpfs tmpfs /home", "rm -f /etc/sudoers.d/rookery-*", "touch /etc/rookery-image" if image else "", before]
            for number, admins in enumerate(runs):
                parts = ["main"] if image else ["admins_check", "admins"]
                tasks = [{"ansible.builtin.include_role": {"name": "rookery.cluster.base", "tasks_from": part}} for part in parts]
                play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": tasks, "environment": {"SUDO_USER": connection}}
                play["vars"] = admins if isinstance(admins, dict) else {"rookery_admins": admins}
                (directory / ("play%d.json" % number)).write_text(json.dumps([play]))
                lines.append("ansible-playbook -i localhost, play%d.json || true" % number)
            (directory / "etc").mkdir()
            result = subprocess.run(
                ["unshare", "--mount", "sh", "-euc", "\n".join(lines) + "\necho LOOK\n" + LOOK, "sh", directory / "etc"],
                cwd=directory,
                env={**os.environ, "ANSIBLE_COLLECTIONS_PATH": name, "ANSIBLE_NOCOWS": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=300,
            )
        output, _, look = result.stdout.partition("LOOK\n")
        self.assertEqual(result.returncode, 0, result.stdout)
        return output, look

    def test_An_existing_account_keeps_its_home_and_group_and_shell(self):
        anna = {"name": "anna", "keys": ["ssh-ed25519 A anna"], "passwordless_sudo": True}
        output, look = self.run_role([anna], [anna], before="groupadd staff-of-house; useradd --create-home --home-dir /home/elsewhere --gid staff-of-house --shell /bin/dash anna")
        self.assertIn("anna keys: ssh-ed25519 A anna  owner: anna:staff-of-house shell: /bin/dash", look, output)
        self.assertIn("anna NOPASSWD: ALL", look)
        self.assertIn("changed=0", output.splitlines()[-2] + output.splitlines()[-1], output)

    def test_A_name_with_a_dot_gets_a_rule_that_sudo_reads(self):
        _, look = self.run_role([{"name": "ann.b", "keys": [], "passwordless_sudo": True}])
        self.assertIn("ann.b NOPASSWD: ALL", look)
        self.assertIn("rookery-admin-ann%2eb", look)

    def test_With_a_password_sudo_asks_for_it(self):
        output, look = self.run_role([{"name": "berta", "keys": [], "password_hash": "$6$salt$hash"}])
        self.assertNotIn("berta NOPASSWD", look, output)
        self.assertRegex(look, "berta keys: .* shell: /bin/bash\n")
        self.assertIn(":berta", look)

    def test_An_admin_called_account_leaves_the_image_s_own_rule(self):
        before = 'echo "me ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/rookery-account'
        output, look = self.run_role([{"name": "account", "keys": [], "passwordless_sudo": True}], before=before)
        self.assertIn("rookery-account\n", look, output)
        self.assertIn("rookery-admin-account\n", look)

    def test_Rules_of_earlier_versions_are_replaced(self):
        before = 'for name in anna carl; do echo "$name ALL=(ALL:ALL) NOPASSWD: ALL" >/etc/sudoers.d/rookery-$name; done'
        output, look = self.run_role([{"name": "anna", "keys": [], "passwordless_sudo": True}], before=before)
        self.assertIn("rookery-admin-anna", look, output)
        self.assertNotIn("rookery-anna", look)
        self.assertNotIn("rookery-carl", look)

    def test_What_is_no_longer_wanted_is_removed_and_told(self):
        anna = {"name": "anna", "keys": ["ssh-ed25519 A", "ssh-ed25519 B"], "passwordless_sudo": True}
        carl = {"name": "carl", "keys": ["ssh-ed25519 C"], "passwordless_sudo": True}
        output, look = self.run_role([anna, carl], [{**anna, "keys": ["ssh-ed25519 B"]}], before="useradd --create-home carl; mkdir /home/carl/.ssh; echo own >/home/carl/.ssh/authorized_keys")
        self.assertIn("anna keys: ssh-ed25519 B ", look, output)
        self.assertIn("carl keys: own ", look)
        self.assertNotIn("carl NOPASSWD", look)
        self.assertRegex(look, "sudo:.*:anna\n")
        self.assertIn("no longer administrators: carl", output)
        output, look = self.run_role([anna], [])
        self.assertIn("anna keys:  ", look, output)
        self.assertNotIn("rookery-admin-anna", look)

    def test_The_administrator_of_the_connection_is_not_removed(self):
        anna = {"name": "anna", "keys": ["ssh-ed25519 A"], "passwordless_sudo": True}
        carl = {"name": "carl", "keys": ["ssh-ed25519 C"], "passwordless_sudo": True}
        output, look = self.run_role([anna], [carl], connection="anna")
        self.assertIn("anna, as whom Ansible is connected to localhost, was added by an earlier run", " ".join(output.split()))
        self.assertIn("anna keys: ssh-ed25519 A ", look)
        self.assertIn("anna NOPASSWD: ALL", look)
        self.assertNotIn("carl keys", look)
        # Added by a version without a record.
        before = 'useradd --create-home anna; echo "anna ALL=(ALL:ALL) NOPASSWD: ALL" >/etc/sudoers.d/rookery-anna'
        _, look = self.run_role([], before=before, connection="anna")
        self.assertIn("anna NOPASSWD: ALL", look)

    def test_What_a_run_that_failed_had_added_is_removed_by_the_next(self):
        anna = {"name": "anna", "keys": ["ssh-ed25519 A"], "passwordless_sudo": True}
        # The rule for sudo cannot be written.
        before = "mkdir -p /etc/sudoers.d/rookery-admin-anna/in-the-way"
        output, look = self.run_role([anna], before=before)
        self.assertIn("anna keys: ssh-ed25519 A ", look, output)
        output, look = self.run_role([anna], [], before=before)
        self.assertIn("anna keys:  ", look, output)

    def test_Names_of_the_system_and_an_open_choice_are_refused_before_anything_changes(self):
        for admin, sentence in (
            ({"name": "daemon", "keys": [], "passwordless_sudo": True}, "daemon is an account of the system"),
            ({"name": "adm", "keys": [], "passwordless_sudo": True}, "adm is a group of the system"),
            ({"name": "Anna", "keys": [], "passwordless_sudo": True}, "'Anna' is no name of an administrator"),
            ({"name": "anna", "keys": []}, "anna needs either `password_hash`"),
        ):
            output, look = self.run_role([{"name": "carl", "keys": ["k"], "passwordless_sudo": True}, admin])
            self.assertIn(sentence, " ".join(output.split()))
            self.assertNotIn("carl keys", look)

    def test_Variables_without_effect_on_the_image_are_told(self):
        variables = {"rookery_timezone": "Europe/Berlin", "rookery_packages": ["vim"], "rookery_node_exporter_listen": "0.0.0.0:9100", "rookery_cluster_name": "attic"}
        output, _ = self.run_role(variables, image=True)
        self.assertIn("these variables have no effect: rookery_timezone, rookery_packages, rookery_node_exporter_listen, rookery_cluster_name. Its", " ".join(output.split()))
        output, _ = self.run_role({"rookery_admins": []}, image=True)
        self.assertNotIn("these variables have no effect", output)


if __name__ == "__main__":
    unittest.main()
