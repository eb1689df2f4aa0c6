#!/usr/bin/python3
"""Tests what holds for the tasks of all roles and playbooks: ansible/tests/roles_test.py"""

import pathlib
import subprocess
import unittest

import jinja2
import yaml

collection = pathlib.Path(__file__).resolve().parents[1]


def tasks(value):
    """Yields each task in a file of tasks or a playbook, also those of its blocks and plays."""
    if isinstance(value, list):
        for entry in value:
            yield from tasks(entry)
    elif isinstance(value, dict):
        if any(key.startswith("ansible.") for key in value):
            yield value
        for key in ("tasks", "pre_tasks", "block", "rescue", "always"):
            yield from tasks(value.get(key))


class Roles(unittest.TestCase):
    def setUp(self):
        files = sorted([*collection.glob("roles/*/tasks/*.yml"), *collection.glob("roles/*/handlers/*.yml"), *collection.glob("playbooks/*.yml")])
        self.tasks = [("%s: %s" % (file.relative_to(collection), task.get("name")), task) for file in files for task in tasks(yaml.safe_load(file.read_text()))]
        self.assertGreater(len(self.tasks), 200)

    def test_Packages_from_the_network_are_tried_again_and_wait_for_the_lock_of_dpkg(self):
        found = [(name, task) for name, task in self.tasks if "ansible.builtin.apt" in task]
        self.assertGreater(len(found), 2)
        for name, task in found:
            with self.subTest(name):
                self.assertGreaterEqual(task["ansible.builtin.apt"].get("lock_timeout", 0), 60)
                self.assertTrue(task["ansible.builtin.apt"].get("update_cache"))
                self.assertGreaterEqual(task.get("retries", 0), 3)
                self.assertIn("until", task)

    def test_No_package_is_installed_by_dpkg_which_neither_waits_for_its_lock_nor_installs_dependencies(self):
        for name, task in self.tasks:
            argv = task.get("ansible.builtin.command", {}).get("argv", [])
            with self.subTest(name):
                self.assertFalse(isinstance(argv, list) and argv[:1] == ["dpkg"] and {"--install", "-i"} & set(argv))

    def test_an_installation_that_a_power_cut_ended_is_completed_before_apt_get_runs(self):
        options = yaml.safe_load((collection / "roles/node/vars/main.yml").read_text())["node_install"]
        self.assertIn("--reinstall", options)
        for file in ("main.yml", "upgrade.yml", "restore_previous.yml"):
            argvs = [task["ansible.builtin.command"].get("argv") for name, task in self.tasks if name.startswith("roles/node/tasks/%s:" % file) and "ansible.builtin.command" in task]
            installs = [index for index, argv in enumerate(argvs) if isinstance(argv, str) and "node_install" in argv]
            self.assertEqual([argvs[index - 1] for index in installs], [["dpkg", "--configure", "--pending"]], file)

    def test_a_machine_that_does_not_come_back_at_its_address_is_reported(self):
        found = [task for name, task in self.tasks if name == "roles/node/tasks/bundle.yml: Read the state of the slots"]
        self.assertEqual([task.get("ignore_unreachable") for task in found], [True])
        report = next(task for name, task in self.tasks if name == "roles/node/tasks/bundle.yml: Report the failed upgrade")
        message = jinja2.Environment().from_string(report["vars"]["not_serving_message"])
        variables = {"rookery_bundle_release": "0.2.0+os1", "failure": "Timed out", "inventory_hostname": "pi-1", "ansible_host": "192.168.1.11"}
        self.assertIn("It does not answer at 192.168.1.11. If it has another address now,", message.render(node_slot_state={"unreachable": True}, **variables))
        self.assertNotIn("does not answer", message.render(node_slot_state={"rc": 0}, **variables))

    def test_node_exporter_leaves_the_network_also_in_a_run_that_ends_early(self):
        named = [(name, task) for name, task in self.tasks if name.startswith("roles/monitoring/tasks/node_exporter.yml")]
        self.assertFalse([name for name, task in named if "notify" in task])
        states = [task["ansible.builtin.systemd"]["state"] for _, task in named if "ansible.builtin.systemd" in task]
        self.assertEqual(len(states), 1)
        expression = jinja2.Environment()
        expression.tests["changed"] = lambda result: result["changed"]
        for changed, installed, state in ((True, "installed", "restarted"), (True, "", "started"), (False, "installed", "started")):
            rendered = expression.from_string(states[0]).render(monitoring_exporter_settings={"changed": changed}, monitoring_exporter={"stdout": installed})
            self.assertEqual(rendered, state)

    def test_A_disk_is_checked_before_it_is_mounted(self):
        template = (collection / "roles/storage/templates/var-lib-rookery.mount.j2").read_text()
        identity = "0a1b2c3d-0000-4000-8000-00000000ff01"
        # As Ansible renders templates.
        unit = jinja2.Environment(trim_blocks=True).from_string(template).render(storage_identity={"stdout": identity}).splitlines()
        device = "/dev/disk/by-uuid/" + identity
        check = subprocess.run(["systemd-escape", "--path", "--template=systemd-fsck@.service", device], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        for line in ("What=" + device, "Wants=" + check, "After=" + check):
            self.assertIn(line, unit)


if __name__ == "__main__":
    unittest.main()
