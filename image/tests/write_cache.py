"""A card with a volatile write cache: after a power cut only data that were flushed are certain to be on it.

QEMU records the writes of a machine (blklogwrites, in the format of Linux's dm-log-writes, Documentation/admin-guide/device-mapper/log-writes.rst). After the plug
was pulled, the card is rebuilt from its initial contents, as if the power had failed just after a randomly chosen write: it gets all writes up to the last flush
before that one, and each sector written between the two with a probability of 1/2. Killing QEMU alone would lose nothing, because the host keeps all it was given."""

import random
import struct
import subprocess
from pathlib import Path

SECTOR = 512
HEADER = struct.Struct("<4Q")
FLUSH, DISCARD, MARK = 1, 4, 8
# The superblock of ext4 is two sectors with a checksum over both. Cards write 4 KiB at once, so either both sectors are written or neither.
# Partitions begin at whole MiB.
EXT4_SUPERBLOCK = (1024, 1024 + SECTOR)
PARTITIONS_ALIGN = 1 << 20


class WriteCache:
    """The cache of one card during one start of a machine."""

    def __init__(self, card: Path, chance: random.Random):
        self.card, self.chance = card, chance
        self.initial, self.log = card.with_name("before.img"), card.with_name("writes.log")
        subprocess.run(["cp", "--sparse=always", card, self.initial], check=True)
        self.log.write_bytes(b"")

    def block_device(self) -> dict:
        """The description for QEMU, with the node name `card`."""
        return {"driver": "blklogwrites", "node-name": "card", "log-sector-size": SECTOR,
                "file": {"driver": "file", "filename": str(self.card)}, "log": {"driver": "file", "filename": str(self.log)}}

    def lose(self) -> str:
        """Rebuilds the card as a power cut may leave it, and describes that in words."""
        writes = self._recorded_writes()
        cut = self.chance.randrange(len(writes)) if writes else -1
        durable = writes[cut][2] if writes else 0
        lost = 0
        with open(self.initial, "r+b") as card:
            for number, (at, data, _) in enumerate(writes[:cut + 1]):
                is_kept = self.chance.random() < 0.5
                for offset in range(0, len(data), SECTOR):
                    if number >= durable:
                        if (at + offset) % PARTITIONS_ALIGN not in EXT4_SUPERBLOCK:
                            is_kept = self.chance.random() < 0.5
                        lost += not is_kept
                        if not is_kept:
                            continue
                    card.seek(at + offset)
                    card.write(data[offset:offset + SECTOR])
        self.initial.replace(self.card)
        self.log.unlink()
        return f"write {cut + 1} of {len(writes)} was the last, {durable} were flushed, {lost} sectors are lost"

    def _recorded_writes(self) -> list[tuple[int, bytes, int]]:
        """Returns all writes: the offset in bytes, the data, and how many writes were flushed before."""
        writes: list[tuple[int, bytes, int]] = []
        durable = 0
        with open(self.log, "rb") as log:
            log.seek(SECTOR)
            while len(header := log.read(SECTOR)) == SECTOR:
                sector, sectors, flags, _ = HEADER.unpack_from(header)
                if sectors == 0 and flags == 0:
                    break
                data = b"" if flags & (DISCARD | MARK) else log.read(sectors * SECTOR)
                if len(data) < (0 if flags & (DISCARD | MARK) else sectors * SECTOR):
                    break
                if flags & FLUSH:
                    durable = len(writes)
                if data:
                    writes.append((sector * SECTOR, data, durable))
        return writes
