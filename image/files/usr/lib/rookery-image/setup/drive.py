"""Mounts the node's drive over /var/lib/rookery, if rookery.toml sets storage.drive. A blank drive is formatted first.

Once a drive is in use, a mark on the card names its file system, and the node starts only on that one. The drive holds the whole node: a new card with the same
setting continues as the same node. Formatting makes durable, in this order: the mark with the file system's UUID, a text with that UUID at the end of the blank
drive, and the file system, which ends before that text. So after a power cut, also during mkfs, the drive is blank, or has the text that allows formatting it
again, or is formatted. Any other drive is left unchanged."""

import json
import os
import subprocess
import time
import uuid
from dataclasses import asdict, dataclass

from system import Machine

HOME = "/var/lib/rookery"
MARK = "/data/system/drive.json"
# While this file exists, the node does not start, and rookery-drive.service checks each drive that is attached.
WAITS = "/run/rookery-image/waits-for-drive"
# The mount point at which the contents of a drive are examined.
LOOK = "/run/rookery-image/look"
LABEL = "rookery"
# The card in the board's own slot is not a drive. A card in a USB reader is one, because it cannot be told from a USB stick. An empty reader has size 0.
TRANSPORTS = ("usb", "nvme", "sata")
# The columns that lsblk prints.
COLUMNS = "PATH,TYPE,TRAN,MODEL,SERIAL,SIZE,FSTYPE,LABEL,UUID,MOUNTPOINT"
# A blank drive begins with this many zeros.
ZEROS_BYTES = 1 << 20
# After an error the file system becomes read-only, so that the error does not spread.
OPTIONS = "noatime,commit=30,noinit_itable,errors=remount-ro"
PATIENCE_SECONDS = 10


def describe(name: str, serial: str) -> str:
    return f"{name} (serial {serial or 'unknown'})"


@dataclass
class FileSystem:
    """A file system, or a place without one, as lsblk describes it: what it does not know is None."""

    path: str
    kind: str | None  # such as "ext4"
    label: str | None
    uuid: str | None


@dataclass
class Drive:
    """An attached disk, and the file systems on it or on its partitions."""

    path: str
    name: str
    serial: str
    size_bytes: int
    has_partitions: bool
    file_systems: list[FileSystem]

    def __str__(self) -> str:
        return describe(self.name, self.serial)

    def node_file_systems(self) -> list[FileSystem]:
        """The file systems that may hold a node, by their label."""
        return [file_system for file_system in self.file_systems if file_system.label == LABEL and file_system.kind == "ext4"]


@dataclass
class Mark:
    """The card's record of its drive. Once `is_formatted` is true, no drive is ever formatted for this card again."""

    name: str
    serial: str
    uuid: str
    is_formatted: bool

    def __str__(self) -> str:
        return describe(self.name, self.serial)


class NoDrive(Exception):
    """There is no usable drive; the message tells the owner why."""


class NotAttached(NoDrive):
    """The drive is not attached yet, but may be later."""


def attached_drives(machine: Machine, waits: bool = True, transports: tuple[str, ...] | None = TRANSPORTS) -> list[Drive]:
    """All attached drives except the boot disk; with `waits` after udev has handled all devices. `transports` are the kinds of connection, None for all."""
    if waits:
        # This unit triggers udev's events and may not have run yet.
        machine.run("systemctl", "start", "systemd-udev-trigger.service", fails=True)
        machine.run("udevadm", "settle", "--timeout=10", fails=True)
    boot_disk = (machine.read("/run/rookery-image/disk") or "").strip()
    return [
        Drive(
            disk["path"], (disk["model"] or "a drive").strip(), (disk["serial"] or "").strip(), disk["size"], bool(disk.get("children")),
            [FileSystem(entry["path"], entry["fstype"], entry["label"], entry["uuid"]) for entry in [disk, *disk.get("children", [])]],
        )
        for disk in json.loads(machine.run("lsblk", "--json", "--bytes", "--output", COLUMNS) or '{"blockdevices":[]}')["blockdevices"]
        if disk["type"] == "disk" and (transports is None or disk["tran"] in transports) and disk["path"] != boot_disk and disk["size"]
    ]


