"""The drive that the node lives on, where rookery.toml asks for one: found again, or formatted when it is blank, and mounted over /var/lib/rookery.

Once a drive was taken, a mark on the card names it, and the node starts on it and on nothing else. What is on the drive is the whole node: a new card with
the same consent goes on as the same one."""

import json
import time
from dataclasses import asdict, dataclass

from system import Machine

HOME = "/var/lib/rookery"
MARK = "/data/system/drive.json"
# While it is there, the node does not start, and rookery-drive.service looks again when a drive is attached.
WAITS = "/run/rookery-image/waits-for-drive"
LABEL = "rookery"
# Card readers and the card itself are no drives.
TRANSPORTS = ("usb", "nvme", "sata")
COLUMNS = "PATH,TYPE,TRAN,MODEL,SERIAL,SIZE,FSTYPE,LABEL,UUID,MOUNTPOINT"
ZEROS_BYTES = 1 << 20
OPTIONS = "noatime,commit=30,noinit_itable"
PATIENCE_SECONDS = 10


def describe(name: str, serial: str) -> str:
    return f"{name} (serial {serial or 'unknown'})"


@dataclass
class Drive:
    """A disk that is attached. `path` is where its file system is, or the whole disk; `holds` says in words what is on it, None when it is blank."""

    path: str
    name: str
    serial: str
    size_bytes: int
    uuid: str | None
    is_ours: bool
    holds: str | None

    def __str__(self) -> str:
        return describe(self.name, self.serial)


@dataclass
class Mark:
    """What the card knows of its drive. `uuid` is None from before it is formatted until it is: what a power cut leaves of that is ours to format again."""

    name: str
    serial: str
    uuid: str | None

    def __str__(self) -> str:
        return describe(self.name, self.serial)


class NoDrive(Exception):
    """Why there is no drive to use, for a person."""


class NotAttached(NoDrive):
    """It may still come."""


def holds(machine: Machine, disk: dict) -> str | None:
    """What is on a disk, in words; None when it is blank: nothing that blkid knows, no partition, and a MiB of zeros, as from the factory. Zeros, because blkid knows nothing of a drive that is encrypted without a header."""
    if disk.get("children"):
        return "partitions"
    signature = machine.run("sh", "-c", 'blkid -p -s TYPE -s PTTYPE -o value "$1" || [ $? -eq 2 ]', "sh", disk["path"]).split()
    if signature:
        return signature[0]
    with open(machine.path(disk["path"]), "rb") as device:
        begin = device.read(ZEROS_BYTES)
    return None if begin == bytes(ZEROS_BYTES) else "something that cannot be named"


def attached(machine: Machine) -> list[Drive]:
    """All drives, but the disk that the machine was started from."""
    started_from = (machine.read("/run/rookery-image/disk") or "").strip()
    drives = []
    for disk in json.loads(machine.run("lsblk", "--json", "--bytes", "--output", COLUMNS) or '{"blockdevices":[]}')["blockdevices"]:
        if disk["type"] != "disk" or disk["tran"] not in TRANSPORTS or disk["path"] == started_from or not disk["size"]:
            continue
        ours = [part for part in [disk, *disk.get("children", [])] if part["label"] == LABEL and part["fstype"] == "ext4"]
        place = ours[0] if ours else disk
        drives.append(Drive(place["path"], (disk["model"] or "a drive").strip(), (disk["serial"] or "").strip(), disk["size"], place["uuid"], bool(ours), None if ours else holds(machine, disk)))
    return drives


