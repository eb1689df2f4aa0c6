#!/usr/bin/python3
"""Tests the copy of a package before the first machine changes (roles/node/tasks/package.yml), on this machine: ansible/tests/package_test.py

It needs root, because it has a /var/cache of its own. It runs with Debian's Python, where Debian's Ansible is installed."""

import hashlib
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

tasks = pathlib.Path(__file__).resolve().parents[1] / "roles/node/tasks/package.yml"


@unittest.skipUnless(os.geteuid() == 0, "needs root")
class Package(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def package(self, version):
        """Creates a package that has only a version."""
        root, path = self.directory / version, self.directory / ("rookery_%s.deb" % version)
        (root / "DEBIAN").mkdir(parents=True)
        (root / "DEBIAN/control").write_text("Package: rookery\nVersion: %s\nArchitecture: all\nMaintainer: none\nDescription: none\n" % version)
        subprocess.run(["dpkg-deb", "--build", root, path], stdout=subprocess.DEVNULL, check=True)
        return path

    def check(self, package, cached):
        """Returns what `--check` with a package says about a machine that has version 2 installed and `cached` in /var/cache/rookery."""
        variables = {
            "rookery_package": str(package or ""),
            "rookery_package_sha256": hashlib.sha256(package.read_bytes()).hexdigest() if package else "",
            "rookery_upgrade": True,
            "rookery_downgrade": False,
            "node_installed": {"stdout": "installed 2"},
        }
        result = "RESULT version {{ node_version.stdout | default('unknown') }}"
        block = {"block": [{"ansible.builtin.include_tasks": str(tasks)}, {"ansible.builtin.debug": {"msg": result}}]}
        block["rescue"] = [{"ansible.builtin.debug": {"msg": "RESULT {{ ansible_failed_result.msg }}"}}]
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": variables, "tasks": [block]}
        playbook = self.directory / "play.json"
        playbook.write_text(json.dumps([play]))
        own_cache = 'mount -t tmpfs -o size=4m tmpfs /var/cache; mkdir /var/cache/rookery; cp "$1" /var/cache/rookery/rookery.deb'
        script = own_cache + '; exec ansible-playbook --check -i localhost, "$2"'
        run = subprocess.run(
            ["unshare", "--mount", "sh", "-euc", script, "sh", cached, playbook],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            cwd=self.directory,
        )
        return next((line for line in run.stdout.splitlines() if "RESULT" in line), run.stdout)

    def test_A_check_does_not_judge_another_package_that_was_refused(self):
        refused, good = self.package("1"), self.package("3")
        self.assertIn("RESULT version unknown", self.check(good, cached=refused))
        self.assertIn("rookery_1.deb is older than 2", self.check(refused, cached=refused))
        self.assertIn("RESULT version 3", self.check(good, cached=good))

    def test_A_machine_with_plain_Debian_needs_a_package_and_not_a_bundle(self):
        self.assertIn("RESULT localhost runs plain Debian, and rookery_package, the package to install there, is empty", self.check(None, cached=self.package("1")))


if __name__ == "__main__":
    unittest.main()
