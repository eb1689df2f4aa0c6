"""The drive that the node lives on, where rookery.toml asks for one: found again, or formatted when it is blank, and mounted over /var/lib/rookery.

Once a drive was taken, a mark on the card names its file system, and the node starts on that and on nothing else. What is on the drive is the whole node: a new
card with the same consent goes on as the same one. The order of what is made durable: the mark with the file system's UUID, a text at the end of the blank drive
that names it, the file system, which ends before that text. So a cut, also one while the file system is made, leaves a drive that is blank, or that says it is ours
to format, or that is formatted; anything else is left alone."""

import json
import os
import subprocess
import time
import uuid
from dataclasses import asdict, dataclass

from system import Machine

HOME = "/var/lib/rookery"
MARK = "/data/system/drive.json"
# While it is there, the node does not start, and rookery-drive.service looks again when a drive is attached.
WAITS = "/run/rookery-image/waits-for-drive"
LOOK = "/run/rookery-image/look"
LABEL = "rookery"
# A board's own card is no drive. A card in a USB reader is one, because nothing tells it from a stick; an empty reader has no size.
TRANSPORTS = ("usb", "nvme", "sata")
COLUMNS = "PATH,TYPE,TRAN,MODEL,SERIAL,SIZE,FSTYPE,LABEL,UUID,MOUNTPOINT"
ZEROS_BYTES = 1 << 20
OPTIONS = "noatime,commit=30,noinit_itable"
PATIENCE_SECONDS = 10


def describe(name: str, serial: str) -> str:
    return f"{name} (serial {serial or 'unknown'})"


@dataclass
class FileSystem:
    path: str
    kind: str | None
    label: str | None
    uuid: str | None


@dataclass
class Drive:
    """A disk that is attached, with the file systems that lie on it or on its partitions."""

    path: str
    name: str
    serial: str
    size_bytes: int
    has_partitions: bool
    file_systems: list[FileSystem]

    def __str__(self) -> str:
        return describe(self.name, self.serial)

    def of_node(self) -> list[FileSystem]:
        return [each for each in self.file_systems if each.label == LABEL and each.kind == "ext4"]


@dataclass
class Mark:
    """What the card knows of its drive. Once it is formatted, nothing is ever formatted for this card again."""

    name: str
    serial: str
    uuid: str
    is_formatted: bool

    def __str__(self) -> str:
        return describe(self.name, self.serial)


class NoDrive(Exception):
    """Why there is no drive to use, for a person."""


class NotAttached(NoDrive):
    """It may still come."""


def attached(machine: Machine, waits: bool = True) -> list[Drive]:
    """All drives that udev knows, but the disk that the machine was started from; with `waits` after it has looked at all that is there."""
    if waits:
        # It is what makes udev look; this may run before it.
        machine.run("systemctl", "start", "systemd-udev-trigger.service", fails=True)
        machine.run("udevadm", "settle", "--timeout=10", fails=True)
    started_from = (machine.read("/run/rookery-image/disk") or "").strip()
    return [
        Drive(
            disk["path"], (disk["model"] or "a drive").strip(), (disk["serial"] or "").strip(), disk["size"], bool(disk.get("children")),
            [FileSystem(place["path"], place["fstype"], place["label"], place["uuid"]) for place in [disk, *disk.get("children", [])]],
        )
        for disk in json.loads(machine.run("lsblk", "--json", "--bytes", "--output", COLUMNS) or '{"blockdevices":[]}')["blockdevices"]
        if disk["type"] == "disk" and disk["tran"] in TRANSPORTS and disk["path"] != started_from and disk["size"]
    ]


def formatting(identity: str) -> bytes:
    return f"rookery: formatting {identity}\n".encode().ljust(512, b"\0")


def read(machine: Machine, drive: Drive, offset: int, length: int) -> bytes:
    with open(machine.path(drive.path), "rb") as device:
        device.seek(offset)
        return device.read(length)


def named(machine: Machine, drive: Drive) -> str | None:
    """What is on a drive by the name that lsblk or blkid has for it; None when they have none."""
    if drive.has_partitions:
        return "partitions"
    try:
        signature = machine.run("sh", "-c", 'blkid -p -s TYPE -s PTTYPE -o value "$1" || [ $? -eq 2 ]', "sh", drive.path).split()
    except (OSError, subprocess.SubprocessError):
        return "something that cannot be read"
    return signature[0] if signature else None


def holds(machine: Machine, drive: Drive) -> str | None:
    """What is on a drive, in words; None when it is blank: nothing that blkid knows, no partition, and a MiB of zeros, as from the factory. Zeros, because blkid knows nothing of a drive that is encrypted without a header."""
    try:
        return named(machine, drive) or (None if read(machine, drive, 0, ZEROS_BYTES) == bytes(ZEROS_BYTES) else "something that cannot be named")
    except OSError:
        return "something that cannot be read"