def formatting_text(identity: str) -> bytes:
    """The sector that marks an unfinished formatting with this UUID."""
    return f"rookery: formatting {identity}\n".encode().ljust(512, b"\0")


def read(machine: Machine, drive: Drive, offset: int, length: int) -> bytes:
    with open(machine.path(drive.path), "rb") as device:
        device.seek(offset)
        return device.read(length)


def signature_of(machine: Machine, drive: Drive) -> str | None:
    """The kind of a drive's contents as lsblk or blkid name it; None if they find nothing."""
    if drive.has_partitions:
        return "partitions"
    try:
        signature = machine.run("sh", "-c", 'blkid -p -s TYPE -s PTTYPE -o value "$1" || [ $? -eq 2 ]', "sh", drive.path).split()
    except (OSError, subprocess.SubprocessError):
        return "unreadable data"
    return signature[0] if signature else None


def contents_of(machine: Machine, drive: Drive) -> str | None:
    """A drive's contents in words; None if it is blank: no partitions, nothing that blkid knows, and a first MiB of zeros. The zeros exclude a drive that is encrypted without a header, which blkid does not detect."""
    try:
        return signature_of(machine, drive) or (None if read(machine, drive, 0, ZEROS_BYTES) == bytes(ZEROS_BYTES) else "unknown data")
    except OSError:
        return "unreadable data"


def how_to_empty(drive: Drive) -> str:
    return ("If you no longer need its data, erase it: on Windows `diskpart`, `select disk N`, `clean`; "
            f"on Linux `wipefs --all {drive.path}` and `dd if=/dev/zero of={drive.path} bs=1M count=1`. The node waits.")


def end_of_file_system(drive: Drive) -> int:
    """The end of a file system that format_drive makes, in bytes. The text that marks an unfinished formatting follows it, because mkfs.ext4 zeroes the beginning first and writes the superblock last."""
    return (drive.size_bytes - ZEROS_BYTES) // 4096 * 4096


def is_being_formatted(machine: Machine, drive: Drive, identity: str) -> bool:
    """Whether a power cut interrupted this card's formatting of the drive with this UUID."""
    try:
        return signature_of(machine, drive) is None and read(machine, drive, end_of_file_system(drive), 512) == formatting_text(identity)
    except OSError:
        return False


def find_marked(machine: Machine, drives: list[Drive], mark: Mark) -> tuple[Drive, FileSystem | None]:
    """Returns the drive that the card's mark names, and its file system, or None if it is still to be created."""
    matches = [(drive, file_system) for drive in drives for file_system in drive.file_systems if file_system.uuid == mark.uuid]
    if len(matches) > 1:
        matches = [(drive, file_system) for drive, file_system in matches if (drive.name, drive.serial) == (mark.name, mark.serial)]
        if len(matches) != 1:
            raise NoDrive(f"Several attached drives hold this node's file system {mark.uuid}: all but one are copies. Detach the copies. The node waits.")
    if matches:
        return matches[0]
    for drive in drives if not mark.is_formatted else []:
        if is_being_formatted(machine, drive, mark.uuid):
            return drive, None
    # Drives with the name and serial number of the mark: the drive itself, or another drive in the same adapter.
    same_name = [(drive, contents_of(machine, drive)) for drive in drives if not mark.is_formatted and (drive.name, drive.serial) == (mark.name, mark.serial)]
    for drive, contents in same_name:
        if contents is None:
            return drive, None
    for drive, contents in same_name:
        raise NotAttached(f"Formatting this node's drive, {mark}, was interrupted, and it now holds {contents}, so it is left unchanged. {how_to_empty(drive)}")
    raise NotAttached(f"The drive of this node, {mark}, file system {mark.uuid}, is not attached. The node starts only when it is attached. "
                      "If the drive is lost, flash this card again and let it join in place of this node.")


