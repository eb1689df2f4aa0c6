#!/usr/bin/env python3
"""Tests the filter rookery.cluster.trouble: ansible/tests/trouble_test.py"""

import importlib.util
import json
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
plugin = pathlib.Path(__file__).resolve().parents[1] / "plugins/filter/trouble.py"
spec = importlib.util.spec_from_file_location("trouble", plugin)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


def trouble_of(status, rc):
    """Returns the trouble of a node with this status, whose `rookery status` ended with the exit code `rc`."""
    return module.trouble({"rc": rc, "stdout": json.dumps(status), "stderr": ""})


class Trouble(unittest.TestCase):
    def test_A_node_that_serves_has_none(self):
        self.assertEqual(trouble_of({"Ready": True, "GrowthRefusal": None, "Cluster": {"Trouble": None}}, rc=0), "")

    def test_A_node_short_of_space_serves(self):
        self.assertEqual(trouble_of({"Ready": True, "GrowthRefusal": "Space is short.", "Cluster": {"Trouble": None}}, rc=1), "")

    def test_A_node_without_a_leader_has_its_sentence(self):
        self.assertEqual(trouble_of({"Ready": True, "Cluster": {"Trouble": "No leader is known."}}, rc=1), "No leader is known.")

    def test_A_node_that_is_not_ready_has_its_reason(self):
        self.assertEqual(trouble_of({"Ready": False, "Reason": "The node is opening its data."}, rc=1), "The node is opening its data.")

    def test_Without_an_answer_the_trouble_is_the_error_message(self):
        self.assertEqual(module.trouble({"rc": 1, "stdout": "", "stderr": "rookery: no node answers\n"}), "rookery: no node answers")
        self.assertEqual(module.trouble({"unreachable": True, "msg": "Failed to connect to the host via ssh"}), "Failed to connect to the host via ssh")
        self.assertTrue(module.trouble({"skipped": True}))
        self.assertTrue(module.trouble({}))


if __name__ == "__main__":
    unittest.main()
