"""Update bundles: a tar file with manifest.json, its Ed25519 signature, and the file system of one slot, compressed.

Nothing of a bundle is used before its signature was checked with a key of /usr/share/rookery/update-keys (or of /etc/rookery/update-keys, the owner's), and nothing
of the slot counts before all of it was written, read back and found to have the SHA-256 of the manifest: until then the slot lacks its first block, and with it the
superblock, without which neither U-Boot nor `rookery-slot rollback` takes it for a slot.
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

from state import Refusal

CHUNK_BYTES = 4 << 20
MEMBERS = ("manifest.json", "manifest.json.sig", "slot.ext4.zst")
MANIFEST_BYTES = 65536
# Holds the superblock of an ext4, 1024 bytes from its beginning.
FIRST_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class Manifest:
    version: str
    architecture: str
    slot_bytes: int
    slot_sha256: str


def is_signed(manifest: bytes, signature: bytes, keys: list[Path]) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        text, sign = Path(directory) / "text", Path(directory) / "signature"
        text.write_bytes(manifest)
        sign.write_bytes(signature)
        return any(
            subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", text, "-sigfile", sign], capture_output=True, check=False).returncode == 0
            for key in keys
        )


def take(archive: tarfile.TarFile, name: str, path: Path) -> tarfile.TarInfo:
    member = archive.next()
    if member is None or member.name != name or not member.isfile():
        raise Refusal(f"{path} is no update bundle of Rookery: it has no {name} where that has to be. Is it whole? The release's SHA256SUMS tells.")
    return member


def open_checked(path: Path, keys: list[Path]) -> tuple[tarfile.TarFile, Manifest]:
    """The bundle, read up to its slot, and its manifest, when a key of `keys` signed that."""
    if not keys:
        raise Refusal("There is no key to check updates with in /usr/share/rookery/update-keys or /etc/rookery/update-keys.")
    try:
        archive = tarfile.open(path, "r|")
        manifest, signature = (archive.extractfile(take(archive, name, path)).read(MANIFEST_BYTES) for name in MEMBERS[:2])
    except (OSError, tarfile.TarError) as error:
        raise Refusal(f"{path} cannot be read as an update bundle: {error}") from error
    if not is_signed(manifest, signature, keys):
        raise Refusal(f"{path} is not signed by a key that this machine trusts ({', '.join(key.name for key in keys)}). It is not used.")
    said = json.loads(manifest)
    return archive, Manifest(said["version"], said["architecture"], said["slot"]["bytes"], said["slot"]["sha256"])


def write_slot(archive: tarfile.TarFile, manifest: Manifest, path: Path, device: str, progress) -> None:
    """Writes the slot of an opened bundle to a partition and checks what the partition then holds."""
    member = take(archive, MEMBERS[2], path)
    descriptor = os.open(device, os.O_RDWR)
    try:
        if os.lseek(descriptor, 0, os.SEEK_END) < manifest.slot_bytes:
            raise Refusal(f"The slot {device} has no room for {manifest.slot_bytes} bytes: flash the card anew with this version; the data stay on a drive, and on a card only with a backup.")
        # Whatever ends this on the way, what is in the slot then is no file system.
        os.pwrite(descriptor, bytes(FIRST_BLOCK_BYTES), 0)
        os.fsync(descriptor)
        with ThreadPoolExecutor(1) as writer, subprocess.Popen(["zstd", "--decompress", "--stdout", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as unpacking:
            writing = writer.submit(write_all_but_first_block, unpacking.stdout, descriptor)
            source, left = archive.extractfile(member), member.size
            try:
                while chunk := source.read(CHUNK_BYTES):
                    unpacking.stdin.write(chunk)
                    left -= len(chunk)
                    progress(member.size - left, member.size)
            except BrokenPipeError:
                # The unpacking or the writing ended before; both are asked below.
                pass
            except (tarfile.TarError, OSError) as error:
                unpacking.kill()
                raise Refusal(f"{path} breaks off or is damaged ({error}). The slot that runs was not touched.") from error
            finally:
                with suppress(BrokenPipeError):
                    unpacking.stdin.close()
            try:
                first_block = writing.result()
            except OSError as error:
                raise Refusal(f"The slot {device} cannot be written ({error.strerror}): the card may be worn out. The slot that runs was not touched.") from error
        if unpacking.returncode != 0 or left != 0:
            raise Refusal(f"{path} is damaged: its slot cannot be unpacked. The slot that runs was not touched.")
        differs = f"What {device} holds after writing is not what the bundle says: the bundle or the card is damaged. The slot that runs was not touched."
        # From the card, and not from memory.
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        if hash_of(descriptor, first_block, manifest.slot_bytes) != manifest.slot_sha256:
            raise Refusal(differs)
        os.pwrite(descriptor, first_block, 0)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        if os.pread(descriptor, len(first_block), 0) != first_block:
            raise Refusal(differs)
    finally:
        os.close(descriptor)


def write_all_but_first_block(source: BinaryIO, descriptor: int) -> bytes:
    """Writes what comes, but for the first block, which is returned; the rest is on the card then."""
    with source, open(descriptor, "r+b", closefd=False) as target:
        first_block = source.read(FIRST_BLOCK_BYTES)
        target.seek(FIRST_BLOCK_BYTES)
        while chunk := source.read(CHUNK_BYTES):
            target.write(chunk)
        target.flush()
        os.fsync(descriptor)
        return first_block


def hash_of(descriptor: int, first_block: bytes, length: int) -> str:
    """The SHA-256 of the first block, which is not written yet, and of what follows it on the card."""
    digest, offset = hashlib.sha256(first_block), len(first_block)
    while offset < length:
        chunk = os.pread(descriptor, min(CHUNK_BYTES, length - offset), offset)
        if not chunk:
            break
        digest.update(chunk)
        offset += len(chunk)
    return digest.hexdigest()
