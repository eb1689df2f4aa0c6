"""After the node's start, and whenever it has something new to tell: says on the screen, and in the log on the boot partition, where it is, by what it is known, what it waits for, and how to claim it."""

import base64
import hashlib
import json
import re
import time

import first_boot
import found
from boot_partition import BootPartition
from system import CLAIM_CODE, Machine, has_home

SCREEN = "/run/issue.d/rookery.issue"
# What the node says that it does, in a line: there while it runs.
STATUS = "/run/rookery/status"
# How often the log was written in this start of the machine, and when at last, in seconds since it.
LOGGED = "/run/rookery-image/logged"
FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, MOST_TIMES = 15, 3600, 10
# Measured once for each home of the node, a card or a drive.
MEASURED = "/var/lib/rookery/host/disk.txt"


def addresses(machine: Machine) -> list[str]:
    links = json.loads(machine.run("ip", "-json", "address", "show", "scope", "global", "up") or "[]")
    return [address["local"] for link in links for address in link.get("addr_info", []) if "local" in address and not address.get("temporary")]


def authority_fingerprint(machine: Machine) -> str | None:
    """SHA-256 of the certificate authority, in pairs as browsers show it; of the one that signs, which comes first."""
    text = machine.read_as_node(found.DATA + "/cluster/authority.pem")
    found_at = re.search(r"-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----", text)
    if found_at is None:
        return None
    digest = hashlib.sha256(base64.b64decode(found_at[1])).hexdigest().upper()
    return ":".join(digest[i:i + 2] for i in range(0, len(digest), 2))


def measure_disk(machine: Machine, run=found.rookery) -> bool:
    """Measures what the disk of the node can do, once for each home, and whether it did. It tells the owner; the node itself goes by what it measures as it runs."""
    # What is said of a node that was not made yet is no measurement, and would stand for it.
    if not has_home(machine) or not machine.path(found.DATA).exists() or machine.path(MEASURED).exists():
        return False
    _, said = run(machine, "doctor", "--config", "/var/lib/rookery/config.json", "--probe", "--json")
    try:
        findings = [finding for finding in json.loads(said)["Findings"] if finding["Subject"] == "disk"]
    except ValueError:
        # What is no JSON says why there is none; the next start asks again.
        print(said)
        return False
    return machine.write(MEASURED, "".join(f"Disk:     {finding['Sentence']}{' ' + finding['Fix'] if finding['Fix'] else ''}\n" for finding in findings))


def line(machine: Machine, file: str) -> str:
    """What the node wrote, on one line for the screen: other cards' words may be among it."""
    return "".join(letter for letter in " ".join(machine.read_as_node(file).split()) if letter.isprintable())


def greet(machine: Machine) -> str:
    name = (machine.read("/etc/hostname") or "?").strip()
    code = line(machine, found.DATA + "/claim-code")
    fingerprint = authority_fingerprint(machine)
    lines = ["Rookery", "", f"https://{name}.local   " + "   ".join(f"https://{'[' + a + ']' if ':' in a else a}" for a in addresses(machine))]
    if fingerprint is not None:
        lines += ["Its certificate authority, SHA-256:", "  " + fingerprint[:47], "  " + fingerprint[48:]]
        if '"welcome"' in (machine.read("/var/lib/rookery/config.json") or ""):
            lines += [f"How to trust it: http://{name}.local"]
    if said := line(machine, STATUS):
        lines += ["", f"Node:     {said}"]
    if code and machine.read(CLAIM_CODE) is not None:
        # Who preset it knows it, and the log lies on a partition that everybody reads.
        lines += ["It has no owner yet. Its code is the one that rookery.toml gave it."]
    elif code:
        lines += [f"It has no owner yet. Its code, until it is claimed: {code}"]
    return "\n".join(lines) + "\n\n" + (machine.read(found.REPORT) or "") + (machine.read(first_boot.REPORT) or "") + (machine.read(MEASURED) or "")


def show(machine: Machine, boot: BootPartition, now=time.monotonic) -> None:
    """The screen follows at once. The log lies on the card: within one start of the machine each writing of it waits twice as long as the one before, and what came meanwhile is written when that is over."""
    text = greet(machine)
    # agetty takes a backslash for a command.
    machine.write(SCREEN, text.replace("\\", "\\\\"))
    machine.run("agetty", "--reload", fails=True)
    if not boot.is_news(text):
        return
    times, last = (int(word) for word in (machine.read(LOGGED) or "0 0").split())
    due = last + min(FIRST_PAUSE_SECONDS * 2 ** times, LONGEST_PAUSE_SECONDS) if times else 0
    if now() >= due:
        boot.report(text)
        machine.write(LOGGED, f"{min(times + 1, MOST_TIMES)} {now():.0f}\n")
    else:
        # Fails where it waits already.
        machine.run("systemd-run", "--quiet", "--collect", "--unit=rookery-greet-later", f"--on-active={due - now() + 1:.0f}", "--timer-property=AccuracySec=1s",
                    "systemctl", "--no-block", "restart", "rookery-greeting.service", fails=True)
