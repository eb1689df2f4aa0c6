"""Tests the refusals of `image/release`, and the files that its dry run lists."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
CHANGELOG = "# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n### Fixed\n- A fault.\n\n## 1.2.2\n\nOlder.\n"


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.top = Path(self.folder.name)
        (self.top / "image").mkdir()
        shutil.copy(TOP / "image" / "release", self.top / "image" / "release")
        (self.top / "Directory.Build.props").write_text("<Project><Version>1.2.3</Version></Project>\n")
        (self.top / "CHANGELOG.md").write_text(CHANGELOG)
        (self.top / "ansible").mkdir()
        (self.top / "ansible" / "galaxy.yml").write_text("version: 1.2.3\n")
        (self.top / "image/lock").mkdir()
        self.lock("1.0-1", 1795384705)
        (self.top / ".gitignore").write_text("artifacts/\n")
        self.git("init", "--quiet")
        self.commit()

    def lock(self, version, epoch):
        """Writes locks of one package with this version."""
        for name in ("amd64", "arm64", "boot"):
            (self.top / f"image/lock/{name}.Packages").write_text(f"Package: base-{name}\nVersion: {version}\n\n")
        (self.top / "image/lock/epoch").write_text(f"{epoch}\n")

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=self.top, check=True)

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "All")

    def release(self, *arguments, environment=None):
        command = [self.top / "image" / "release", *arguments]
        return subprocess.run(command, cwd="/", text=True, capture_output=True, env=environment)

    def changelog(self, text):
        (self.top / "CHANGELOG.md").write_text(text)
        self.commit()

    def test_a_dry_run_lists_the_files_and_creates_none(self):
        result = self.release("--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        for name in ["NOTES", "rookery_1.2.3_amd64.deb", "rookery_1.2.3_arm64.deb", "SHA256SUMS"]:
            self.assertIn(f"artifacts/release/1.2.3/{name}\n", result.stdout)
        self.assertIn("sbom.json", result.stdout)
        self.assertFalse((self.top / "artifacts").exists())

    def test_a_tree_with_changes_is_refused_and_the_changed_files_are_named(self):
        (self.top / "new.txt").write_text("new")
        result = self.release("--dry-run")
        self.assertEqual(result.returncode, 1)
        self.assertIn("new.txt", result.stderr)

    def test_a_version_without_a_section_is_refused(self):
        self.changelog(CHANGELOG.replace("## 1.2.3", "## 1.2.3-beta"))
        result = self.release("--dry-run")
        self.assertEqual(result.returncode, 1)
        self.assertIn("## 1.2.3'", result.stderr)

    def test_lines_under_unreleased_are_refused(self):
        self.changelog(CHANGELOG.replace("## Unreleased\n", "## Unreleased\n\n- New.\n"))
        result = self.release("--dry-run")
        self.assertEqual(result.returncode, 1)
        self.assertIn("Unreleased", result.stderr)

    def test_a_collection_of_another_version_is_refused(self):
        (self.top / "ansible" / "galaxy.yml").write_text("version: 1.2.2\n")
        self.commit()
        result = self.release("--dry-run")
        self.assertEqual(result.returncode, 1)
        self.assertIn("galaxy.yml says version 1.2.2", result.stderr)

    def test_a_missing_linker_is_reported_before_the_first_build(self):
        (self.top / "server").mkdir()
        shutil.copy(TOP / "server" / "publish", self.top / "server" / "publish")
        self.commit()
        programs = tempfile.TemporaryDirectory()
        self.addCleanup(programs.cleanup)
        marker = Path(programs.name) / "begun"
        for name, line in [("gcc", "exit 1"), ("clang", "exit 1"), ("make", f"touch {marker}; exit 1")]:
            (Path(programs.name) / name).write_text(f"#!/bin/sh\n{line}\n")
            (Path(programs.name) / name).chmod(0o755)
        result = self.release(environment=os.environ | {"PATH": f"{programs.name}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 1)
        for architecture in ["amd64", "arm64"]:
            self.assertIn(f"No executable can be linked for {architecture} on this machine.", result.stderr)
        self.assertIn("apt-get install", result.stderr)
        self.assertFalse(marker.exists())

    def test_renewed_packages_of_a_released_version_make_an_image_release_of_its_own(self):
        self.git("tag", "v1.2.3")
        # As `make image-lock` leaves it: not committed.
        self.lock("1.0-1+deb13u1", 1795999999)
        result = self.release("--os", "--dry-run")
        self.assertEqual(result.returncode, 0, result.stderr)
        folder = "artifacts/release/1.2.3+os20261130.0053"
        self.assertEqual(set(result.stdout.split()), {f"{folder}/{name}" for name in ("NOTES", "SHA256SUMS")}
                         | {f"{folder}/rookery-1.2.3+os20261130.0053-{arch}.{end}" for arch in ("amd64", "arm64") for end in ("img.zst", "update.tar", "sbom.json", "imager.json")})

    def test_images_without_a_published_address_are_told(self):
        self.git("tag", "v1.2.3")
        self.lock("1.0-1+deb13u1", 1795999999)
        for address, is_told in (("", True), ("https://example.org/v1.2.3", False)):
            result = self.release("--os", "--dry-run", environment=os.environ | {"RELEASE_URL": address})
            self.assertEqual("RELEASE_URL is not set" in result.stderr, is_told, result.stderr)

    def test_imager_finds_the_image_at_the_published_address(self):
        image = self.top / "rookery.img"
        image.write_text("x")
        image.with_name("rookery.img.zst").write_text("x")
        for address, url in (("", self.top.resolve().as_uri()), ("https://example.org/v1/", "https://example.org/v1")):
            result = subprocess.run([TOP / "image/describe", "imager", "1", "arm64", image], check=True, capture_output=True, text=True,
                                    env=os.environ | {"SOURCE_DATE_EPOCH": "0", "RELEASE_URL": address})
            self.assertEqual(json.loads(result.stdout)["os_list"][0]["url"], f"{url}/rookery.img.zst")

    @unittest.skipUnless(os.geteuid() == 0, "image/build needs root")
    def test_another_published_address_runs_the_step_that_uses_it_again(self):
        programs = self.top / "bin"
        programs.mkdir()
        for name in ("mmdebstrap", "arch-test", "curl", "unshare"):
            (programs / name).symlink_to("/bin/true")
        for file in ("image/build", "image/lib.sh"):
            shutil.copy(TOP / file, self.top / file)
        key = self.top / "signing.key"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True, capture_output=True)
        (self.top / "image/steps").mkdir()
        for name, use in (("10-other", ""), ("80-release", "export RELEASE_URL")):
            (self.top / "image/steps" / name).write_text(f"#!/bin/sh\n# A step.\n# Needs: image/lib.sh\n# Leaves: image/lib.sh\n{use}\n")
            (self.top / "image/steps" / name).chmod(0o755)
        architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()
        for address, skipped in (("https://a.example", 0), ("https://a.example", 2), ("https://b.example", 1)):
            environment = {"UPDATE_KEY": str(key), "RELEASE_URL": address, "PATH": f"{programs}:{os.environ['PATH']}"}
            result = subprocess.run([self.top / "image/build", "--arch", architecture], capture_output=True, text=True, check=True, env=os.environ | environment)
            self.assertEqual(result.stdout.count("unchanged, skipped"), skipped, result.stdout)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_locks_are_committed_as_the_owner_of_the_checkout_when_root_builds(self):
        self.git("tag", "v1.2.3")
        self.lock("1.0-1+deb13u1", 1795999999)
        (self.top / "server").mkdir()
        programs = tempfile.TemporaryDirectory()
        self.addCleanup(programs.cleanup)
        # The build fails after the commit.
        for name, line in [(name, "exit 0") for name in ("mmdebstrap", "arch-test", "curl", "unshare", "qemu-aarch64-static")] + [("make", "exit 1")]:
            (Path(programs.name) / name).write_text(f"#!/bin/sh\n{line}\n")
            (Path(programs.name) / name).chmod(0o755)
        (self.top / "server/publish").write_text("#!/bin/sh\n")
        (self.top / "server/publish").chmod(0o755)
        self.git("add", "server")
        self.git("commit", "--quiet", "--message", "Programs")
        self.git("tag", "--force", "v1.2.3")
        # An account that has no name here.
        owner = 54321
        for path in [self.top, *self.top.rglob("*")]:
            os.lchown(path, owner, owner)
        identity = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in (("NAME", "ann"), ("EMAIL", "ann@example.org"))}
        result = self.release("--os", environment=os.environ | identity | {"SUDO_UID": str(owner), "PATH": f"{programs.name}:{os.environ['PATH']}"})
        self.assertEqual(result.returncode, 1, result.stderr)
        command = ["git", "-c", f"safe.directory={self.top}", "log", "-1", "--format=%s"]
        self.assertIn("Renew the locked packages for 1.2.3+os", subprocess.run(command, cwd=self.top, text=True, capture_output=True, check=True).stdout)
        self.assertEqual({path.lstat().st_uid for path in (self.top / ".git").rglob("*")}, {owner})

    def test_an_image_release_of_another_program_than_the_released_one_is_refused(self):
        self.git("tag", "v1.2.3")
        self.lock("1.0-1+deb13u1", 1795999999)
        (self.top / "program.cs").write_text("new")
        self.commit()
        result = self.release("--os", "--dry-run")
        self.assertEqual(result.returncode, 1)
        self.assertIn("differ from the tag v1.2.3", result.stderr)
        self.assertIn("program.cs", result.stderr)

    def test_an_image_release_without_renewed_packages_or_a_tag_is_refused(self):
        for words in ("There is no tag v1.2.3", "there are no newer packages"):
            result = self.release("--os", "--dry-run")
            self.assertEqual(result.returncode, 1)
            self.assertIn(words, result.stderr)
            self.git("tag", "--force", "v1.2.3")

    def test_an_unknown_option_is_refused(self):
        self.assertEqual(self.release("--now").returncode, 64)


if __name__ == "__main__":
    unittest.main()
