"""The keys whose signatures this machine accepts, and the revoked keys, which it no longer accepts.

A key is revoked by its fingerprint, the SHA-256 of the DER form of its public half. The image of the running slot lists fingerprints, and so does each update, in its
signed manifest. Those of an update are recorded on the data partition before the update is written, so that going back to the previous slot, which still contains the
key, does not restore the trust.
"""

import hashlib
import re
import subprocess
from pathlib import Path

import durable
from state import Refusal

DIRECTORIES = (Path("/usr/share/rookery/update-keys"), Path("/etc/rookery/update-keys"))
# The fingerprints in the image, and those of updates.
REVOKED_BY_IMAGE, REVOKED = Path("/usr/share/rookery/update-keys/revoked"), Path("/data/system/revoked-update-keys")


def fingerprint(key: Path) -> str:
    """The fingerprint of a public key in PEM. Raises Refusal if the file contains none."""
    # The hash is over the DER form, because a PEM file may have the same key with other line ends and other text around it.
    result = subprocess.run(["openssl", "pkey", "-pubin", "-in", key, "-outform", "DER"], capture_output=True, check=False)
    if result.returncode != 0:
        raise Refusal(f"{key} contains no public key. Remove it, or write the key again: openssl pkey -in KEY -pubout -out {key}")
    return hashlib.sha256(result.stdout).hexdigest()


def is_fingerprint(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{64}", text) is not None


def revoked() -> set[str]:
    """All revoked fingerprints."""
    found: set[str] = set()
    for file in (REVOKED_BY_IMAGE, REVOKED):
        try:
            found.update(file.read_text(encoding="ascii").split())
        except FileNotFoundError:
            pass
    return found


def trusted() -> list[Path]:
    """The public keys that are not revoked."""
    refused = revoked()
    return [key for key in sorted(key for directory in DIRECTORIES for key in directory.glob("*.pem")) if fingerprint(key) not in refused]


def revoke(fingerprints: tuple[str, ...]) -> None:
    """Records fingerprints durably."""
    new = sorted(set(fingerprints) - revoked())
    if not new:
        return
    before = REVOKED.read_text(encoding="ascii") if REVOKED.exists() else ""
    durable.replace_text(REVOKED, before + "".join(f"{one}\n" for one in new))
