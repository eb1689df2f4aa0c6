"""Tests `image/fixes`, on a small lock and a sample in the form of Debian's security tracker's data."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


def fault(suite: str, status: str, fixed: str | None, urgency: str = "not yet assigned") -> dict:
    """A record of the tracker. Its members that `image/fixes` does not read are left out."""
    state = {"status": status, "repositories": {suite: "1"}, "urgency": urgency}
    return {"description": "…", "scope": "remote", "releases": {suite: state if fixed is None else state | {"fixed_version": fixed}}}


TRACKER = {
    "openssl": {
        "CVE-2026-0001": fault("trixie", "resolved", "3.5.1-1+deb13u2", "high"),
        "CVE-2026-0002": fault("trixie", "resolved", "3.5.1-1+deb13u1"),
        "CVE-2026-0003": fault("trixie", "open", None),
        "CVE-2026-0004": fault("trixie", "resolved", "0"),
    },
    "bash": {"CVE-2026-0005": fault("trixie", "resolved", "5.2.37-2+deb13u1")},
    "util-linux": {"CVE-2026-0006": fault("trixie", "resolved", "2.41.5-0+deb13u1")},
    "linux": {
        "CVE-2026-0007": fault("sid", "resolved", "7.3.4-1"),
        "CVE-2026-0008": fault("sid", "resolved", "7.3.5-1", "medium"),
        # Of the kernel of trixie, which the image does not have.
        "CVE-2026-0009": fault("trixie", "resolved", "6.12.99-1"),
    },
}
PACKAGES = {
    "arm64": "Package: libssl3t64\nSource: openssl\nVersion: 3.5.1-1+deb13u1\n\n"
             "Package: bsdutils\nSource: util-linux (2.41.5-0+deb13u1)\nVersion: 1:2.41.5-0+deb13u1\n\n"
             "Package: linux-image-arm64\nSource: linux-signed-arm64 (7.3.4+1~bpo13+1)\nVersion: 7.3.4-1~bpo13+1\n\n",
    "amd64": "Package: openssl\nVersion: 3.5.1-1+deb13u1\n\nPackage: bash\nSource: bash (5.2.37-2)\nVersion: 5.2.37-2+b10\n\n",
    "boot": "",
    "tools": "",
}


class Fixes(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        for name, text in PACKAGES.items():
            (self.directory / f"{name}.Packages").write_text(text)

    def fixes(self, data) -> subprocess.CompletedProcess:
        """Runs `image/fixes` with these data of the tracker."""
        file = self.directory / "data.json"
        file.write_text(data if isinstance(data, str) else json.dumps(data))
        return subprocess.run([sys.executable, TOP / "image/fixes", "--data", file, "--locks", self.directory], capture_output=True, text=True, check=False)

    def test_locked_packages_with_fixes_are_listed_once_with_the_version_that_has_them(self):
        result = self.fixes(TRACKER)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stdout.splitlines(), [
            "bash 5.2.37-2 (amd64): fixed in 5.2.37-2+deb13u1 (trixie): CVE-2026-0005",
            "linux 7.3.4-1~bpo13+1 (arm64): fixed in 7.3.5-1 (unstable; wait for backports): CVE-2026-0008 (medium)",
            "openssl 3.5.1-1+deb13u1 (arm64, amd64): fixed in 3.5.1-1+deb13u2 (trixie): CVE-2026-0001 (high)",
            "4 source packages are locked, 3 of them have fixes.",
        ])

    def test_without_missing_fixes_the_exit_code_is_0(self):
        result = self.fixes({"util-linux": TRACKER["util-linux"], "linux": {"CVE-2026-0007": TRACKER["linux"]["CVE-2026-0007"]}})
        self.assertEqual((result.returncode, result.stdout), (0, "4 source packages are locked, and no fix is missing.\n"))

    def test_data_that_say_nothing_about_our_suites_are_not_taken_for_no_fixes(self):
        for data in ("", "<html>", "[]", "{}", {"linux": {"CVE-1": fault("bookworm", "resolved", "1")}}, {"linux": []}):
            with self.subTest(data):
                result = self.fixes(data)
                self.assertEqual(result.returncode, 2)
                self.assertIn("Nothing is known about fixes.", result.stderr)

    def test_the_repositorys_own_locks_can_be_read(self):
        file = self.directory / "data.json"
        file.write_text(json.dumps(TRACKER))
        result = subprocess.run([sys.executable, TOP / "image/fixes", "--data", file], capture_output=True, text=True, check=False)
        self.assertRegex(result.stdout, r"[1-9][0-9]+ source packages are locked")


if __name__ == "__main__":
    unittest.main()
