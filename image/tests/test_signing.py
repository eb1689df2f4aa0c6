"""Tests how a build signs: the key with and without a passphrase (image/lib.sh), and the manifest (image/describe)."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]


class Signing(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.key, self.manifest = self.directory / "signing.key", self.directory / "manifest.json"
        self.manifest.write_text("{}")

    def make_key(self, *options: str) -> None:
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.key, *options], check=True, capture_output=True)

    def lib(self, command: str, **environment: str) -> subprocess.CompletedProcess:
        """Runs a command after image/lib.sh, without a terminal."""
        return subprocess.run(["bash", "-euc", f". image/lib.sh; {command}"], cwd=TOP, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
                              env=os.environ | {"UPDATE_KEY": str(self.key)} | environment)

    def sign(self, **environment: str) -> subprocess.CompletedProcess:
        return self.lib(f"sign {self.manifest} {self.directory}/signature; public_key {self.directory}/public.pem", **environment)

    def is_valid(self) -> bool:
        return subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", self.directory / "public.pem", "-rawin", "-in", self.manifest,
                               "-sigfile", self.directory / "signature"], capture_output=True, check=False).returncode == 0

    def test_a_key_without_a_passphrase_signs(self):
        self.make_key()
        result = self.sign()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(self.is_valid())

    def test_a_key_with_a_passphrase_signs_with_the_passphrase_from_a_file_or_the_environment(self):
        self.make_key("-aes-256-cbc", "-pass", "pass:correct horse")
        (self.directory / "passphrase").write_text("correct horse\n")
        for environment in ({"UPDATE_KEY_PASSPHRASE_FILE": str(self.directory / "passphrase")}, {"UPDATE_KEY_PASSPHRASE": "correct horse"}):
            result = self.sign(**environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(self.is_valid())
            (self.directory / "signature").unlink()

    def test_a_wrong_or_missing_passphrase_is_reported(self):
        self.make_key("-aes-256-cbc", "-pass", "pass:correct horse")
        for environment, words in (({}, "has a passphrase: name a file"), ({"UPDATE_KEY_PASSPHRASE": "wrong"}, "the passphrase is wrong")):
            result = self.sign(**environment)
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)

    def test_programs_of_a_step_do_not_get_the_passphrase(self):
        self.make_key("-aes-256-cbc", "-pass", "pass:correct horse")
        result = self.lib(f"sign {self.manifest} {self.directory}/signature; env", UPDATE_KEY_PASSPHRASE="correct horse")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("correct horse", result.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "image/build needs root")
    def test_only_steps_that_need_the_key_get_its_passphrase(self):
        self.make_key("-aes-256-cbc", "-pass", "pass:correct horse")
        top, programs = self.directory / "top", self.directory / "bin"
        for file in ("image/build", "image/lib.sh", "image/lock/epoch", "Directory.Build.props"):
            (top / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / file, top / file)
        programs.mkdir()
        for name in ("mmdebstrap", "arch-test", "curl", "unshare"):
            (programs / name).symlink_to("/bin/true")
        for name, needs in (("10-other", "image/lib.sh"), ("20-sign", "image/lib.sh $signing_key")):
            step = top / "image/steps" / name
            step.parent.mkdir(exist_ok=True)
            step.write_text(f"#!/bin/sh\n# A step.\n# Needs: {needs}\n# Leaves: image/lib.sh\nenv >{self.directory}/{name}\n")
            step.chmod(0o755)
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
        environment = {"UPDATE_KEY": str(self.key), "UPDATE_KEY_PASSPHRASE": "correct horse", "PATH": f"{programs}:{os.environ['PATH']}"}
        result = subprocess.run([top / "image/build", "--arch", architecture], capture_output=True, text=True, check=False, env=os.environ | environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("UPDATE_KEY_PASSPHRASE=correct horse\n", (self.directory / "20-sign").read_text())
        self.assertNotIn("correct horse", (self.directory / "10-other").read_text())

    def test_an_image_has_a_release_that_follows_the_time_of_its_lock(self):
        release = self.lib("echo $release $image").stdout.split()
        self.assertRegex(release[0], r"^[0-9]+\.[0-9]+\.[0-9]+\S*\+os20[0-9]{6}\.[0-9]{4}$")
        self.assertEqual(release[1], f"artifacts/rookery-{release[0]}-none.img")

    def test_a_line_that_is_no_fingerprint_ends_the_build(self):
        (self.directory / "slot").write_bytes(b"slot")
        revoked = self.directory / "revoked"
        # As sha256sum prints it, in capital letters, too short, and two on a line.
        for line in (f"{'a' * 64}  -", "A" * 64, "a" * 63, f"{'a' * 64} {'b' * 64}"):
            revoked.write_text(f"# a comment\n\n{'c' * 64}  # lost in a train\n{line}")
            command = [TOP / "image/describe", "manifest", "0.2.0", "arm64", self.directory / "slot", revoked]
            described = subprocess.run(command, capture_output=True, text=True, check=False)
            for result in (described, self.lib(f"revoked_fingerprints {revoked} >{self.directory}/list")):
                self.assertEqual(result.returncode, 1, line)
                self.assertIn(f"'{line}' is not a fingerprint", result.stderr)
            self.assertEqual(described.stdout, "")

    def test_the_list_of_an_image_has_fingerprints_alone(self):
        (self.directory / "revoked").write_text(f"# a comment\n\n  {'a' * 64}  # lost in a train\n{'b' * 64}")
        self.assertEqual(self.lib(f"revoked_fingerprints {self.directory}/revoked").stdout, f"{'a' * 64}\n{'b' * 64}\n")

    def test_a_manifest_contains_release_version_and_revoked_keys(self):
        (self.directory / "slot").write_bytes(b"slot")
        (self.directory / "revoked").write_text(f"# a comment\n\n{'a' * 64}  # lost in a train\n")
        command = [TOP / "image/describe", "manifest", "0.2.0-beta+os20261126.1412", "arm64", self.directory / "slot", self.directory / "revoked"]
        manifest = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        del manifest["slot"]
        self.assertEqual(manifest, {"version": "0.2.0-beta", "release": "0.2.0-beta+os20261126.1412", "architecture": "arm64", "revoked": ["a" * 64]})


if __name__ == "__main__":
    unittest.main()
