"""The boot partition, which every PC can read: rookery.toml and what Raspberry Pi Imager writes in, rookery-first-boot.log out. Mounted read-only but for the moment of a write."""

import os
from contextlib import contextmanager
from pathlib import Path

from settings import without_secrets
from system import Machine

SETTINGS = "rookery.toml"
LOG = "rookery-first-boot.log"


# Its size changes seldom: blanks fill it up.
LOG_STEP_BYTES = 4096


def logged(text: str) -> bytes:
    """The log's bytes: with the line ends that every PC shows."""
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
        """Whether there is anything, such as the firmware that the machine was started by."""
        return any(self.directory.iterdir())

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

    def cover(self, name: str, stored: set[str] | None, file: str = SETTINGS) -> None:
        """Overwrites the values of `name` that are among `stored`, or all, in a file in place, byte by byte, so that no second copy of the file is left in free space."""
        text, _ = self.text(file)
        covered = without_secrets(text, name, stored) if text is not None else None
        if covered == text:
            return
        assert len(covered.encode()) == len(text.encode()), "a covered file has the same length"
        with self._writable(), open(self.directory / file, "r+b") as opened:
            opened.write(covered.encode())
            opened.flush()
            os.fsync(opened.fileno())

    def is_news(self, text: str) -> bool:
        """Whether the log says something else."""
        try:
            return (self.directory / LOG).read_bytes() != logged(text)
        except OSError:
            return True

    def report(self, text: str) -> bool:
        """Writes the log when it says something new; whether it did. In place, because a file that is cut off and grows again changes the table of files, which a plug pulled just then may cost."""
        path = self.directory / LOG
        if not self.is_news(text):
            return False
        with self._writable(), open(path, "r+b" if path.is_file() else "wb") as file:
            file.write(logged(text))
            if file.tell() < os.fstat(file.fileno()).st_size:
                file.truncate()
            file.flush()
            os.fsync(file.fileno())
        return True