def choose_unmarked(machine: Machine, drives: list[Drive], wanted: str, is_last_look: bool) -> tuple[Drive, FileSystem | None]:
    """Returns the drive for a card without a mark. Prefers a node's drive to a blank one, which is used only at the last look."""
    candidates = [drive for drive in drives if wanted in ("any", drive.serial)]
    node_drives = [(drive, node_file_system) for drive in candidates for node_file_system in drive.node_file_systems()]
    if len(node_drives) > 1 or (len(candidates) > 1 and not node_drives):
        raise NoDrive("storage.drive: several drives are attached: " + "; ".join(map(str, candidates)) + ". Set drive to the serial number of the one to use instead of \"any\", or detach the others. The node waits.")
    if node_drives:
        drive, file_system = node_drives[0]
        if not looks_like_home(machine, file_system.path):
            raise NoDrive(f"storage.drive: {drive} has a file system with the label {LABEL} that does not belong to a node, so it is left unchanged. Change its label or erase it. The node waits.")
        return drive, file_system
    if not candidates:
        others = "; ".join(map(str, drives))
        raise NotAttached("storage.drive: " + (f"the drive {wanted} is not attached, only {others}" if others else "no drive is attached")
                          + ". The node starts when it is attached. To store the node on the card, remove the line.")
    drive = candidates[0]
    contents = contents_of(machine, drive)
    if contents is not None:
        raise NoDrive(f"storage.drive: {drive} holds {contents} and is left unchanged: only a blank drive is formatted. {how_to_empty(drive)}")
    if machine.path("/run/rookery-image/no-data").exists():
        raise NoDrive(f"storage.drive: {drive} is blank but cannot be formatted, because this card's data partition, which records the drive, is not in use. The node waits.")
    if not is_last_look:
        raise NotAttached(f"storage.drive: {drive} is blank; the drive of a node may still appear.")
    return drive, None


def looks_like_home(machine: Machine, path: str) -> bool:
    """Whether a file system is a node's home, or empty for one. It is mounted read-only."""
    machine.path(LOOK).mkdir(parents=True, exist_ok=True)
    machine.run("mount", "-t", "ext4", "-o", "ro,noload", path, LOOK)
    try:
        names = {entry.name for entry in machine.path(LOOK).iterdir()} - {"lost+found"}
    finally:
        machine.run("umount", LOOK)
    return not names or "config.json" in names or "data" in names


def wait_for(machine: Machine, wanted: str, mark: Mark | None, sleep) -> tuple[Drive, FileSystem | None]:
    """Returns the drive to use. Waits up to PATIENCE_SECONDS, because drives behind a hub appear late."""
    for seconds in range(PATIENCE_SECONDS, -1, -1):
        drives = attached_drives(machine)
        try:
            return find_marked(machine, drives, mark) if mark is not None else choose_unmarked(machine, drives, wanted, seconds == 0)
        except NotAttached:
            if seconds == 0:
                raise
            sleep(1)
    raise AssertionError("the last second raises")


