#!/usr/bin/env python3
"""Tests what ansible/tests/lab deletes: ansible/tests/lab_test.py"""

import os
import pathlib
import subprocess
import tempfile
import unittest

lab = pathlib.Path(__file__).resolve().parent / "lab"


@unittest.skipUnless(os.geteuid() == 0, "the lab needs root")
class Lab(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.directory = pathlib.Path(folder.name) / "lab"
        self.directory.mkdir()

    def down(self):
        return subprocess.run([lab, "down"], env={**os.environ, "LAB_DIRECTORY": self.directory}, text=True, capture_output=True)

    def test_A_directory_that_no_lab_made_is_refused_and_stays(self):
        (self.directory / "pi-1").mkdir()
        (self.directory / "pi-1" / "letters").write_text("mine")
        result = self.down()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("was not made by a lab", result.stderr)
        self.assertEqual((self.directory / "pi-1" / "letters").read_text(), "mine")

    def test_The_directory_of_a_lab_that_was_killed_is_deleted(self):
        (self.directory / "generation").write_text("0")
        (self.directory / "key").write_text("")
        self.assertEqual(self.down().returncode, 0)
        self.assertFalse(self.directory.exists())


if __name__ == "__main__":
    unittest.main()
