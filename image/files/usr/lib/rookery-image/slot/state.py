"""Which root slot is started: two sectors before the first partition that U-Boot's script (image/boot/boot.cmd) reads at each start, and counts down in.

Each sector is an environment as U-Boot writes it (`env export -c`): a CRC-32, little-endian, of the 508 bytes behind it, and in these NAME=VALUE texts that end with a zero
byte each. Both are written one after the other and synced between, so that a power cut leaves one of them.
"""

import os
import struct
import zlib
from dataclasses import dataclass

SECTOR_BYTES = 512
SECTORS = (16, 17)
TRIES = 3
SLOTS = ("a", "b")


class Refusal(Exception):
    """A sentence for the user, what is wrong and what to do, and the end of the command."""


@dataclass(frozen=True)
class SlotState:
    """`slot` is started, unless `trial` is a slot and `tries` of its starts are left."""

    slot: str = "a"
    trial: str | None = None
    tries: int = 0

    def encode(self) -> bytes:
        assert self.slot in SLOTS and self.trial in (None, *SLOTS) and 0 <= self.tries <= TRIES
        # U-Boot deletes a variable that has no value, and would keep an old one that is not named: an empty trial is written so that it is deleted.
        text = f"slot={self.slot}\0trial={self.trial or ''}\0tries={self.tries}\0\0".encode()
        data = text.ljust(SECTOR_BYTES - 4, b"\0")
        return struct.pack("<I", zlib.crc32(data)) + data


def decode(sector: bytes) -> SlotState | None:
    """The state that one sector holds, or None when it holds none."""
    if len(sector) != SECTOR_BYTES or zlib.crc32(sector[4:]) != struct.unpack("<I", sector[:4])[0]:
        return None
    values = dict(text.split("=", 1) for text in sector[4:].split(b"\0\0", 1)[0].decode("ascii", "replace").split("\0") if "=" in text)
    # U-Boot counts in hexadecimal; up to 9 that is the same.
    slot, trial, tries = values.get("slot"), values.get("trial") or None, values.get("tries", "0")
    if slot not in SLOTS or trial not in (None, *SLOTS) or not tries.isdigit() or int(tries) > TRIES:
        return None
    return SlotState(slot, trial, int(tries))


def read(disk: str) -> SlotState:
    """The state on a disk; slot a where none was ever written."""
    with open(disk, "rb") as file:
        for sector in SECTORS:
            file.seek(sector * SECTOR_BYTES)
            state = decode(file.read(SECTOR_BYTES))
            if state is not None:
                return state
    return SlotState()


def write(disk: str, state: SlotState) -> None:
    """Writes both sectors; returns when they are on the disk."""
    descriptor = os.open(disk, os.O_WRONLY)
    try:
        for sector in SECTORS:
            if os.pwrite(descriptor, state.encode(), sector * SECTOR_BYTES) != SECTOR_BYTES:
                raise OSError(f"{disk}: sector {sector} was not written")
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
