"""Slots and update bundles, on files instead of a card."""

import hashlib
import json
import random
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"))

# pylint: disable=wrong-import-position
import bundle
import state
from state import SlotState


class State(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.disk = Path(directory.name) / "disk"
        self.disk.write_bytes(bytes(64 * 512))

    def test_a_card_that_was_never_updated_starts_slot_a(self):
        self.assertEqual(state.read(self.disk), SlotState("a", None, 0))

    def test_what_was_written_is_read(self):
        for said in (SlotState("b"), SlotState("a", "b", 3), SlotState("b", "a", 0)):
            state.write(self.disk, said)
            self.assertEqual(state.read(self.disk), said)

    def test_either_sector_alone_suffices(self):
        state.write(self.disk, SlotState("b"))
        for sector in state.SECTORS:
            whole = self.disk.read_bytes()
            torn = bytearray(whole)
            torn[sector * 512 + 100:sector * 512 + 512] = b"\xff" * 412
            self.disk.write_bytes(torn)
            self.assertEqual(state.read(self.disk), SlotState("b"))
            self.disk.write_bytes(whole)

    def test_nothing_but_the_two_sectors_is_written(self):
        before = self.disk.read_bytes()
        state.write(self.disk, SlotState("b"))
        after = self.disk.read_bytes()
        self.assertEqual({i // 512 for i in range(len(before)) if before[i] != after[i]}, set(state.SECTORS))


class Bundle(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.slot = random.Random(1).randbytes(800_000)
        self.device = self.directory / "device"
        self.device.write_bytes(bytes(1 << 20))
        self.keys = [self.make_key("release")]

    def make_key(self, name: str) -> Path:
        private, public = self.directory / f"{name}.key", self.directory / f"{name}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
        return public

    def make(self, change=lambda files: None, key: str = "release") -> Path:
        files = {
            "manifest.json": json.dumps({"version": "2", "architecture": "arm64", "slot": {"bytes": len(self.slot), "sha256": hashlib.sha256(self.slot).hexdigest()}}).encode(),
            "slot.ext4.zst": subprocess.run(["zstd", "-q", "-c"], input=self.slot, capture_output=True, check=True).stdout,
        }
        (self.directory / "manifest.json").write_bytes(files["manifest.json"])
        subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", self.directory / f"{key}.key", "-rawin", "-in", self.directory / "manifest.json",
                        "-out", self.directory / "manifest.json.sig"], check=True)
        files["manifest.json.sig"] = (self.directory / "manifest.json.sig").read_bytes()
        change(files)
        path = self.directory / "update.tar"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for name in bundle.MEMBERS:
                if name in files:
                    (self.directory / "member").write_bytes(files[name])
                    archive.add(self.directory / "member", name)
        return path

    def install(self, path: Path) -> None:
        archive, manifest = bundle.open_checked(path, self.keys)
        bundle.write_slot(archive, manifest, path, str(self.device), lambda done, whole: None)

    def refuses(self, path: Path, word: str) -> None:
        with self.assertRaises(state.Refusal) as caught:
            self.install(path)
        self.assertIn(word, str(caught.exception))

    def test_a_good_bundle_is_written(self):
        self.install(self.make())
        self.assertEqual(self.device.read_bytes()[:len(self.slot)], self.slot)

    def test_another_key_is_refused_before_anything_is_written(self):
        self.make_key("other")
        self.refuses(self.make(key="other"), "not signed")
        self.assertEqual(self.device.read_bytes(), bytes(1 << 20))

    def test_a_changed_manifest_is_refused(self):
        self.refuses(self.make(lambda files: files.update({"manifest.json": files["manifest.json"].replace(b'"2"', b'"3"')})), "not signed")

    def test_a_changed_slot_is_refused(self):
        other = subprocess.run(["zstd", "-q", "-c"], input=b"another!" * 100_000, capture_output=True, check=True).stdout
        self.refuses(self.make(lambda files: files.update({"slot.ext4.zst": other})), "not what the bundle says")

    def test_a_slot_that_breaks_off_is_refused(self):
        self.refuses(self.make(lambda files: files.update({"slot.ext4.zst": files["slot.ext4.zst"][:-20]})), "damaged")

    def test_a_bundle_that_breaks_off_is_refused(self):
        path = self.make()
        path.write_bytes(path.read_bytes()[:400_000])
        self.refuses(path, "damaged")

    def test_a_file_that_is_no_bundle_is_refused(self):
        path = self.directory / "x.tar"
        path.write_bytes(b"hello")
        self.refuses(path, "cannot be read as an update bundle")
        self.refuses(self.make(lambda files: files.pop("manifest.json")), "no manifest.json")

    def test_a_slot_that_is_too_small_is_refused(self):
        self.device.write_bytes(bytes(1000))
        self.refuses(self.make(), "no room")

    def test_without_a_key_nothing_is_taken(self):
        self.keys = []
        self.refuses(self.make(), "no key")


if __name__ == "__main__":
    unittest.main()
