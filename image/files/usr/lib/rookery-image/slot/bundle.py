"""Update bundles: a tar file of manifest.json, its Ed25519 signature, and the compressed file system of one slot.

The signature is verified first, with the keys in /usr/share/rookery/update-keys and the owner's in /etc/rookery/update-keys that are not revoked (keys.py). The slot is then written without its
first block, which holds the superblock, and read back. Only if its SHA-256 is that of the manifest, the first block is written. Without it neither U-Boot nor
`rookery-slot rollback` accepts the slot.
"""

import hashlib
import json
import os
import subprocess
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import keys as keys_module
from state import Refusal

CHUNK_BYTES = 4 << 20
MEMBERS = ("manifest.json", "manifest.json.sig", "slot.ext4.zst")
MANIFEST_BYTES = 65536
# Covers the superblock of ext4, which is at byte 1024.
FIRST_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class Manifest:
    """What a bundle contains. `revoked` are fingerprints of keys that machines no longer accept."""

    release: str
    architecture: str
    slot_bytes: int
    slot_sha256: str
    revoked: tuple[str, ...] = ()


def signer(manifest: bytes, signature: bytes, keys: list[Path]) -> Path | None:
    """The key that signed the manifest, or None."""
    with tempfile.TemporaryDirectory() as directory:
        manifest_file, signature_file = Path(directory) / "text", Path(directory) / "signature"
        manifest_file.write_bytes(manifest)
        signature_file.write_bytes(signature)
        return next((
            key for key in keys
            if subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", manifest_file, "-sigfile", signature_file], capture_output=True, check=False).returncode == 0
        ), None)


def next_member(archive: tarfile.TarFile, name: str, path: Path) -> tarfile.TarInfo:
    """Returns the next member of the archive, which must have this name; `path` is for the message."""
    member = archive.next()
    if member is None or member.name != name or not member.isfile():
        raise Refusal(f"{path} is not a Rookery update bundle, or is incomplete: {name} is missing or in the wrong place. Compare its hash with SHA256SUMS of the release.")
    return member


def open_checked(path: Path, keys: list[Path]) -> tuple[tarfile.TarFile, Manifest]:
    """Opens a bundle and verifies that a key of `keys` signed its manifest. Returns the archive, positioned before the slot, and the manifest."""
    if not keys:
        raise Refusal("Neither /usr/share/rookery/update-keys nor /etc/rookery/update-keys has a key to verify the bundle with.")
    try:
        archive = tarfile.open(path, "r|")
        manifest, signature = (archive.extractfile(next_member(archive, name, path)).read(MANIFEST_BYTES) for name in MEMBERS[:2])
    except (OSError, tarfile.TarError) as error:
        raise Refusal(f"{path} cannot be read as an update bundle: {error}") from error
    by = signer(manifest, signature, keys)
    if by is None:
        raise Refusal(f"{path} is not signed by a key that this machine trusts ({', '.join(key.name for key in keys)}). It was not installed.")
    fields = json.loads(manifest)
    # Manifests of the first images have neither a release nor revoked keys.
    revoked = revoked_in(fields, path)
    if keys_module.fingerprint(by) in revoked:
        raise Refusal(f"{path} revokes the key {by.name}, which signed it. It was not installed: a key is revoked by an update that another key signed.")
    return archive, Manifest(fields.get("release", fields["version"]), fields["architecture"], fields["slot"]["bytes"], fields["slot"]["sha256"], revoked)


def revoked_in(fields: dict, path: Path) -> tuple[str, ...]:
    """The fingerprints that a manifest revokes. Refuses another text among them, which would be recorded and revoke nothing."""
    listed = fields.get("revoked", [])
    wrong = [one for one in listed if not keys_module.is_fingerprint(one)] if isinstance(listed, list) else [listed]
    if wrong:
        raise Refusal(f"{path} revokes {wrong[0]!r}, which is not a fingerprint of a key. It was not installed: ask its "
                      "maker for a bundle that revokes the key.")
    return tuple(listed)


def write_slot(archive: tarfile.TarFile, manifest: Manifest, path: Path, device: str, progress) -> None:
    """Writes the slot of an opened bundle to a partition and verifies it there. Calls `progress` with the bytes read of the bundle's slot, and their total."""
    member = next_member(archive, MEMBERS[2], path)
    descriptor = os.open(device, os.O_RDWR)
    try:
        if os.lseek(descriptor, 0, os.SEEK_END) < manifest.slot_bytes:
            raise Refusal(f"The slot {device} is smaller than the {manifest.slot_bytes} bytes of this version. Flash the card again with its image; that keeps data on a drive, but back up data on the card first.")
        # Erase the superblock first: if the update is interrupted, the slot is not taken for a complete one.
        os.pwrite(descriptor, bytes(FIRST_BLOCK_BYTES), 0)
        os.fsync(descriptor)
        with ThreadPoolExecutor(1) as writer, subprocess.Popen(["zstd", "--decompress", "--stdout", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as unpacking:
            writing = writer.submit(write_all_but_first_block, unpacking.stdout, descriptor)
            source, remaining = archive.extractfile(member), member.size
            try:
                while chunk := source.read(CHUNK_BYTES):
                    unpacking.stdin.write(chunk)
                    remaining -= len(chunk)
                    progress(member.size - remaining, member.size)
            except BrokenPipeError:
                # zstd or the writing thread ended early; both are checked below.
                pass
            except (tarfile.TarError, OSError) as error:
                unpacking.kill()
                raise Refusal(f"{path} is incomplete or damaged ({error}). The running slot is unchanged.") from error
            finally:
                with suppress(BrokenPipeError):
                    unpacking.stdin.close()
            try:
                first_block = writing.result()
            except OSError as error:
                raise Refusal(f"The slot {device} cannot be written ({error.strerror}): the card may be worn out. The running slot is unchanged.") from error
        if unpacking.returncode != 0 or remaining != 0:
            raise Refusal(f"{path} is damaged: its slot cannot be unpacked. The running slot is unchanged.")
        mismatch = f"The SHA-256 of {device} after writing differs from the bundle's manifest: the bundle or the card is damaged. The running slot is unchanged."
        # Drops the page cache, so that the data are read from the card.
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        if hash_of(descriptor, first_block, manifest.slot_bytes) != manifest.slot_sha256:
            raise Refusal(mismatch)
        os.pwrite(descriptor, first_block, 0)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        if os.pread(descriptor, len(first_block), 0) != first_block:
            raise Refusal(mismatch)
    finally:
        os.close(descriptor)


def write_all_but_first_block(source: BinaryIO, descriptor: int) -> bytes:
    """Writes everything from `source` but the first block, syncs it, and returns the first block."""
    with source, open(descriptor, "r+b", closefd=False) as target:
        first_block = source.read(FIRST_BLOCK_BYTES)
        target.seek(FIRST_BLOCK_BYTES)
        while chunk := source.read(CHUNK_BYTES):
            target.write(chunk)
        target.flush()
        os.fsync(descriptor)
        return first_block


def hash_of(descriptor: int, first_block: bytes, length: int) -> str:
    """The SHA-256 of `first_block`, which is not written yet, and the rest of the slot as read from the card."""
    digest, offset = hashlib.sha256(first_block), len(first_block)
    while offset < length:
        chunk = os.pread(descriptor, min(CHUNK_BYTES, length - offset), offset)
        if not chunk:
            break
        digest.update(chunk)
        offset += len(chunk)
    return digest.hexdigest()
