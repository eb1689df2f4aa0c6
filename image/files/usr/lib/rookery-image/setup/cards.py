"""Tells the owner what a card or drive says about itself that needs attention: that it was used elsewhere, that a copy of it or another node's card is attached, and that its file system became read-only."""

import hashlib
import json
import re

import drive
import found
import system
from system import Machine

# The board and the card that used the data last; no serial numbers, only their hashes.
LAST = system.HOST + "/last-used.json"
# The sentences of this boot's first comparison. It overwrites `LAST`, so a second comparison would find no change.
NOTICED = "/run/rookery-image/noticed.txt"
IDENTITY_BYTES = 4096
# The node's identity on a card's data partition, and on a drive that is a node's whole home.
IDENTITY_BY_LABEL = {"rookery-data": "/rookery/data/cluster/cluster", drive.LABEL: "/data/cluster/cluster"}


def hashed(text: str | None) -> str | None:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:16] if text and text.strip() else None


def notice_move(machine: Machine, drive_name: str | None) -> None:
    """Compares the board and the card with those that used the data last, and notes what changed. Call it once the node's home is mounted."""
    if not system.has_home(machine):
        return
    # The machine id is created at a card's first start and stays on it.
    now = {"board": hashed(system.serial_number(machine)), "card": hashed(machine.read("/etc/machine-id"))}
    before = system.read_object(machine, LAST) or {}
    changed = {key for key, value in now.items() if value is not None and before.get(key) not in (None, value)}
    notes = []
    if "card" in changed and drive_name is not None:
        notes.append(f"The data on {drive_name} were used with another card until now. This card continues as their node. The other card starts no node without the drive; flash it before you use it again.")
    elif "card" in changed:
        notes.append("The data of this card were used by another installation until now. It continues as their node. If the other one still runs with a copy of them, switch it off.")
    if "board" in changed:
        notes.append("The data were used in another board until now. If you moved the card or drive, nothing is to be done. If the other board runs with a copy of them, switch one of the two off: a node exists once.")
    if notes:
        machine.write(NOTICED, "".join(note + "\n" for note in notes))
    machine.write(LAST, json.dumps(now) + "\n", 0o600)


def identity(text: str) -> dict[str, str]:
    """The lines of a node's identity, each a key and a value."""
    return dict(line.split(" ", 1) for line in text.splitlines() if " " in line)


def printable(text: str) -> str:
    """A name from another card, short and on one line."""
    return "".join(letter for letter in text if letter.isprintable())[:64]


def read_unmounted(machine: Machine, device: str, file: str) -> str:
    """The beginning of a file on an ext4 file system that is not mounted; empty if it cannot be read. The disk may be anyone's, so neither a long file nor a slow disk delays what the owner waits for."""
    return machine.run("sh", "-c", f'debugfs -R "cat $1" "$2" | head -c {IDENTITY_BYTES}', "sh", file, device, seconds=10, fails=True)


def other_cards(machine: Machine) -> list[str]:
    """A sentence for each attached disk that holds a node and is not in use here. They are read by debugfs and not mounted."""
    own = identity(machine.read_as_node(found.DATA + "/cluster/cluster"))
    home = machine.run("findmnt", "--noheadings", "--output", "UUID", "--mountpoint", drive.HOME, fails=True).strip()
    sentences = []
    for disk in drive.attached_drives(machine, waits=False, transports=None):
        for file_system in disk.file_systems:
            file = IDENTITY_BY_LABEL.get(file_system.label or "")
            if file is None or file_system.kind != "ext4" or (file_system.label == drive.LABEL and file_system.uuid == home):
                continue
            other = identity(read_unmounted(machine, file_system.path, file))
            if not other:
                sentences.append(f"The disk {disk.path} is a Rookery card or drive, and no node can be read from it. Nothing of it is used.")
            elif own and other.get("node") == own.get("node") and other.get("cluster") == own.get("cluster"):
                sentences.append(f"The disk {disk.path} holds a copy of this machine's node. It is not used. Never start it in another board while this machine runs: a node exists once.")
            elif own and other.get("cluster") == own.get("cluster"):
                sentences.append(f"The disk {disk.path} holds another node of this machine's cluster. It is not used, and that node is missing in the cluster while its disk is here. Put it into its own board.")
            else:
                sentences.append(f"The disk {disk.path} holds a node of the cluster '{printable(other.get('cluster-name', '?'))}'. Nothing of it is used.")
    return sentences


def file_system_trouble(machine: Machine) -> list[str]:
    """A sentence if the file system of the node's data became read-only, or recorded errors."""
    for line in (machine.read("/proc/mounts") or "").splitlines():
        device, at, kind, options = (line.split(" ") + [""] * 4)[:4]
        if at != drive.HOME or kind != "ext4":
            continue
        errors = (machine.read(f"/sys/fs/ext4/{device.rpartition('/')[2]}/errors_count") or "0").strip()
        if "ro" in options.split(","):
            return [f"The file system of the node's data on {device} had an error and is read-only since, so the node cannot write. Restart the machine, which checks and repairs it. "
                    "If that happens again, replace the card or drive."]
        if re.fullmatch("[0-9]+", errors) and int(errors) > 0:
            return [f"The file system of the node's data on {device} has recorded errors ({errors}). The next start checks and repairs it. Take a backup."]
    return []


def notices(machine: Machine) -> list[str]:
    """The sentences for the screen and the log."""
    return file_system_trouble(machine) + other_cards(machine) + (machine.read(NOTICED) or "").splitlines()
