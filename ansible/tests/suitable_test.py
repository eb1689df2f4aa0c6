#!/usr/bin/python3
"""Tests what the role `base` says of a machine before it changes it (roles/base/tasks/suitable.yml), and of another time service (time.yml), with programs in place of the machine's: ansible/tests/suitable_test.py"""

import json
import os
import pathlib
import subprocess
import tempfile
import time
import unittest

role = pathlib.Path(__file__).resolve().parents[1] / "roles/base/tasks"


class Suitable(unittest.TestCase):
    def check(self, architecture="arm64", limits="cpu io memory pids", clock=None):
        """Returns what the role says of a machine, and the arguments with which it set the clock."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            set_clock = directory / "clock"
            now = int(time.time()) if clock is None else clock
            programs = {
                "dpkg": "echo " + architecture,
                "cat": "printf '%s'" % limits,
                "date": 'case $* in *set=*) echo "$@" >%s ;; *) echo %d ;; esac' % (set_clock, now),
            }
            said = self.run_tasks(directory, "suitable.yml", programs, {})
            return said, set_clock.read_text() if set_clock.exists() else ""

    def run_tasks(self, directory, file, programs, variables):
        """Runs a file of the role's tasks with these programs, shell commands by name, and returns Ansible's output in one line."""
        for program, script in programs.items():
            (directory / program).write_text("#!/bin/sh\n%s\n" % script)
            (directory / program).chmod(0o755)
        # The lookup of the control host's clock runs without these programs.
        play = {"hosts": "localhost", "connection": "local", "gather_facts": False, "vars": variables, "tasks": [{"ansible.builtin.include_tasks": str(role / file)}]}
        play["environment"] = {"PATH": "%s:%s" % (directory, os.environ["PATH"])}
        (directory / "play.json").write_text(json.dumps([play]))
        run = subprocess.run(
            ["ansible-playbook", "-i", "localhost,", "play.json"], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=200
        )
        return " ".join(run.stdout.split())

    def test_Time_servers_that_another_time_service_does_not_use_are_told(self):
        with tempfile.TemporaryDirectory() as name:
            programs = {"dpkg-query": "printf 'chrony installed\\nntpsec not-installed\\n'"}
            said = self.run_tasks(pathlib.Path(name), "time.yml", programs, {"rookery_ntp_servers": ["ntp.home.example"]})
        self.assertIn("localhost has chrony, so rookery_ntp_servers has no effect there.", said)
        self.assertIn("failed=0", said)

    def test_A_suitable_machine_is_not_changed(self):
        for limits in ("cpu io memory pids", "#subsys_name hierarchy num_cgroups enabled\\nmemory\\t0\\t80\\t1\\n"):
            said, clock = self.check(limits=limits)
            self.assertIn("failed=0", said)
            self.assertNotIn("does not limit memory", said)
            self.assertEqual(clock, "")

    def test_Each_lack_is_told(self):
        said, clock = self.check(limits="cpu io pids", clock=int(time.time()) - 90 * 86400)
        self.assertIn("does not limit memory by unit", said)
        self.assertRegex(clock, r"^--utc --set=@\d{10}$")
        self.assertIn("does not limit memory by unit", self.check(limits="memory\\t0\\t80\\t0\\n")[0])

    def test_A_system_of_32_bits_is_refused_first(self):
        said, clock = self.check(architecture="armhf", clock=0)
        self.assertIn("has programs for armhf", said)
        self.assertEqual(clock, "")


if __name__ == "__main__":
    unittest.main()
