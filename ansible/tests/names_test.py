#!/usr/bin/python3
"""Tests which names of hosts the role `node` refuses before anything is changed (roles/node/tasks/names.yml): ansible/tests/names_test.py"""

import json
import pathlib
import subprocess
import tempfile
import unittest

tasks = pathlib.Path(__file__).resolve().parents[1] / "roles/node/tasks/names.yml"


class Names(unittest.TestCase):
    def test_Names_that_no_node_or_two_nodes_would_have_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            report = {"ansible.builtin.debug": {"msg": "RESULT {{ inventory_hostname }}: {{ ansible_failed_result.msg }}"}}
            good = {"ansible.builtin.debug": {"msg": "RESULT {{ inventory_hostname }}: good"}}
            play = {"hosts": "all", "connection": "local", "gather_facts": False, "tasks": [{"block": [{"ansible.builtin.include_tasks": str(tasks)}, good], "rescue": [report]}]}
            (directory / "play.json").write_text(json.dumps([play]))
            (directory / "hosts").write_text("[rookery]\npi-1\npi-2.home.arpa\npi-3\npi-3.home.arpa\n192.168.1.11\nPI-4\n0123\nmy_pi\n")
            run = subprocess.run(["ansible-playbook", "-i", "hosts", "play.json"], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        for host, result in (
            ("pi-1", "good"),
            ("pi-2.home.arpa", "good"),
            ("0123", "good"),
            ("pi-3", "The node of pi-3 would be called 'pi-3', as those of pi-3.home.arpa."),
            ("192.168.1.11", "The node of 192.168.1.11 would be called"),
            ("PI-4", "The node of PI-4 would be called 'PI-4', which is no name of a node: it has small letters, digits and hyphens."),
            ("my_pi", "The node of my_pi would be called 'my_pi', which is no name of a node"),
        ):
            with self.subTest(host):
                self.assertIn("RESULT %s: %s" % (host, result), run.stdout)


if __name__ == "__main__":
    unittest.main()
