"""The boot partition, which every PC can read: rookery.toml and what Raspberry Pi Imager writes in, rookery-first-boot.log out. Mounted read-only but for the moment of a write."""

import os
from contextlib import contextmanager
from pathlib import Path

from settings import without_secrets
from system import Machine

SETTINGS = "rookery.toml"
LOG = "rookery-first-boot.log"


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

    def text(self, file: str = SETTINGS) -> tuple[str | None, str | None]:
        """The text of a file, or None and what is wrong with it, or None twice when it is not there."""
        try:
            data = (self.directory / file).read_bytes()
        except FileNotFoundError:
            return None, None
        except OSError as error:
            return None, f"{file} cannot be read: {error.strerror}."
        try:
            return data.decode("utf-8"), None
        except UnicodeDecodeError as error:
            # The Notepad of old writes UTF-16 or the PC's own code page.
            return None, f"{file} is no UTF-8 text (byte {error.start}): save it with the encoding UTF-8. Nothing in it was used."

    def cover(self, name: str, file: str = SETTINGS) -> None:
        """Overwrites the values of `name` in a file in place, byte by byte, so that no second copy of the file is left in free space."""
        path = self.directory / file
        text = path.read_bytes().decode("utf-8")
        covered = without_secrets(text, name)
        if covered == text:
            return
        assert len(covered.encode()) == len(text.encode()), "a covered file has the same length"
        with self._writable(), open(path, "r+b") as file:
            file.write(covered.encode())
            file.flush()
            os.fsync(file.fileno())

    def report(self, text: str) -> None:
        """Writes the log, with the line ends that every PC shows, when it says something new."""
        path = self.directory / LOG
        data = text.replace("\n", "\r\n").encode()
        try:
            if path.read_bytes() == data:
                return
        except OSError:
            pass
        with self._writable(), open(path, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
