"""The boot partition, which every PC can read: input is rookery.toml and Raspberry Pi Imager's files, output is rookery-first-boot.log. It is mounted read-only except during a write."""

import errno
import fcntl
import os
import re
from contextlib import contextmanager
from pathlib import Path

from settings import without_secrets
from system import Machine

SETTINGS = "rookery.toml"
# Held by the process that has the partition writable.
LOCK = "/run/rookery-image/boot-partition.lock"
LOG = "rookery-first-boot.log"


# The log is padded with blanks to a multiple of this, so that its size, and with it the FAT, seldom changes.
LOG_STEP_BYTES = 4096
# The image contains a log of this size, so that there is room for it also on a partition that its owner filled. It does not shrink below.
RESERVED_BYTES = 16384


def log_bytes(text: str, present_bytes: int = 0) -> bytes:
    """The bytes of the log: `text` with CRLF line ends, padded; at least as many as the log has, up to RESERVED_BYTES."""
    data = text.replace("\n", "\r\n").encode()
    data += b" " * (-len(data) % LOG_STEP_BYTES)
    return data.ljust(min(present_bytes, RESERVED_BYTES))


# Files that owners and programs for Raspberry Pi OS write and that are not read, and what to do instead.
FILES_OF_OTHERS = {
    "firstrun.sh": "Raspberry Pi Imager's settings for Raspberry Pi OS are not read. Add Rookery's repository to Imager (--repo FILE.imager.json), or use rookery.toml",
    "custom.toml": "settings for Raspberry Pi OS are not read. Use rookery.toml",
    "preseed.toml": "settings for Raspberry Pi OS are not read. Use rookery.toml",
    "wpa_supplicant.conf": "set wireless networks in rookery.toml, section [wifi]",
    "ssh": "SSH is always enabled, by key: section [ssh] of rookery.toml",
    "ssh.txt": "SSH is always enabled, by key: section [ssh] of rookery.toml",
    "userconf": "accounts have SSH keys and no passwords: section [ssh] of rookery.toml",
    "userconf.txt": "accounts have SSH keys and no passwords: section [ssh] of rookery.toml",
    "cmdline.txt": "kernel parameters are read from boot.env, as extra=PARAMETERS",
    "vendor-data": "only the files of Raspberry Pi Imager are read, user-data and network-config. Use rookery.toml",
    "authorized_keys": "SSH keys are read from rookery.toml, section [ssh]",
}
ENDINGS_OF_OTHERS = {".pub": FILES_OF_OTHERS["authorized_keys"], ".nmconnection": FILES_OF_OTHERS["wpa_supplicant.conf"]}
# boot.env is read by U-Boot, and config.txt by the firmware.
BOOT_ENVIRONMENT = "boot.env"
READ = (SETTINGS, "user-data", "network-config", BOOT_ENVIRONMENT, "config.txt")
FULL = "\nThe boot partition is full, so this log is not complete: the screen shows the rest. Delete your own files from the partition.\n"


def misnamed(name: str) -> str | None:
    """The file that was meant by a name such as `rookery.toml.txt`; None if the name resembles none. Names on FAT ignore case."""
    plain = name.lower()
    if plain in READ or plain == LOG or plain.startswith("."):
        return None
    for meant in READ:
        # rookery.toml.txt, rookery (1).toml, rookery-toml, copy of rookery.toml; user-data.yaml
        stem, end = meant.partition(".")[::2]
        if meant in plain or re.fullmatch(rf"{stem}[ _.-].*{end}(\.txt)?" if end else rf"{meant}[ _.-].*", plain) or plain == stem or plain == stem + ".txt":
            return meant
    return None


def unused_lines(text: str) -> list[str]:
    """Sentences about the lines of boot.env that U-Boot does not use (boot.cmd). It takes `extra` from the last line that sets it."""
    notes, last = [], None
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(" \t\r")
        if line.startswith("extra="):
            if last is not None:
                notes.append(f"{BOOT_ENVIRONMENT}: line {last} is not used, because line {number} sets extra= again. Write all parameters into one line.")
            last = number
        elif line.startswith("\ufeff"):
            notes.append(f"{BOOT_ENVIRONMENT}: line {number} is not used, because the file begins with a byte order mark. Save it as UTF-8 without BOM.")
        elif line and not line.startswith("#"):
            notes.append(f"{BOOT_ENVIRONMENT}: line {number} is not used: only extra=PARAMETERS is, without blanks before the =.")
    return notes


