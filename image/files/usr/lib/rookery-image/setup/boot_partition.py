"""The boot partition, which every PC can read: rookery.toml in, rookery-first-boot.log out. Mounted read-only but for the moment of a write."""

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

    def settings(self) -> tuple[str | None, str | None]:
        """The text of rookery.toml, or None and why there is none."""
        try:
            data = (self.directory / SETTINGS).read_bytes()
        except FileNotFoundError:
            return None, f"There is no {SETTINGS} on the boot partition: the machine was set up without one."
        except OSError as error:
            return None, f"{SETTINGS} cannot be read: {error.strerror}."
        try:
            return data.decode("utf-8"), None
        except UnicodeDecodeError as error:
            # The Notepad of old writes UTF-16 or the PC's own code page.
            return None, f"{SETTINGS} is no UTF-8 text (byte {error.start}): save it with the encoding UTF-8. Nothing in it was used."

    def cover(self, name: str) -> None:
        """Overwrites the values of `name` in rookery.toml in place, byte by byte, so that no second copy of the file is left in free space."""
        path = self.directory / SETTINGS
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
