#!/usr/bin/python3
"""Tests the checks of an update bundle before the first machine changes (roles/node/tasks/bundle_check.yml), on this machine and with an invented image:
ansible/tests/bundle_test.py

It runs with Debian's Python, where Debian's Ansible is installed."""

import base64
import importlib.util
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

# Without this, Python would write a cache directory beside the plugin.
sys.dont_write_bytecode = True
ansible = pathlib.Path(__file__).resolve().parents[1]
tasks = ansible / "roles/node/tasks/bundle_check.yml"
spec = importlib.util.spec_from_file_location("near", ansible / "plugins/filter/near.py")
near = importlib.util.module_from_spec(spec)
spec.loader.exec_module(near)
architecture = subprocess.run(["dpkg", "--print-architecture"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()


# The release that a machine runs, as its /etc/rookery-image says.
RENEWED = "version=0.2.0\nrelease=0.2.0+os20261101.1200\narchitecture=%s\nlocked=2026-11-01\n" % architecture
# An image of the first version had no release.
FIRST = "version=0.1.0\nlocked=2026-11-01\n"
# /etc/rookery-image, the bundle's release, whether an older one may be installed, and what becomes of it.
CASES = (
    (RENEWED, "0.2.0+os20261126.1412", False, "upgrade"),
    (RENEWED, "0.2.0+os20261101.1200", False, "up to date"),
    (FIRST, "0.1.0+os20261126.1412", False, "upgrade"),
    (RENEWED, "0.2.0+os20261101.1159", False, "To install it nevertheless: -e rookery_downgrade=true"),
    (RENEWED, "0.1.9+os20261126.1412", False, "To install it nevertheless: -e rookery_downgrade=true"),
    (RENEWED, "0.2.0+os20261101.1159", True, "upgrade"),
)


class BundleCheck(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def bundle(self, release):
        """Creates a bundle that has only a manifest."""
        path = self.directory / ("rookery-%s-%s.update.tar" % (release, architecture))
        manifest = json.dumps({"version": release.split("+os")[0], "release": release, "architecture": architecture}).encode()
        with tarfile.open(path, "w") as archive:
            member = tarfile.TarInfo("manifest.json")
            member.size = len(manifest)
            archive.addfile(member, io.BytesIO(manifest))
        return str(path)

    def case(self, number, image, release, downgrade):
        """Returns the tasks that check a bundle against a machine with this /etc/rookery-image, and print the result after `CASE number: `."""
        result = "{{ 'up to date' if rookery_bundle_release == node_release else 'upgrade' }}"
        return {
            "vars": {
                "rookery_bundle": self.bundle(release),
                "rookery_bundle_release": release,
                "rookery_downgrade": downgrade,
                "upgrade_image": {"content": base64.b64encode(image.encode()).decode()},
            },
            "block": [{"ansible.builtin.include_tasks": str(tasks)}, {"ansible.builtin.debug": {"msg": "CASE %d: %s" % (number, result)}}],
            "rescue": [{"ansible.builtin.debug": {"msg": "CASE %d: {{ ansible_failed_result.msg }}" % number}}],
        }

    def run_cases(self, cases, source=None):
        """Checks that each case ends as it says, on a machine that is called by SSH from `source`, or not by SSH."""
        blocks = [self.case(number, *case[:3]) for number, case in enumerate(cases)]
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": blocks}
        playbook = self.directory / "play.json"
        playbook.write_text(json.dumps([play]))
        # The roles name the collection's filters by its name.
        collections = self.directory / "ansible_collections/rookery"
        collections.mkdir(parents=True, exist_ok=True)
        if not (collections / "cluster").exists():
            (collections / "cluster").symlink_to(ansible)
        environment = {name: value for name, value in os.environ.items() if name != "SSH_CONNECTION"}
        environment["ANSIBLE_COLLECTIONS_PATH"] = str(self.directory)
        if source:
            environment["SSH_CONNECTION"] = source + " 50000 192.168.1.11 22"
        # All cases in one run, because each start of Ansible takes seconds.
        run = subprocess.run(
            ["ansible-playbook", "-i", "localhost,", playbook],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=self.directory,
            env=environment,
        )
        for number, case in enumerate(cases):
            with self.subTest(case):
                line = next((line for line in run.stdout.splitlines() if "CASE %d: " % number in line), run.stdout)
                self.assertIn(case[3], line)

    def test_A_bundle_is_compared_by_its_release_and_an_older_one_is_refused(self):
        self.run_cases(CASES)

    def test_An_upgrade_that_would_lock_out_a_caller_from_the_Internet_is_refused(self):
        newer, same = "0.2.0+os20261126.1412", "0.2.0+os20261101.1200"
        refusal = "localhost is called by SSH from 203.0.113.7, which is neither"
        self.run_cases([(RENEWED, newer, False, refusal), (FIRST, newer, False, refusal), (RENEWED, same, False, "up to date")], "203.0.113.7")
        self.run_cases([(RENEWED, newer, False, "upgrade")], "192.168.1.5")

    def test_A_caller_is_near_in_private_and_attached_networks_only(self):
        routes = [
            '[{"dst": "default", "gateway": "192.168.1.1"}, {"dst": "198.51.100.0/24", "dev": "eth0"}, {"type": "unreachable", "dst": "203.0.112.0/24"}]',
            '[{"dst": "2001:db8:1::/64", "dev": "eth0"}, {"dst": "2001:db8:2::/64", "gateway": "fe80::1"}, {"dst": "default", "dev": "ppp0"}]',
            "",
        ]
        for source in ("10.0.0.1", "100.64.0.3", "198.51.100.9", "fd00::1", "fe80::1%eth0", "2001:db8:1::9", "127.0.0.1", "unknown"):
            self.assertTrue(near.is_near(source, routes), source)
        for source in ("203.0.113.7", "203.0.112.1", "2001:db8:2::1", "2001:db8:9::1", "::ffff:203.0.113.7"):
            self.assertFalse(near.is_near(source, routes), source)

    def test_The_playbook_and_the_machine_know_the_same_private_networks(self):
        machine = (ansible.parent / "image/files/usr/lib/rookery-image/slot/caller.py").read_text()
        for network in near.PRIVATE:
            self.assertIn('"%s"' % network, machine)


if __name__ == "__main__":
    unittest.main()