def cut(data: bytes, size: int) -> bytes:
    """The beginning of the log that fits into `size` bytes, and a sentence that the log is not complete."""
    end = FULL.replace("\n", "\r\n").encode()
    return data if len(data) <= size else (data[:max(size - len(end), 0)] + end)[:size]


class BootPartition:
    def __init__(self, machine: Machine, directory: str = "/boot/firmware"):
        self._machine, self._mounted_at = machine, directory
        self.directory: Path = machine.path(directory)

    @contextmanager
    def _writable(self):
        # The greeting may write while a drive was attached and the setup runs again. One would make the partition read-only under the other.
        with open(self._machine.path(LOCK), "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._machine.run("mount", "-o", "remount,rw", self._mounted_at)
            try:
                yield
            finally:
                self._machine.run("mount", "-o", "remount,ro", self._mounted_at)

    def is_mounted(self) -> bool:
        """Whether the partition has any file. A mounted one has at least the firmware."""
        return any(self.directory.iterdir())

    def unread(self) -> list[str]:
        """Sentences about files that are not read under their names, although the owner may have meant them to be."""
        notes = []
        for name in sorted(entry.name for entry in self.directory.iterdir() if entry.is_file()):
            if (meant := misnamed(name)) is not None:
                hidden = f" Windows hides the ending .{name.rpartition('.')[2]} of a name unless you let it show file name extensions." if name.lower().endswith(".txt") else ""
                notes.append(f"{name} is not read: settings are read from {meant}. Give the file this name if it has your settings.{hidden}")
            elif (reason := FILES_OF_OTHERS.get(name.lower()) or ENDINGS_OF_OTHERS.get(os.path.splitext(name.lower())[1])) is not None:
                notes.append(f"{name} is not used: {reason}.")
        text, problem = self.text(BOOT_ENVIRONMENT)
        return notes + ([problem] if problem is not None else []) + (unused_lines(text) if text is not None else [])

    def text(self, file: str = SETTINGS) -> tuple[str | None, str | None]:
        """Returns the text of a file and None, or None and its problem, or None twice if the file does not exist."""
        try:
            data = (self.directory / file).read_bytes()
        except FileNotFoundError:
            return None, None
        except OSError as error:
            return None, f"{file} cannot be read: {error.strerror}."
        try:
            return data.decode("utf-8"), None
        except UnicodeDecodeError as error:
            # Old versions of Notepad write UTF-16 or the PC's code page.
            return None, f"{file} is not UTF-8 text (byte {error.start}) and was ignored. Save it with the encoding UTF-8."

    def cover(self, name: str, stored: set[str] | None, file: str = SETTINGS) -> None:
        """Overwrites the values of the key `name` with stars: those in `stored`, or all if it is None. It writes in place, so that no copy of a secret is left in free space."""
        text, _ = self.text(file)
        covered = without_secrets(text, name, stored) if text is not None else None
        if covered == text:
            return
        assert len(covered.encode()) == len(text.encode()), "a covered file has the same length"
        with self._writable(), open(self.directory / file, "r+b") as target:
            target.write(covered.encode())
            target.flush()
            os.fsync(target.fileno())

    def would_change(self, text: str) -> bool:
        """Whether the log on the card differs from `text`."""
        try:
            present = (self.directory / LOG).read_bytes()
        except OSError:
            return True
        data = log_bytes(text, len(present))
        # `report` leaves such a log on a full partition. The whole log is written once there is room for it.
        if present == cut(data, len(present)) and len(data) > len(present):
            space = os.statvfs(self.directory)
            return space.f_bavail * space.f_frsize >= len(data) - len(present)
        return present != data

    def report(self, text: str) -> bool:
        """Writes the log if it changed, and returns whether it did. It writes in place, because truncating and growing a file changes the FAT, which a power cut may then damage.

        On a full partition the log keeps its size, and says at its end that it is not complete. Raises OSError if not even that is possible."""
        path = self.directory / LOG
        if not self.would_change(text):
            return False
        before = path.stat().st_size if path.is_file() else 0
        data = log_bytes(text, before)
        with self._writable():
            try:
                self._write(path, data)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                # An empty log would look as if nothing had happened.
                if before == 0:
                    path.unlink(missing_ok=True)
                    raise
                self._write(path, cut(data, before))
        return True

    @staticmethod
    def _write(path: Path, data: bytes) -> None:
        with open(path, "r+b" if path.is_file() else "wb") as file:
            file.write(data)
            file.flush()
            if file.tell() < os.fstat(file.fileno()).st_size:
                file.truncate()
            os.fsync(file.fileno())
