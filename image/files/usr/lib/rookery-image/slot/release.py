"""The releases of the image. A release is the version of the program and when its packages were locked: `0.2.0+os20261126.1412`. So an image with newer packages under
the same version of the program is a newer release."""

import subprocess
from dataclasses import dataclass
from datetime import datetime, timezone

from state import Refusal

# Written by image/steps/40-root. The same path in each slot.
FILE = "/etc/rookery-image"


@dataclass(frozen=True)
class Release:
    """`name` is the release, `locked_at` when its packages were locked, in seconds since 1970 UTC."""

    name: str
    locked_at: int | None


def parse(text: str) -> Release:
    """The release that the text of FILE names. The first images have only `version` and the day `locked`."""
    values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    version, locked_at = values.get("version"), values.get("locked-at", "")
    if version is None:
        raise Refusal(f"{FILE} names no version of the image. Remove it from /etc, so that the slot's own appears, and restart the machine.")
    if locked_at.isdigit():
        return Release(values.get("release", version), int(locked_at))
    try:
        day = datetime.fromisoformat(values["locked"]).replace(tzinfo=timezone.utc)
    except (KeyError, ValueError):
        return Release(values.get("release", version), None)
    return Release(values.get("release", f"{version}+os{day:%Y%m%d}"), int(day.timestamp()))


def is_older(one: str, other: str) -> bool:
    """Whether a release comes before the other, as Debian orders versions."""
    return subprocess.run(["dpkg", "--compare-versions", one, "lt", other], check=False).returncode == 0
