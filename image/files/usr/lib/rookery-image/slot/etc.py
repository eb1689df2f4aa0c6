"""What the changes to /etc on the data partition hide of a slot's own /etc, and how an update merges them.

/etc is an overlay: a file in UPPER hides the slot's file of the same path for ever, also in later releases. At an update three versions are compared: the present slot's,
the new slot's, and the machine's in UPPER. The rules:

- A file that equals the present slot's follows the new slot: its copy is listed in DROP, and the initial RAM disk deletes it before it mounts the overlay.
- Any other file of the machine stays. If it differs between the new slot and the present one, both are named.
- A file that was deleted stays deleted.
- Accounts and groups: those that the new slot adds are added to the machine's files, with the new slot's numbers; the others stay.

/etc is not written otherwise, because the present slot must find its files unchanged if the new one does not come up.
"""

import fcntl
import hashlib
import os
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import durable
import release
from state import Refusal

ETC = Path("/etc")
UPPER, DROP = Path("/data/system/etc/upper"), Path("/data/system/etc/drop")
# The machine itself writes these; they are not changes of the owner.
OWN_FILES = ("hostname", "hosts", "machine-id", "localtime", "resolv.conf", ".pwd.lock", ".updated", "sudoers.d/rookery-account", "wpa_supplicant/wpa_supplicant-wlan0.conf")
ACCOUNTS, GROUPS, SHADOW, GROUP_SHADOW = "passwd", "group", "shadow", "gshadow"
MERGED = (ACCOUNTS, GROUPS, SHADOW, GROUP_SHADOW)
# Directories of /etc whose files take the place of files in /usr/lib, also in their subdirectories, such as those of drop-ins.
OVERRIDING = ("systemd/", "udev/", "sysctl.d/", "tmpfiles.d/", "sysusers.d/", "modprobe.d/", "modules-load.d/", "binfmt.d/", "environment.d/", "polkit-1/", "pam.d/")
# What `content` returns for a directory.
DIRECTORY = ("directory",)
# Reading /etc of a slot from a slow card takes seconds.
DEBUGFS_SECONDS = 120
# The image's identity is never the owner's.
IDENTITY = Path(release.FILE).name


@dataclass(frozen=True)
class Hidden:
    """A file of a slot that the machine hides. `drops` if the copy on the machine is deleted at the next start."""

    path: str
    sentence: str
    drops: bool = False


class Slot:
    """The files of a slot that does not run or whose /etc is hidden, read from its partition."""

    def __init__(self, partition: str, directory: Path):
        self._partition = partition
        directory.mkdir()
        _, errors = debugfs(f"rdump /etc {directory}", partition)
        self.etc = directory / "etc"
        # Why `etc` does not have all files of the slot, in words; None if it has.
        self.problem = errors.decode("utf-8", "replace").strip().split("\n")[0] if errors else None
        if self.problem is None and not (self.etc / IDENTITY).is_file():
            self.problem = f"{partition} contains no Rookery image"

    @property
    def is_complete(self) -> bool:
        return self.problem is None

    def text(self, path: str) -> bytes | None:
        """The bytes of a file of the slot; None if there is none."""
        return text_of(self._partition, path)


def text_of(partition: str, path: str) -> bytes | None:
    """The bytes of a file in the file system of a partition; None if there is none."""
    output, errors = debugfs(f'cat "{path}"', partition)
    if errors and b"File not found" not in errors:
        raise Refusal(f"{path} cannot be read from {partition}: {errors.decode('utf-8', 'replace').strip()}")
    return None if errors else output


def debugfs(request: str, partition: str) -> tuple[bytes, bytes]:
    """What debugfs prints for a request, and its errors. Its exit code is 0 also after an error, for example of a full
    disk or a damaged block."""
    try:
        result = subprocess.run(["debugfs", "-R", request, partition], capture_output=True, check=False, timeout=DEBUGFS_SECONDS)
    except subprocess.TimeoutExpired:
        return b"", f"debugfs did not end within {DEBUGFS_SECONDS} seconds".encode()
    # The first line is its version.
    errors = b"\n".join(line for line in result.stderr.splitlines() if not line.startswith(b"debugfs 1."))
    return result.stdout, errors if errors or result.returncode == 0 else f"debugfs ended with {result.returncode}".encode()


@contextmanager
def slots(present: str, new: str):
    """The two slots of these partitions, while the context lasts."""
    with tempfile.TemporaryDirectory(dir="/run" if os.access("/run", os.W_OK) else None) as directory:
        yield Slot(present, Path(directory) / "present"), Slot(new, Path(directory) / "new")


