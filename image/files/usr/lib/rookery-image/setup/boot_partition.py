"""The boot partition, which every PC can read: input is rookery.toml and Raspberry Pi Imager's files, output is rookery-first-boot.log. It is mounted read-only except during a write."""

import os
from contextlib import contextmanager
from pathlib import Path

from settings import without_secrets
from system import Machine

SETTINGS = "rookery.toml"
LOG = "rookery-first-boot.log"


# The log is padded with blanks to a multiple of this, so that its size, and with it the FAT, seldom changes.
LOG_STEP_BYTES = 4096


def log_bytes(text: str) -> bytes:
    """The bytes of the log: `text` with CRLF line ends, padded."""
    data = text.replace("\n", "\r\n").encode()
    return data + b" " * (-len(data) % LOG_STEP_BYTES)


class BootPartition:
    def __init__(self, machine: Machine, directory: str = "/boot/firmware"):
        self._machine, self._mounted_at = machine, directory
        self.directory: Path = machine.path(directory)

    @contextmanager
    def _writable(self):
        self._machine.run("mount", "-o", "remount,rw", self._mounted_at)
        try:
            yield
        finally:
            self._machine.run("mount", "-o", "remount,ro", self._mounted_at)

    def is_mounted(self) -> bool:
        """Whether the partition has any file. A mounted one has at least the firmware."""
        return any(self.directory.iterdir())

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
            return (self.directory / LOG).read_bytes() != log_bytes(text)
        except OSError:
            return True

    def report(self, text: str) -> bool:
        """Writes the log if it changed, and returns whether it did. It writes in place, because truncating and growing a file changes the FAT, which a power cut may then damage."""
        path = self.directory / LOG
        if not self.would_change(text):
            return False
        with self._writable(), open(path, "r+b" if path.is_file() else "wb") as file:
            file.write(log_bytes(text))
            if file.tell() < os.fstat(file.fileno()).st_size:
                file.truncate()
            file.flush()
            os.fsync(file.fileno())
        return True