def choose(drives: list[Drive], wanted: str, mark: Mark | None) -> Drive:
    """The drive to use. A mark goes before what is wanted now: the node lives there."""
    if mark is not None and mark.uuid is not None:
        for drive in drives:
            if drive.uuid == mark.uuid:
                return drive
        raise NotAttached(f"The drive of this node, {mark}, file system {mark.uuid}, is not attached. The node waits for it, starts when it is attached, and never starts without. "
                          "If the drive is lost for good, flash this card anew and let it join in the node's place.")
    if mark is not None:
        # Formatting was cut off; nothing of anybody's was on it.
        for drive in drives:
            if drive.serial == mark.serial and drive.name == mark.name:
                drive.holds = None
                return drive
    fitting = [drive for drive in drives if wanted in ("any", drive.serial)]
    of_nodes = [drive for drive in fitting if drive.is_ours]
    if len(of_nodes) > 1 or (len(fitting) > 1 and not of_nodes):
        raise NoDrive("storage.drive: there are several drives: " + "; ".join(map(str, of_nodes or fitting)) + ". Write the serial number of the one to use instead of \"any\", or detach the others. The node waits.")
    if of_nodes:
        return of_nodes[0]
    if not fitting:
        others = "; ".join(map(str, drives))
        raise NotAttached("storage.drive: " + (f"the drive {wanted} is not attached, only {others}" if others else "no drive is attached")
                          + ". The node waits for it, and starts when it is attached. To let it live on the card, take the line away.")
    if fitting[0].holds is not None:
        raise NoDrive(f"storage.drive: {fitting[0]} holds {fitting[0].holds} and is left alone: only a blank drive is formatted. When nothing on it is needed any more, empty it: on Windows `diskpart`, `select disk N`, `clean`; "
                      f"on Linux `wipefs --all {fitting[0].path}` and `dd if=/dev/zero of={fitting[0].path} bs=1M count=1`. The node waits.")
    return fitting[0]


def read_mark(machine: Machine) -> Mark | None:
    text = machine.read(MARK)
    # A mark that cannot be read is an error of this step, and keeps the node from an empty directory: never None.
    return None if text is None else Mark(**json.loads(text))


def write_mark(machine: Machine, drive: Drive, uuid: str | None) -> None:
    machine.write(MARK, json.dumps(asdict(Mark(drive.name, drive.serial, uuid)), indent=2) + "\n")


def format_drive(machine: Machine, drive: Drive) -> str:
    """Makes the file system of a blank drive; its UUID. The mark says before that it is being made."""
    write_mark(machine, drive, None)
    # An inode for each 256 KiB, as on the card: a node keeps few, large files.
    machine.run("mkfs.ext4", "-q", "-F", "-L", LABEL, "-i", "262144", "-m", "1", drive.path, seconds=600)
    machine.run("sync")
    return machine.run("blkid", "-p", "-s", "UUID", "-o", "value", drive.path).strip()


def mount(machine: Machine, drive: Drive) -> None:
    # 0: clean, 1: mended. Anything else is for a person to judge.
    machine.run("sh", "-c", 'e2fsck -p "$1" || [ $? -eq 1 ]', "sh", drive.path, seconds=1800)
    machine.run("mount", "-t", "ext4", "-o", OPTIONS, drive.path, HOME)
    machine.run("chown", "rookery:rookery", HOME)
    machine.run("chmod", "750", HOME)


def wait_for(machine: Machine, wanted: str, mark: Mark | None, sleep) -> Drive:
    """The drive to use, which a hub may take seconds to show."""
    for seconds in range(PATIENCE_SECONDS, -1, -1):
        try:
            return choose(attached(machine), wanted, mark)
        except NotAttached:
            if seconds == 0:
                raise
            sleep(1)
    raise AssertionError("the last second raises")


def use(machine: Machine, wanted: str | None, sleep=time.sleep) -> str | None:
    """Mounts the node's drive, when it has one or shall have one, and says which; None when the node lives on the card.

    Raises NoDrive, and leaves the node without a home so that it does not start, when the drive is not to be had."""
    mark = read_mark(machine)
    if wanted is None and mark is None:
        if any(drive.is_ours for drive in attached(machine)):
            raise NoDrive("The drive of a node is attached and not used: rookery.toml does not say drive = \"any\" in its section [storage]. The node lives on the card.")
        return None
    if mark is None and machine.path("/data/rookery/data").exists():
        raise NoDrive("storage.drive: a node lives on the card already and stays there, because a drive would hide it. To have it on the drive, take it out of its cluster, flash the card anew, and let it join.")
    if mark is not None and mark.uuid is not None and machine.run("findmnt", "--noheadings", "--output", "UUID", "--mountpoint", HOME, fails=True).strip() == mark.uuid:
        return str(mark)
    # The node's place on the card is taken away first: whatever goes wrong from here on, it does not start there. Then a drive that comes is seen by the unit or by us.
    machine.run("umount", "--quiet", HOME, fails=True)
    machine.write(WAITS, "")
    drive = wait_for(machine, wanted or "any", mark, sleep)
    uuid = drive.uuid if drive.is_ours else format_drive(machine, drive)
    write_mark(machine, drive, uuid)
    mount(machine, drive)
    machine.path(WAITS).unlink()
    return str(drive)
