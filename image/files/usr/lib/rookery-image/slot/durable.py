"""Durable replacement of files."""

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    """Replaces the content of a file: after a power cut the file has either content, and afterwards the new one."""
    part = path.with_suffix(".part")
    with open(part, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Makes the names of a directory's files durable."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
