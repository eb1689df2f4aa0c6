#!/usr/bin/python3
"""Tests the checks of an update bundle before the first machine changes (roles/node/tasks/bundle_check.yml), on this machine and with an invented image:
ansible/tests/bundle_test.py

It runs with Debian's Python, where Debian's Ansible is installed."""

import base64
import io
import json
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

tasks = pathlib.Path(__file__).resolve().parents[1] / "roles/node/tasks/bundle_check.yml"
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

    def test_A_bundle_is_compared_by_its_release_and_an_older_one_is_refused(self):
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "tasks": [self.case(number, *case[:3]) for number, case in enumerate(CASES)]}
        playbook = self.directory / "play.json"
        playbook.write_text(json.dumps([play]))
        # All cases in one run, because each start of Ansible takes seconds.
        run = subprocess.run(
            ["ansible-playbook", "-i", "localhost,", playbook], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, cwd=self.directory
        )
        for number, case in enumerate(CASES):
            with self.subTest(case):
                line = next((line for line in run.stdout.splitlines() if "CASE %d: " % number in line), run.stdout)
                self.assertIn(case[3], line)


if __name__ == "__main__":
    unittest.main()