def how_to_empty(drive: Drive) -> str:
    return ("When nothing on it is needed any more, empty it: on Windows `diskpart`, `select disk N`, `clean`; "
            f"on Linux `wipefs --all {drive.path}` and `dd if=/dev/zero of={drive.path} bs=1M count=1`. The node waits.")


def end_of_file_system(drive: Drive) -> int:
    """Where a file system of ours ends: mkfs.ext4 zeroes the beginning first and writes the superblock last, so that only what is beyond tells what it leaves when it is cut off."""
    return (drive.size_bytes - ZEROS_BYTES) // 4096 * 4096


def is_being_formatted(machine: Machine, drive: Drive, identity: str) -> bool:
    """Whether a cut ended our own formatting of it under this UUID."""
    try:
        return named(machine, drive) is None and read(machine, drive, end_of_file_system(drive), 512) == formatting(identity)
    except OSError:
        return False


def marked(machine: Machine, drives: list[Drive], mark: Mark) -> tuple[Drive, FileSystem | None]:
    """The drive that the card's mark names, and its file system; None when that is still to be made."""
    found = [(drive, each) for drive in drives for each in drive.file_systems if each.uuid == mark.uuid]
    if len(found) > 1:
        found = [(drive, each) for drive, each in found if (drive.name, drive.serial) == (mark.name, mark.serial)]
        if len(found) != 1:
            raise NoDrive(f"Several drives hold the file system {mark.uuid} of this node: one is a copy. Detach the copy. The node waits.")
    if found:
        return found[0]
    for drive in drives if not mark.is_formatted else []:
        if is_being_formatted(machine, drive, mark.uuid):
            return drive, None
    # Of the same name and number: it, or another in the same adapter.
    alike = [(drive, holds(machine, drive)) for drive in drives if not mark.is_formatted and (drive.name, drive.serial) == (mark.name, mark.serial)]
    for drive, contents in alike:
        if contents is None:
            return drive, None
    for drive, contents in alike:
        raise NotAttached(f"The formatting of this node's drive, {mark}, was cut off, and it holds {contents} by now: it is left alone. {how_to_empty(drive)}")
    raise NotAttached(f"The drive of this node, {mark}, file system {mark.uuid}, is not attached. The node waits for it, starts when it is attached, and never starts without. "
                      "If the drive is lost for good, flash this card anew and let it join in the node's place.")


def chosen(machine: Machine, drives: list[Drive], wanted: str, is_last_look: bool) -> tuple[Drive, FileSystem | None]:
    """The drive for a card that has none yet: one of a node goes before a blank one, which is taken only when no other has come."""
    fitting = [drive for drive in drives if wanted in ("any", drive.serial)]
    of_nodes = [(drive, each) for drive in fitting for each in drive.of_node()]
    if len(of_nodes) > 1 or (len(fitting) > 1 and not of_nodes):
        raise NoDrive("storage.drive: there are several drives: " + "; ".join(map(str, fitting)) + ". Write the serial number of the one to use instead of \"any\", or detach the others. The node waits.")
    if of_nodes:
        drive, file_system = of_nodes[0]
        if not looks_like_home(machine, file_system.path):
            raise NoDrive(f"storage.drive: {drive} has a file system that is called {LABEL} and holds something else than a node. It is left alone; call it otherwise, or empty it. The node waits.")
        return drive, file_system
    if not fitting:
        others = "; ".join(map(str, drives))
        raise NotAttached("storage.drive: " + (f"the drive {wanted} is not attached, only {others}" if others else "no drive is attached")
                          + ". The node waits for it, and starts when it is attached. To let it live on the card, take the line away.")
    drive = fitting[0]
    found = holds(machine, drive)
    if found is not None:
        raise NoDrive(f"storage.drive: {drive} holds {found} and is left alone: only a blank drive is formatted. {how_to_empty(drive)}")
    if machine.path("/run/rookery-image/no-data").exists():
        raise NoDrive(f"storage.drive: {drive} is blank, and is not formatted, because this card's data partition, which has to remember that, is not used. The node waits.")
    if not is_last_look:
        raise NotAttached(f"storage.drive: {drive} is blank, and one of a node may still come.")
    return drive, None


def looks_like_home(machine: Machine, path: str) -> bool:
    """Whether a file system is a node's home, or was made for one; looked at without a write."""
    machine.path(LOOK).mkdir(parents=True, exist_ok=True)
    machine.run("mount", "-t", "ext4", "-o", "ro,noload", path, LOOK)
    try:
        names = {entry.name for entry in machine.path(LOOK).iterdir()} - {"lost+found"}
    finally:
        machine.run("umount", LOOK)
    return not names or "config.json" in names or "data" in names


def wait_for(machine: Machine, wanted: str, mark: Mark | None, sleep) -> tuple[Drive, FileSystem | None]:
    """The drive to use, which a hub may take seconds to show."""
    for seconds in range(PATIENCE_SECONDS, -1, -1):
        drives = attached(machine)
        try:
            return marked(machine, drives, mark) if mark is not None else chosen(machine, drives, wanted, seconds == 0)
        except NotAttached:
            if seconds == 0:
                raise
            sleep(1)
    raise AssertionError("the last second raises")


