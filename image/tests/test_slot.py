"""Tests slots and update bundles, on files instead of a card."""

import argparse
import contextlib
import hashlib
import importlib.util
import io
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
SLOT = Path(__file__).parents[1] / "files/usr/lib/rookery-image/slot"
sys.path.insert(0, str(SLOT))

# pylint: disable=wrong-import-position
import bundle
import caller
import health
import keys
import state
from state import SlotState

specification = importlib.util.spec_from_file_location("rookery_slot", SLOT / "__main__.py")
rookery_slot = importlib.util.module_from_spec(specification)
specification.loader.exec_module(rookery_slot)

# The place of ext4's magic number, by which U-Boot and the kernel recognise the file system.
MAGIC_AT, MAGIC = 1024 + 56, b"\x53\xef"


class State(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.disk = Path(directory.name) / "disk"
        self.disk.write_bytes(bytes(64 * 512))

    def test_a_card_without_an_update_starts_slot_a(self):
        self.assertEqual(state.read(self.disk), SlotState("a", None, 0))

    def test_a_written_state_is_read_back(self):
        for written in (SlotState("b"), SlotState("a", "b", 3), SlotState("b", "a", 0)):
            state.write(self.disk, written)
            self.assertEqual(state.read(self.disk), written)

    def test_one_valid_sector_suffices(self):
        state.write(self.disk, SlotState("b"))
        for sector in state.SECTORS:
            valid = self.disk.read_bytes()
            damaged = bytearray(valid)
            damaged[sector * 512 + 100:sector * 512 + 512] = b"\xff" * 412
            self.disk.write_bytes(damaged)
            self.assertEqual(state.read(self.disk), SlotState("b"))
            self.disk.write_bytes(valid)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("losetup"), "loop devices need root")
    def test_a_disk_gets_two_writes_of_one_sector_each(self):
        os.truncate(self.disk, 1 << 20)
        device = subprocess.run(["losetup", "--find", "--show", self.disk], check=True, capture_output=True, text=True).stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "--detach", device], check=True)

        def sectors_written() -> int:
            return int(Path(f"/sys/block/{Path(device).name}/stat").read_text(encoding="ascii").split()[6])

        before = sectors_written()
        state.write(device, SlotState("a", "b", 3))
        self.assertEqual(sectors_written() - before, 2)
        self.assertEqual(state.read(device), SlotState("a", "b", 3))

    def test_only_the_two_sectors_are_written(self):
        before = self.disk.read_bytes()
        state.write(self.disk, SlotState("b"))
        after = self.disk.read_bytes()
        self.assertEqual({i // 512 for i in range(len(before)) if before[i] != after[i]}, set(state.SECTORS))


def slot_of(seed: int) -> bytes:
    """Bytes of a slot, random but for the magic number of ext4."""
    slot = bytearray(random.Random(seed).randbytes(800_000))
    slot[MAGIC_AT:MAGIC_AT + 2] = MAGIC
    return bytes(slot)


class WithBundles(unittest.TestCase):
    """A directory with a key, and update bundles that are signed with it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.slot = slot_of(1)
        self.keys = [self.make_key("release")]

    def make_key(self, name: str) -> Path:
        private, public = self.directory / f"{name}.key", self.directory / f"{name}.pem"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", private], check=True, capture_output=True)
        subprocess.run(["openssl", "pkey", "-in", private, "-pubout", "-out", public], check=True)
        return public

    def make_bundle(self, change=lambda files: None, key: str = "release", **fields) -> Path:
        """Creates a bundle of `self.slot`, signed with a key. `fields` are added to its manifest. `change` may change its files after the signing."""
        files = {
            "manifest.json": json.dumps({"version": "2", "architecture": "arm64", "slot": {"bytes": len(self.slot), "sha256": hashlib.sha256(self.slot).hexdigest()}} | fields).encode(),
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


class Bundle(WithBundles):
    def setUp(self):
        super().setUp()
        self.device = self.directory / "device"
        # The slot holds an older version.
        self.previous_system = slot_of(2).ljust(1 << 20, b"\0")
        self.device.write_bytes(self.previous_system)

    def install(self, path: Path) -> None:
        archive, manifest = bundle.open_checked(path, self.keys)
        bundle.write_slot(archive, manifest, path, str(self.device), lambda done, whole: None)

    def expect_refusal(self, path: Path, word: str) -> None:
        with self.assertRaises(state.Refusal) as caught:
            self.install(path)
        self.assertRegex(str(caught.exception), word)

    def test_a_valid_bundle_is_written(self):
        self.install(self.make_bundle())
        self.assertEqual(self.device.read_bytes()[:len(self.slot)], self.slot)

    def test_a_bundle_signed_by_another_key_is_refused_before_any_write(self):
        self.make_key("other")
        self.expect_refusal(self.make_bundle(key="other"), "not signed")
        self.assertEqual(self.device.read_bytes(), self.previous_system)

    def test_a_changed_manifest_is_refused(self):
        self.expect_refusal(self.make_bundle(lambda files: files.update({"manifest.json": files["manifest.json"].replace(b'"2"', b'"3"')})), "not signed")

    def test_a_changed_slot_is_refused(self):
        other = subprocess.run(["zstd", "-q", "-c"], input=b"another!" * 100_000, capture_output=True, check=True).stdout
        self.expect_refusal(self.make_bundle(lambda files: files.update({"slot.ext4.zst": other})), "differs from the bundle's manifest")
        self.expect_no_system()

    def test_an_incomplete_slot_in_a_bundle_is_refused(self):
        self.expect_refusal(self.make_bundle(lambda files: files.update({"slot.ext4.zst": files["slot.ext4.zst"][:-20]})), "damaged")
        self.expect_no_system()

    def test_an_incomplete_bundle_is_refused(self):
        path = self.make_bundle()
        path.write_bytes(path.read_bytes()[:400_000])
        self.expect_refusal(path, "damaged")
        self.expect_no_system()

    def expect_no_system(self) -> None:
        """Verifies that the slot is not taken for a file system."""
        self.assertNotEqual(self.device.read_bytes()[MAGIC_AT:MAGIC_AT + 2], MAGIC)

    def test_the_superblock_is_erased_first_and_written_last(self):
        # At each sync, whether the magic number and the rest of the slot are written.
        synced, fsync = [], os.fsync

        def record(descriptor: int) -> None:
            fsync(descriptor)
            content = self.device.read_bytes()
            synced.append((content[MAGIC_AT:MAGIC_AT + 2] == MAGIC, content[4096:len(self.slot)] == self.slot[4096:]))

        with mock.patch("os.fsync", record):
            self.install(self.make_bundle())
        self.assertEqual(synced, [(False, False), (False, True), (True, True)])

    def test_a_card_that_refuses_writes_is_reported(self):
        with mock.patch("os.fsync", side_effect=[None, OSError(5, "Input/output error")]):
            self.expect_refusal(self.make_bundle(), "cannot be written .Input/output error.: the card may be worn out")
        self.expect_no_system()

    def test_a_file_that_is_no_bundle_is_refused(self):
        path = self.directory / "x.tar"
        path.write_bytes(b"hello")
        self.expect_refusal(path, "cannot be read as an update bundle")
        self.expect_refusal(self.make_bundle(lambda files: files.pop("manifest.json")), "manifest.json is missing")

    def test_a_slot_that_is_too_small_is_refused(self):
        self.device.write_bytes(self.previous_system[:2000])
        self.expect_refusal(self.make_bundle(), "is smaller than")
        self.assertEqual(self.device.read_bytes(), self.previous_system[:2000])

    def test_without_a_key_no_bundle_is_accepted(self):
        self.keys = []
        self.expect_refusal(self.make_bundle(), "has a key to verify")


class Machine(WithBundles):
    """A machine whose disk is a file, with its slots beside it. It starts the slot that U-Boot's script would start."""

    def setUp(self):
        super().setUp()
        self.disk = self.directory / "disk"
        self.disk.write_bytes(bytes(64 * 512))
        self.slots = {"a": self.directory / "disk2", "b": self.directory / "disk3"}
        self.slots["a"].write_bytes(slot_of(3))
        self.slots["b"].write_bytes(bytes(1 << 20))
        self.running, self.restarts, self.is_healthy = "a", 0, True
        (self.directory / "name").write_text(f"{self.disk}\n", encoding="ascii")
        for name, value in {
            "DISK": self.directory / "name", "IMAGE": self.directory / "image", "HEALTH_WAIT_SECONDS": 0.01, "running_slot": lambda: self.running,
            "architecture": lambda: "arm64", "METRICS": self.directory / "metrics" / "rookery_slot.prom",
        }.items():
            self.replace(rookery_slot, name, value)
        self.image("1", "1+os20260701.1200", 1782907200)
        for name, value in {"DIRECTORIES": (self.directory,), "REVOKED": self.directory / "revoked-update-keys", "REVOKED_BY_IMAGE": self.directory / "revoked"}.items():
            self.replace(keys, name, value)
        self.replace(health, "is_healthy", lambda: self.is_healthy)
        # The address from which `rookery-slot` is called by SSH.
        self.source = None
        self.replace(caller, "ssh_source", lambda _: self.source)
        self.real_run = subprocess.run
        self.replace(subprocess, "run", self.run_program)

    def image(self, version: str, release: str, locked_at: int) -> None:
        """Sets the release that runs."""
        (self.directory / "image").write_text(f"version={version}\nrelease={release}\narchitecture=arm64\nlocked=2026-07-01\nlocked-at={locked_at}\n")

    def replace(self, owner, name: str, value) -> None:
        """Replaces a member of a module until the test ends."""
        patch = mock.patch.object(owner, name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def run_program(self, command, **options):
        """Runs a program, but only counts restarts of the machine."""
        if command[:2] != ["systemctl", "reboot"]:
            return self.real_run(command, **options)
        self.restarts += 1
        return subprocess.CompletedProcess(command, 0)

    def output_of(self, command: str, **arguments) -> str:
        """Runs a command of `rookery-slot` and returns its standard output."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()):
            getattr(rookery_slot, command)(argparse.Namespace(**({"downgrade": False, "json": False} | arguments)))
        return out.getvalue()

    def expect_refusal(self, command: str, sentence: str, **arguments) -> None:
        with self.assertRaisesRegex(state.Refusal, sentence):
            self.output_of(command, **arguments)

    @property
    def state(self) -> SlotState:
        return state.read(self.disk)

    def start(self) -> str:
        """Starts the machine as image/boot/boot.cmd does, and returns the slot that then runs."""
        now = self.state
        chosen = now.slot
        if now.trial is not None and now.tries > 0:
            chosen = now.trial
            state.write(self.disk, SlotState(now.slot, now.trial, now.tries - 1))
        with open(self.slots[chosen], "rb") as slot:
            slot.seek(MAGIC_AT)
            self.running = chosen if slot.read(2) == MAGIC else "b" if chosen == "a" else "a"
        return self.running

    def update(self) -> None:
        self.output_of("install", bundle=self.make_bundle())

    def test_an_update_is_on_trial_until_it_serves(self):
        self.update()
        self.assertEqual(self.state, SlotState("a", "b", 3))
        self.assertEqual(self.slots["b"].read_bytes()[:len(self.slot)], self.slot)
        self.assertEqual(self.start(), "b")
        self.output_of("judge")
        self.assertEqual((self.state, self.restarts), (SlotState("b"), 0))
        self.output_of("judge")
        self.assertEqual(self.state, SlotState("b"))

    def test_an_update_that_does_not_serve_is_abandoned_after_its_tries(self):
        self.update()
        self.is_healthy = False
        for _ in range(3):
            self.assertEqual(self.start(), "b")
            self.assertIn("the machine restarts", self.output_of("judge"))
        self.assertEqual((self.start(), self.restarts), ("a", 3))
        self.assertIn("slot a stays the default", self.output_of("judge"))
        self.assertEqual((self.state, self.restarts), (SlotState("a"), 3))

    def test_a_slot_on_trial_that_hangs_is_abandoned_after_its_tries(self):
        self.update()
        for _ in range(3):
            self.assertEqual(self.start(), "b")
            self.assertIn("was not judged", self.output_of("overdue"))
        self.assertEqual((self.start(), self.restarts), ("a", 3))
        self.assertEqual((self.output_of("overdue"), self.restarts), ("", 3))

    def test_a_slot_that_cannot_be_loaded_is_reported_and_not_tried_again(self):
        self.update()
        self.slots["b"].write_bytes(bytes(1 << 20))
        self.assertEqual(self.start(), "a")
        self.assertIn("Slot b cannot be loaded; slot a stays the default", self.output_of("judge"))
        self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 0, "rookery_slot_fell_back": 1})
        self.assertEqual(self.state, SlotState("a"))

    def test_a_slot_that_waits_for_its_first_start_stays_on_trial(self):
        self.update()
        self.output_of("judge")
        self.assertEqual(self.state, SlotState("a", "b", 3))
        self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 0, "rookery_slot_fell_back": 0})

    def metrics(self) -> dict[str, int]:
        """The values in the file of metrics, by name."""
        lines = (self.directory / "metrics" / "rookery_slot.prom").read_text(encoding="ascii").splitlines()
        return {name: int(value) for name, value in (line.split() for line in lines if line.startswith("rookery_slot_"))}

    def test_metrics_report_a_slot_on_trial_and_one_that_did_not_start(self):
        self.update()
        self.is_healthy = False
        for _ in range(3):
            self.start()
            self.output_of("judge")
            self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 1, "rookery_slot_fell_back": 0})
        self.start()
        self.output_of("judge")
        self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 0, "rookery_slot_fell_back": 1})
        self.output_of("judge")
        self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 0, "rookery_slot_fell_back": 0})

    def test_metrics_report_the_end_of_a_successful_trial(self):
        self.update()
        self.start()
        self.output_of("judge")
        self.assertEqual(self.metrics(), {"rookery_slot_on_trial": 0, "rookery_slot_fell_back": 0})

    def test_rollback_to_an_update_that_never_started_returns_to_the_running_slot(self):
        self.update()
        for _ in range(3):
            self.assertEqual(self.start(), "b")
        self.assertEqual(self.start(), "a")
        self.output_of("judge")
        self.assertIn("Slot b is tried at the next start", self.output_of("rollback"))
        self.assertEqual([self.start() for _ in range(4)], ["b", "b", "b", "a"])

    def test_rollback_to_a_slot_that_serves_keeps_it(self):
        self.update()
        self.start()
        self.output_of("judge")
        self.output_of("rollback")
        self.assertEqual(self.state, SlotState("b", "a", 3))
        self.assertEqual(self.start(), "a")
        self.output_of("judge")
        self.assertEqual(self.state, SlotState("a"))

    def test_rollback_of_a_slot_on_trial_ends_the_trial(self):
        self.update()
        self.start()
        self.output_of("rollback")
        self.assertEqual(self.state, SlotState("a"))
        self.assertEqual(self.start(), "a")

    def test_rollback_to_an_empty_or_incomplete_slot_is_refused(self):
        self.expect_refusal("rollback", "Slot b holds no complete system")
        self.slots["b"].write_bytes(slot_of(4).ljust(1 << 20, b"\0"))
        bundle_path = self.make_bundle()
        bundle_path.write_bytes(bundle_path.read_bytes()[:400_000])
        self.expect_refusal("install", "is incomplete or damaged", bundle=bundle_path)
        self.expect_refusal("rollback", "Slot b holds no complete system")
        self.assertEqual(self.state, SlotState("a"))

    def test_a_slot_is_not_started_while_it_is_written(self):
        self.update()
        path = self.make_bundle()
        path.write_bytes(path.read_bytes()[:400_000])
        self.expect_refusal("install", "is incomplete or damaged", bundle=path)
        self.assertEqual((self.state, self.start()), (SlotState("a"), "a"))

    def test_during_a_trial_no_update_is_installed(self):
        self.update()
        self.start()
        self.expect_refusal("install", "is on trial, so", bundle=self.make_bundle())
        self.assertEqual(self.slots["a"].read_bytes(), slot_of(3))

    def test_a_bundle_for_another_architecture_is_refused(self):
        with mock.patch.object(rookery_slot, "architecture", lambda: "amd64"):
            self.expect_refusal("install", "is for arm64, and this machine is amd64", bundle=self.make_bundle())
        self.assertEqual(self.state, SlotState("a"))

    def test_newer_packages_under_the_same_version_of_the_program_are_installed(self):
        self.image("2", "2+os20260701.1200", 1782907200)
        out = self.output_of("install", bundle=self.make_bundle(release="2+os20260701.1201"))
        self.assertIn("Release 2+os20260701.1201 is in slot b", out)
        self.assertEqual(self.state, SlotState("a", "b", 3))

    def test_an_older_release_is_installed_only_as_a_downgrade(self):
        self.image("2", "2+os20260701.1200", 1782907200)
        for fields in ({"release": "2+os20260701.1159"}, {"release": "2+os20251231.2359"}, {"version": "1", "release": "1+os20270101.0000"}, {"version": "2"}):
            self.expect_refusal("install", "which is older than 2.os20260701.1200, which runs.*install --downgrade FILE", bundle=self.make_bundle(**fields))
            self.assertEqual(self.state, SlotState("a"))
        self.output_of("install", bundle=self.make_bundle(release="2+os20260701.1159"), downgrade=True)
        self.assertEqual(self.state, SlotState("a", "b", 3))

    def test_the_release_of_an_image_without_one_is_its_version_and_the_day_of_its_packages(self):
        (self.directory / "image").write_text("version=1.9\narchitecture=arm64\nlocked=2026-07-01\n")
        self.assertEqual(rookery_slot.running_release().name, "1.9+os20260701")
        self.expect_refusal("install", "older than 1.9.os20260701", bundle=self.make_bundle(release="1.9+os20260630.2359"))
        self.output_of("install", bundle=self.make_bundle(release="1.9+os20260701.0001"))

    def test_status_names_the_release_of_each_slot(self):
        self.assertIn("Slot a: 1+os20260701.1200\nSlot b: no complete system\n", self.output_of("status"))
        root = self.directory / "root"
        (root / "etc").mkdir(parents=True)
        (root / "etc/rookery-image").write_text("version=2\nrelease=2+os20260801.0000\n")
        subprocess.run(["mkfs.ext4", "-q", "-F", "-d", root, self.slots["b"], "4M"], check=True, capture_output=True)
        self.assertIn("Slot b: 2+os20260801.0000\n", self.output_of("status"))
        self.assertEqual(json.loads(self.output_of("status", json=True))["Releases"], {"a": "1+os20260701.1200", "b": "2+os20260801.0000"})

    def test_metrics_contain_the_running_release_and_the_time_of_its_packages(self):
        self.output_of("judge")
        lines = (self.directory / "metrics" / "rookery_slot.prom").read_text(encoding="ascii").splitlines()
        self.assertIn('rookery_image_info{release="1+os20260701.1200"} 1', lines)
        self.assertIn("rookery_image_packages_timestamp_seconds 1782907200", lines)

    def test_an_update_is_committed_also_if_the_running_release_is_unknown(self):
        self.update()
        self.start()
        (self.directory / "image").unlink()
        self.output_of("judge")
        self.assertEqual(self.state, SlotState("b"))

    def test_an_update_that_would_lock_out_its_caller_is_refused_before_any_change(self):
        self.source = "203.0.113.7"
        self.replace(caller, "is_near", lambda _: False)
        self.replace(caller, "OWN_RULES", self.directory / "nftables.d")
        before, revoked = self.slots["b"].read_bytes(), keys.fingerprint(self.make_key("second"))
        self.expect_refusal("install", "after the restart you could not log in", bundle=self.make_bundle(revoked=[revoked]))
        self.assertEqual((self.state, self.slots["b"].read_bytes()), (SlotState("a"), before))
        self.assertFalse((self.directory / "revoked-update-keys").exists())

    def test_an_update_revokes_a_key_that_did_not_sign_it(self):
        second = self.make_key("second")
        fingerprint = keys.fingerprint(second)
        self.output_of("install", bundle=self.make_bundle(key="second"))
        self.output_of("install", bundle=self.make_bundle(revoked=[fingerprint]))
        self.expect_refusal("install", r"is not signed by a key that this machine trusts .release\.pem.", bundle=self.make_bundle(key="second"))
        # Going back to the previous slot, whose image still has the key, does not restore the trust.
        self.assertEqual((self.directory / "revoked-update-keys").read_text(), fingerprint + "\n")
        # The same key in a file of another name and with other text around it.
        (self.directory / "again.pem").write_text("my key\n" + second.read_text().replace("\n", "\r\n"))
        self.expect_refusal("install", "is not signed by a key", bundle=self.make_bundle(key="second"))

    def test_a_key_that_the_image_revokes_is_not_accepted(self):
        (self.directory / "revoked").write_text(keys.fingerprint(self.make_key("second")) + "\n")
        self.expect_refusal("install", "is not signed by a key", bundle=self.make_bundle(key="second"))

    def test_an_update_that_revokes_its_own_key_is_refused(self):
        self.make_key("second")
        fingerprint = keys.fingerprint(self.keys[0])
        self.expect_refusal("install", "revokes the key release.pem, which signed it", bundle=self.make_bundle(revoked=[fingerprint]))
        self.assertFalse((self.directory / "revoked-update-keys").exists())

    def test_an_update_whose_revoked_keys_include_a_text_that_is_no_fingerprint_is_refused(self):
        for listed in (["a" * 64, f"{'a' * 64}  -"], ["A" * 64], ["a" * 64 + "\n"], [7], "a" * 64, None):
            self.expect_refusal("install", "which is not a fingerprint of a key. It was not installed", bundle=self.make_bundle(revoked=listed))
        self.assertEqual(self.state, SlotState("a"))
        self.assertFalse((self.directory / "revoked-update-keys").exists())

    def test_an_unsigned_manifest_revokes_nothing(self):
        second = keys.fingerprint(self.make_key("second"))
        path = self.make_bundle(lambda files: files.update({"manifest.json": files["manifest.json"].replace(b"}}", b'}, "revoked": ["%s"]}' % second.encode())}))
        self.expect_refusal("install", "is not signed", bundle=path)
        self.assertFalse((self.directory / "revoked-update-keys").exists())

    def test_a_file_without_a_key_among_the_keys_is_reported(self):
        (self.directory / "junk.pem").write_text("no key")
        self.expect_refusal("install", "junk.pem contains no public key", bundle=self.make_bundle())

    def test_commit_ends_the_trial_of_the_running_slot(self):
        self.assertIn("is already the default", self.output_of("commit"))
        self.update()
        self.start()
        self.output_of("commit")
        self.assertEqual(self.state, SlotState("b"))
        self.assertIn("is already the default", self.output_of("commit"))


if __name__ == "__main__":
    unittest.main()