def read_mark(machine: Machine) -> Mark | None:
    """The card's mark; None if it has none. Raises NoDrive if it cannot be read."""
    try:
        return Mark(**json.loads(machine.path(MARK).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise NoDrive(f"The card's record of the node's drive, {MARK}, cannot be read ({type(error).__name__}). The node does not start, because otherwise it might start without its data. "
                      "Attach the drive, set drive = \"any\" in the section [storage] of rookery.toml, delete that file and restart.") from error


def write_mark(machine: Machine, mark: Mark) -> None:
    """Stores the mark durably on the card."""
    machine.write(MARK, json.dumps(asdict(mark), indent=2) + "\n")


def format_drive(machine: Machine, drive: Drive, identity: str) -> FileSystem:
    """Creates the file system on a drive that is blank or whose formatting was interrupted."""
    assert is_being_formatted(machine, drive, identity) or contents_of(machine, drive) is None, f"{drive} is not blank"
    write_mark(machine, Mark(drive.name, drive.serial, identity, False))
    end = end_of_file_system(drive)
    with open(machine.path(drive.path), "r+b") as device:
        device.seek(end)
        device.write(formatting_text(identity))
        device.flush()
        os.fsync(device.fileno())
    # One inode per 256 KiB, as on the card: a node has few, large files. No discard, because it takes minutes on a large drive; fstrim runs weekly.
    machine.run("mkfs.ext4", "-q", "-F", "-L", LABEL, "-U", identity, "-i", "262144", "-m", "1", "-E", "nodiscard", drive.path, f"{end // 1024}k", seconds=3600)
    machine.run("sync")
    return FileSystem(drive.path, "ext4", LABEL, identity)


def mount(machine: Machine, path: str) -> None:
    """Repairs the file system if necessary, and mounts it as the node's home."""
    # Exit code 0: clean, 1: repaired. Any other needs a person's decision.
    machine.run("sh", "-c", 'e2fsck -p "$1" || [ $? -eq 1 ]', "sh", path, seconds=24 * 3600)
    machine.run("mount", "-t", "ext4", "-o", OPTIONS, path, HOME)
    try:
        # These also fail on a write-protected drive, on which the node must not start.
        machine.run("chown", "root:rookery", HOME)
        machine.run("chmod", "1770", HOME)
        give_to_node(machine)
    except BaseException:
        machine.run("umount", "--lazy", HOME, fails=True)
        raise


def give_to_node(machine: Machine) -> None:
    """Changes the owner of the node's files to this machine's rookery user and group, whose IDs may differ from those of the machine that wrote the drive."""
    home = machine.path(HOME)
    try:
        data_status = os.lstat(home / "data")
    except FileNotFoundError:
        return
    # `data` is last, and chown changes a directory after its contents: the owner of `data` tells whether all was changed.
    entries = [str(entry) for entry in sorted(home.iterdir(), key=lambda entry: entry.name == "data")]
    for kind, separator, number in (("-u", "", data_status.st_uid), ("-g", ":", data_status.st_gid)):
        own_id = machine.run("id", kind, "rookery").strip()
        # Files of root stay root's.
        if number != 0 and str(number) != own_id:
            machine.run("chown", "--recursive", "--no-dereference", f"--from={separator}{number}", f"{separator}{own_id}", *entries, seconds=3600)


def is_mounted(machine: Machine, mark: Mark) -> bool:
    """Whether the node's home is the file system of the mark."""
    return machine.run("findmnt", "--noheadings", "--output", "UUID", "--mountpoint", HOME, fails=True).strip() == mark.uuid


def use(machine: Machine, wanted: str | None, sleep=time.sleep) -> str | None:
    """Mounts the node's drive and returns its description; None if the node is on the card. `wanted` is the setting storage.drive.

    Raises NoDrive if the drive cannot be used. After any exception a node without a home on the card does not start."""
    # Written first, so that after an error the node does not start with the wrong home.
    machine.write(WAITS, "")
    mark = read_mark(machine)
    is_on_card = machine.path("/data/rookery/data").exists()
    if mark is None and (wanted is None or is_on_card):
        machine.path(WAITS).unlink()
        if wanted is not None:
            raise NoDrive("storage.drive: the drive is not used, because the card already holds a node, which it would hide. To move the node to the drive, remove it from its cluster, flash the card again, and let it join.")
        # Only the boot that creates a node waits for udev here; the wait takes 9 s in QEMU.
        if any(drive.node_file_systems() for drive in attached_drives(machine, waits=not is_on_card)):
            raise NoDrive("The attached drive of a node is not used, because rookery.toml does not set drive = \"any\" in the section [storage]. The node is on the card.")
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