def read_mark(machine: Machine) -> Mark | None:
    try:
        return Mark(**json.loads(machine.path(MARK).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise NoDrive(f"The card's note of the node's drive, {MARK}, cannot be read ({type(error).__name__}). The node does not start, because it could be on an empty directory. "
                      "With the drive attached, delete that file and restart; rookery.toml must say drive = \"any\" in its section [storage].") from error


def write_mark(machine: Machine, mark: Mark) -> None:
    machine.write(MARK, json.dumps(asdict(mark), indent=2) + "\n")


def format_drive(machine: Machine, drive: Drive, identity: str) -> FileSystem:
    """Makes the file system of a drive that is blank, or that says that this was begun."""
    assert is_being_formatted(machine, drive, identity) or holds(machine, drive) is None, f"{drive} is not blank"
    write_mark(machine, Mark(drive.name, drive.serial, identity, False))
    end = end_of_file_system(drive)
    with open(machine.path(drive.path), "r+b") as device:
        device.seek(end)
        device.write(formatting(identity))
        device.flush()
        os.fsync(device.fileno())
    # An inode for each 256 KiB, as on the card: a node keeps few, large files. TRIM comes weekly: on all of a large drive at once it takes minutes.
    machine.run("mkfs.ext4", "-q", "-F", "-L", LABEL, "-U", identity, "-i", "262144", "-m", "1", "-E", "nodiscard", drive.path, f"{end // 1024}k", seconds=3600)
    machine.run("sync")
    return FileSystem(drive.path, "ext4", LABEL, identity)


def mount(machine: Machine, path: str) -> None:
    # 0: clean, 1: mended. Anything else is for a person to judge.
    machine.run("sh", "-c", 'e2fsck -p "$1" || [ $? -eq 1 ]', "sh", path, seconds=24 * 3600)
    machine.run("mount", "-t", "ext4", "-o", OPTIONS, path, HOME)
    try:
        # Fails on a drive that is write-protected, too, on which the node must not start.
        machine.run("chown", "root:rookery", HOME)
        machine.run("chmod", "1770", HOME)
        give_to_node(machine)
    except BaseException:
        machine.run("umount", "--lazy", HOME, fails=True)
        raise


def give_to_node(machine: Machine) -> None:
    """Gives what was the node's on the machine that wrote the drive to the node on this one, where its user and group may have other numbers."""
    home = machine.path(HOME)
    try:
        written_by = os.lstat(home / "data")
    except FileNotFoundError:
        return
    # `data` last, and of a directory chown changes the owner after what is in it: so that one tells whether all is done.
    entries = [str(entry) for entry in sorted(home.iterdir(), key=lambda entry: entry.name == "data")]
    for kind, before, number in (("-u", "", written_by.st_uid), ("-g", ":", written_by.st_gid)):
        own = machine.run("id", kind, "rookery").strip()
        # What is root's stays so.
        if number != 0 and str(number) != own:
            machine.run("chown", "--recursive", "--no-dereference", f"--from={before}{number}", f"{before}{own}", *entries, seconds=3600)


def is_mounted(machine: Machine, mark: Mark) -> bool:
    return machine.run("findmnt", "--noheadings", "--output", "UUID", "--mountpoint", HOME, fails=True).strip() == mark.uuid


def use(machine: Machine, wanted: str | None, sleep=time.sleep) -> str | None:
    """Mounts the node's drive, when it has one or shall have one, and says which; None when the node lives on the card.

    Raises NoDrive when the drive is not to be had. Whatever is raised, the node has no home then and does not start, but where it lives on the card already."""
    # First, so that no error on the way lets the node start in the wrong place.
    machine.write(WAITS, "")
    mark = read_mark(machine)
    is_on_card = machine.path("/data/rookery/data").exists()
    if mark is None and (wanted is None or is_on_card):
        machine.path(WAITS).unlink()
        if wanted is not None:
            raise NoDrive("storage.drive: a node lives on the card already and stays there, because a drive would hide it. To have it on the drive, take it out of its cluster, flash the card anew, and let it join.")
        # Only the start that makes a node waits for this: each later one would be 9 s longer in QEMU for a remark.
        if any(drive.of_node() for drive in attached(machine, waits=not is_on_card)):
            raise NoDrive("The drive of a node is attached and not used: rookery.toml does not say drive = \"any\" in its section [storage]. The node lives on the card.")
        return None
    if mark is None or not is_mounted(machine, mark):
        machine.run("umount", "--quiet", HOME, fails=True)
        drive, file_system = wait_for(machine, wanted or "any", mark, sleep)
        if file_system is None:
            file_system = format_drive(machine, drive, mark.uuid if mark is not None else str(uuid.uuid4()))
        assert file_system.uuid, f"{file_system.path} has no UUID"
        mark = Mark(drive.name, drive.serial, file_system.uuid, True)
        write_mark(machine, mark)
        mount(machine, file_system.path)
    machine.path(WAITS).unlink()
    return str(mark)
