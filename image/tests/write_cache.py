"""A card whose own memory is lost with the power: what the machine wrote is on it for certain only when it was told to flush.

QEMU records what a machine writes (blklogwrites, in the format of Linux's dm-log-writes, Documentation/admin-guide/device-mapper/log-writes.rst). After the
plug was pulled the card is made again from what it held before, as if the power had gone just after a write that chance chooses: all up to the last flush
before that, and of what came between the two each sector or not. Killing QEMU alone loses nothing, because the host keeps what it was given."""

import random
import struct
import subprocess
from pathlib import Path

SECTOR = 512
HEADER = struct.Struct("<4Q")
FLUSH, DISCARD, MARK = 1, 4, 8
# The superblock of ext4 is two sectors with a checksum over both. Cards write 4 KiB at once, so it is not torn there, and stays whole or as it was.
# Partitions begin at whole MiB.
EXT4_SUPERBLOCK = (1024, 1024 + SECTOR)
PARTITIONS_ALIGN = 1 << 20


class WriteCache:
    def __init__(self, card: Path, chance: random.Random):
        self.card, self.chance = card, chance
        self.before, self.log = card.with_name("before.img"), card.with_name("writes.log")
        subprocess.run(["cp", "--sparse=always", card, self.before], check=True)
        self.log.write_bytes(b"")

    def block_device(self) -> dict:
        """What QEMU is told, as the node `card`."""
        return {"driver": "blklogwrites", "node-name": "card", "log-sector-size": SECTOR,
                "file": {"driver": "file", "filename": str(self.card)}, "log": {"driver": "file", "filename": str(self.log)}}

    def lose(self) -> str:
        """Leaves on the card what it may hold, and says what that is."""
        writes = self._recorded()
        cut = self.chance.randrange(len(writes)) if writes else -1
        durable = writes[cut][2] if writes else 0
        lost = 0
        with open(self.before, "r+b") as card:
            for number, (at, data, _) in enumerate(writes[:cut + 1]):
                stays = self.chance.random() < 0.5
                for offset in range(0, len(data), SECTOR):
                    if number >= durable:
                        if (at + offset) % PARTITIONS_ALIGN not in EXT4_SUPERBLOCK:
                            stays = self.chance.random() < 0.5
                        lost += not stays
                        if not stays:
                            continue
                    card.seek(at + offset)
                    card.write(data[offset:offset + SECTOR])
        self.before.replace(self.card)
        self.log.unlink()
        return f"write {cut + 1} of {len(writes)} was the last, {durable} were flushed, {lost} sectors are lost"

    def _recorded(self) -> list[tuple[int, bytes, int]]:
        """All writes as (byte, data, how many before it were flushed)."""
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
