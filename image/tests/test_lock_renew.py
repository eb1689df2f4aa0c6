"""Tests that `image/lock-renew` renews all locks or none."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

# `update` fails for the architecture in FAILS. `install` plans the first package that is named, and `show` describes it.
APT = """#!/bin/sh
case "$*" in
  *APT::Architecture=$FAILS*update) exit 100 ;;
  *"install ?essential"*) echo 'Inst base (2.0-1 Debian:13/stable [all])' ;;
  *install*) for last; do echo "Inst $last (2.0-1 Debian:13/stable [all])"; done ;;
  *show*) printf 'Package: base\\nVersion: 2.0-1\\nFilename: pool/main/b/base.deb\\nSize: 1\\nSHA256: 0\\n\\n' ;;
esac
"""


class LockRenew(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = Path(folder.name)
        (self.top / "image/lock").mkdir(parents=True)
        (self.top / "bin").mkdir()
        for name in ("apt-get", "apt-cache"):
            (self.top / "bin" / name).write_text(APT)
            (self.top / "bin" / name).chmod(0o755)
        script = (TOP / "image/lock-renew").read_text().replace("/usr/share/keyrings/debian-archive-keyring.gpg", "/dev/null")
        (self.top / "image/lock-renew").write_text(script)
        (self.top / "image/lock-renew").chmod(0o755)
        shutil.copytree(TOP / "image/packages", self.top / "image/packages")
        for name in ("amd64", "tools", "arm64", "boot"):
            (self.top / f"image/lock/{name}.Packages").write_text("Package: base\nVersion: 1.0-1\n")
        (self.top / "image/lock/epoch").write_text("1795384705\n")

    def renew(self, fails=""):
        path = f"{self.top / 'bin'}:{os.environ['PATH']}"
        return subprocess.run([self.top / "image/lock-renew"], env={"PATH": path, "FAILS": fails or "none"}, text=True, capture_output=True)

    def locks(self):
        return {path.name: path.read_text() for path in (self.top / "image/lock").iterdir()}

    def test_All_locks_and_their_time_are_renewed(self):
        before = self.locks()
        result = self.renew()
        self.assertEqual(result.returncode, 0, result.stderr)
        after = self.locks()
        self.assertEqual(after.keys(), before.keys())
        for name in after:
            self.assertNotEqual(after[name], before[name], name)

    def test_If_a_mirror_fails_no_lock_is_renewed(self):
        before = self.locks()
        self.assertNotEqual(self.renew(fails="arm64").returncode, 0)
        self.assertEqual(self.locks(), before)


if __name__ == "__main__":
    unittest.main()