def content(root: Path, relative: str = "") -> tuple | None:
    """What makes two files equal: kind, mode, owner and bytes; None if there is no file. The path below `root` does not
    pass through links: an absolute one would lead into the running system."""
    path = root / relative
    try:
        if any(not stat.S_ISDIR((root / parent).lstat().st_mode) for parent in Path(relative).parents):
            return None
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return ("link", os.readlink(path))
    if stat.S_ISREG(status.st_mode):
        return ("file", stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, hashlib.sha256(path.read_bytes()).hexdigest())
    return DIRECTORY if stat.S_ISDIR(status.st_mode) else ("special", status.st_mode, status.st_rdev)


def is_whiteout(path: Path) -> bool:
    """Whether overlayfs marks a deleted file: a character device 0:0."""
    status = path.lstat()
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def is_opaque(path: Path) -> bool:
    """Whether a directory hides the slot's directory as a whole, as after it was deleted and created again."""
    try:
        return os.getxattr(path, "trusted.overlay.opaque", follow_symlinks=False) == b"y"
    except OSError:
        return False


def is_own(path: str) -> bool:
    return path in OWN_FILES or path.startswith("ssh/ssh_host_") or path.rstrip("-") in MERGED + ("subuid", "subgid")


def hidden(present: Slot, new: Slot) -> list[Hidden]:
    """The files of the new slot that the machine hides, in the order of their paths."""
    found: list[Hidden] = []

    def visit(directory: Path, inside_opaque: bool) -> None:
        for entry in sorted(directory.iterdir()):
            path = str(entry.relative_to(UPPER))
            if is_own(path) or "\n" in path:
                continue
            theirs, before = content(new.etc, path), content(present.etc, path)
            if is_whiteout(entry):
                if theirs is not None:
                    found.append(Hidden(path, "was deleted here and stays deleted" + ("" if theirs == before else "; the new release has another version")))
            elif entry.is_dir() and not entry.is_symlink():
                opaque = is_opaque(entry)
                if theirs not in (None, DIRECTORY):
                    found.append(Hidden(path, "is a directory here and stays" + ("" if theirs == before else "; the new release has a file or link of that name")))
                elif opaque and theirs is not None:
                    found.extend(Hidden(str(file.relative_to(new.etc)), "is hidden, because its directory was replaced here") for file in sorted((new.etc / path).rglob("*"))
                                 if content(UPPER, str(file.relative_to(new.etc))) is None)
                visit(entry, inside_opaque or opaque)
            else:
                ours = content(entry)
                if path == IDENTITY:
                    found.append(Hidden(path, "hides the release of the slot; it is removed at the next start", drops=ours[0] == "file" and not inside_opaque))
                elif ours == before and theirs != ours and ours[0] == "file" and not inside_opaque:
                    found.append(Hidden(path, "was not changed here; it follows the new release at the next start", drops=True))
                elif theirs is None and before is not None:
                    found.append(Hidden(path, "was changed here and stays; the new release has none"))
                elif theirs is not None and ours != theirs:
                    found.append(Hidden(path, "was changed here and stays" + ("" if theirs == before else "; the new release has another version")))
                elif theirs is None and path.startswith(OVERRIDING):
                    vendor = f"/usr/lib/{path}"
                    if (text := new.text(vendor)) is not None:
                        found.append(Hidden(path, f"takes the place of {vendor}" + ("" if text == present.text(vendor) else ", which the new release changes")))

    if UPPER.is_dir():
        visit(UPPER, False)
    return found


def write_drop(found: list[Hidden]) -> None:
    """Writes durably which copies the next start deletes, each with the hash, mode and owner that it must still have."""
    lines = []
    for path in (one.path for one in found if one.drops):
        status, digest = (UPPER / path).lstat(), hashlib.sha256((UPPER / path).read_bytes()).hexdigest()
        lines.append(f"{digest} {stat.S_IMODE(status.st_mode):o}:{status.st_uid}:{status.st_gid} {path}\n")
    durable.replace_text(DROP, "".join(lines))


def entries(text: str) -> dict[str, list[str]]:
    """The lines of a file of accounts or groups, as fields by name."""
    return {line.split(":")[0]: line.split(":") for line in text.splitlines() if line.count(":") >= 3}


