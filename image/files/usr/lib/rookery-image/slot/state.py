"""The state that selects the root slot to start. U-Boot's script (image/boot/boot.cmd) reads it at each boot, and decrements `tries` while a slot is on trial.

It is stored twice, in two sectors before the first partition. Each is an environment as U-Boot writes it (`env export -c`): a little-endian CRC-32 of the following
508 bytes, which hold NAME=VALUE texts, each ended by a zero byte. The sectors are written and synced one after the other, so that one of them survives a power cut.
"""

import mmap
import os
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path

SECTOR_BYTES = 512
SECTORS = (16, 17)
TRIES = 3
SLOTS = ("a", "b")


class Refusal(Exception):
    """Ends the command with a message for the user."""


@dataclass(frozen=True)
class SlotState:
    """`slot` is the default. `trial`, if set, is started instead while `tries` is above 0."""

    slot: str = "a"
    trial: str | None = None
    tries: int = 0

    def encode(self) -> bytes:
        assert self.slot in SLOTS and self.trial in (None, *SLOTS) and 0 <= self.tries <= TRIES
        # `trial=` is written even if empty: on import U-Boot deletes a variable without a value but keeps one that is not mentioned.
        text = f"slot={self.slot}\0trial={self.trial or ''}\0tries={self.tries}\0\0".encode()
        data = text.ljust(SECTOR_BYTES - 4, b"\0")
        return struct.pack("<I", zlib.crc32(data)) + data


def decode(sector: bytes) -> SlotState | None:
    """The state in a sector, or None if it has no valid one."""
    if len(sector) != SECTOR_BYTES or zlib.crc32(sector[4:]) != struct.unpack("<I", sector[:4])[0]:
        return None
    values = dict(text.split("=", 1) for text in sector[4:].split(b"\0\0", 1)[0].decode("ascii", "replace").split("\0") if "=" in text)
    # U-Boot writes hexadecimal numbers, which equal decimal ones up to 9.
    slot, trial, tries = values.get("slot"), values.get("trial") or None, values.get("tries", "0")
    if slot not in SLOTS or trial not in (None, *SLOTS) or not tries.isdigit() or int(tries) > TRIES:
        return None
    return SlotState(slot, trial, int(tries))


def read(disk: str) -> SlotState:
    """The state on a disk; the default, slot a, if none was ever written."""
    with open(disk, "rb") as file:
        for sector in SECTORS:
            file.seek(sector * SECTOR_BYTES)
            state = decode(file.read(SECTOR_BYTES))
            if state is not None:
                return state
    return SlotState()


def write(disk: str, state: SlotState) -> None:
    """Writes both sectors durably, one after the other."""
    descriptor = open_for_sectors(disk)
    # Direct writes need memory at the begin of a page.
    with mmap.mmap(-1, SECTOR_BYTES) as data:
        data.write(state.encode())
        try:
            for sector in SECTORS:
                if os.pwritev(descriptor, [data], sector * SECTOR_BYTES) != SECTOR_BYTES:
                    raise OSError(f"{disk}: sector {sector} was not written")
                os.fsync(descriptor)
        finally:
            os.close(descriptor)


def open_for_sectors(disk: str) -> int:
    """Opens a disk so that a write of one sector writes no other. Through its cache the kernel writes blocks of 4 KiB: both copies of the state and the sectors of
    data-partition.sh at once, which a power cut may damage together."""
    sector_bytes = 0
    try:
        with open(f"/sys/class/block/{Path(disk).resolve().name}/queue/logical_block_size", encoding="ascii") as file:
            sector_bytes = int(file.read())
    except (OSError, ValueError):
        pass
    return os.open(disk, os.O_WRONLY | (os.O_DIRECT if sector_bytes == SECTOR_BYTES else 0))
