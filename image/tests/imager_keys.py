#!/usr/bin/env python3
"""Prints the keys that versions of Raspberry Pi Imager write to `user-data` and `network-config`, from Imager's sources: imager_keys.py REPOSITORY TAG...

REPOSITORY is a clone of https://github.com/raspberrypi/rpi-imager. The output for some versions is stored as imager_keys.txt; test_imager.py compares it with the keys that
the first start knows. Run it again for new versions of Imager."""

import re
import subprocess
import sys

SOURCES = ("src/customization_generator.cpp", "src/OptionsPopup.qml")
# A line of the file as Imager's source writes it: Imager 2 by push(QStringLiteral("LINE"…), VARIABLE), Imager 1 by addCloudInit("LINE"…) and cloudinitnetwork += "LINES".
PATTERNS = (
    (r'push\(QStringLiteral\("((?:[^"\\]|\\.)*)"\).*?, (cloud|netcfg)\)', {"cloud": "user-data", "netcfg": "network-config"}),
    (r'(?:addCloudInit\(|(cloudinitnetwork) *\+?= *)"((?:[^"\\]|\\.)*)"', None),
)


def lines(source: str):
    """Yields the file and the text of each line that the source writes."""
    for match in re.finditer(PATTERNS[0][0], source):
        yield PATTERNS[0][1][match[2]], match[1]
    for match in re.finditer(PATTERNS[1][0], source):
        for line in match[2].split("\\n"):
            yield "network-config" if match[1] else "user-data", line


def keys(source: str):
    """Yields the file and the path of each key, such as `user.name`. Entries of a list have the path of the list."""
    stacks = {"user-data": [], "network-config": []}
    for file, line in lines(source):
        match = re.match(r"( *(?:- )?)([a-z][a-z0-9_-]*):( |$)", line)
        if not match:
            continue
        stack, indent = stacks[file], len(match[1])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        stack.append((indent, match[2]))
        yield file, ".".join(name for _, name in stack)


def main(repository: str, tags: list[str]) -> None:
    for tag in tags:
        found = set()
        for path in SOURCES:
            source = subprocess.run(["git", "-C", repository, "show", f"{tag}:{path}"], capture_output=True, text=True, check=False).stdout
            found.update(keys(source))
        for file, path in sorted(found):
            print(tag, file, path)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