def merged_accounts(ours: dict[str, str], theirs: dict[str, str]) -> tuple[dict[str, str], list[str]]:
    """The texts of MERGED with the accounts and groups that only the new slot has, and sentences about additions and contradictions."""
    texts, notes = dict(ours), []
    added: dict[str, set[str]] = {ACCOUNTS: set(), GROUPS: set()}
    for file, kind in ((GROUPS, "group"), (ACCOUNTS, "account")):
        present, new = entries(ours[file]), entries(theirs[file])
        numbers = {fields[2]: name for name, fields in present.items()}
        for name, fields in new.items():
            if name in present:
                if present[name][2] != fields[2]:
                    notes.append(f"The {kind} {name} has the number {present[name][2]} here and stays so; the new release gives its files to number {fields[2]}.")
                continue
            if fields[2] in numbers:
                notes.append(f"The {kind} {name} of the new release is not added: its number {fields[2]} is {numbers[fields[2]]}'s here. Give {numbers[fields[2]]} another number.")
                continue
            if file == ACCOUNTS and (note := contradiction(name, fields, texts[GROUPS], theirs[GROUPS])):
                notes.append(note)
                continue
            added[file].add(name)
            texts[file] = texts[file].rstrip("\n") + "\n" + ":".join(fields) + "\n"
            notes.append(f"The {kind} {name} of the new release was added.")
    # Adds the accounts that the new release puts into a group that exists here.
    present, new = entries(texts[GROUPS]), entries(theirs[GROUPS])
    lines = []
    for line in texts[GROUPS].splitlines():
        fields = line.split(":")
        members = [one for one in fields[3].split(",") if one] if len(fields) == 4 else []
        more = [one for one in new.get(fields[0], ["", "", "", ""])[3].split(",") if one and one not in members]
        lines.append(":".join([*fields[:3], ",".join(members + more)]) if more and len(fields) == 4 else line)
    texts[GROUPS] = "\n".join(lines) + "\n"
    for file, of in ((SHADOW, ACCOUNTS), (GROUP_SHADOW, GROUPS)):
        present = entries(texts[file])
        for name, fields in entries(theirs[file]).items():
            if name in added[of] and name not in present:
                texts[file] = texts[file].rstrip("\n") + "\n" + ":".join(fields) + "\n"
    return texts, notes


def contradiction(name: str, fields: list[str], merged: str, theirs: str) -> str | None:
    """Why an account of the new slot would get the rights of another group on this machine; None if it would not.
    Groups are compared by name, because an account names its group by number only."""
    number = fields[3]
    here, there = ({group for group, of in entries(text).items() if of[2] == number} for text in (merged, theirs))
    if here == there or here & there:
        return None
    if here:
        other = sorted(here)[0]
        return (f"The account {name} of the new release is not added: the number {number} of its group is {other}'s "
                f"here. Give the group {other} another number.")
    group = sorted(there)[0]
    return (f"The account {name} of the new release is not added: its group {group} has another number here than "
            f"{number}. Give the group {group} this number.")


def merge_accounts(new: Slot) -> list[str]:
    """Adds the accounts and groups of the new slot to the machine's, and returns sentences about it. The running slot has them too from then on, which changes nothing for it."""
    if not any((UPPER / file).exists() for file in MERGED):
        # The new slot's own files will be used.
        return []
    # As the programs of the package passwd lock these files (lckpwdf).
    with open(ETC / ".pwd.lock", "a", encoding="ascii") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        ours = {file: (ETC / file).read_text(encoding="utf-8", errors="surrogateescape") for file in MERGED}
        theirs = {file: (new.etc / file).read_text(encoding="utf-8", errors="surrogateescape") for file in MERGED}
        texts, notes = merged_accounts(ours, theirs)
        # Accounts last, because an account without its group and its line in the password file is incomplete.
        for file in (GROUP_SHADOW, GROUPS, SHADOW, ACCOUNTS):
            if texts[file] != ours[file]:
                replace(ETC / file, texts[file])
    return notes


def replace(path: Path, text: str) -> None:
    """Replaces a file by one rename, with the mode and owner that it has."""
    status = path.stat()
    part = path.with_name(path.name + ".rookery-new")
    part.unlink(missing_ok=True)
    with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
        os.fchown(file.fileno(), status.st_uid, status.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(status.st_mode))
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    # Otherwise a power cut before the file system's next commit could leave the release's groups without its accounts.
    durable.sync_directory(path.parent)


def describe(found: list[Hidden]) -> str:
    """The list for the owner."""
    if not found:
        return "The machine's changes to /etc hide no file of the release.\n"
    return f"The machine's changes to /etc hide {len(found)} of the release's files:\n" + "".join(f"- /etc/{one.path} {one.sentence}.\n" for one in found)
