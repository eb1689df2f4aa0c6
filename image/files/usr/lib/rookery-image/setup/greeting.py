"""Shows the state of the machine on the screen and in the log on the boot partition: its addresses, its certificate authority, what the node is doing, and how to claim it. Runs after the node starts and whenever its state changes."""

import base64
import hashlib
import ipaddress
import json
import re
import time
import urllib.parse

import cards
import first_boot
import found
from boot_partition import BootPartition
from system import CLAIM_CODE, NODE, Machine, has_home, read_object

SCREEN = "/run/issue.d/rookery.issue"
# One line in which the running node describes its state.
STATUS = "/run/rookery/status"
# The number of writes of the log since boot, at most MAX_DOUBLINGS, and the time of the last, in seconds since boot.
LOG_WRITES = "/run/rookery-image/logged"
# The pause after a write is doubled by each.
FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS, MAX_DOUBLINGS = 15, 3600, 10
# The measured speed of the card or drive, one measurement for each home of the node.
MEASURED = "/var/lib/rookery/host/disk.txt"

# The networks in the name constraints of each cluster's authority (NameConstraints.cs), except loopback.
CERTIFIABLE = tuple(ipaddress.ip_network(network) for network in (
    "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16", "fe80::/10", "fc00::/7",
))


def addresses(machine: Machine) -> list[str]:
    """The machine's lasting addresses at which the node listens, and for which a browser can accept its certificate."""
    links = json.loads(machine.run("ip", "-json", "address", "show", "scope", "global", "up") or "[]")
    found = [address["local"] for link in links for address in link.get("addr_info", [])
             if "local" in address and not address.get("temporary") and is_certifiable(address["local"])]
    try:
        listen = ipaddress.ip_address(urllib.parse.urlsplit(str((read_object(machine, NODE) or {})["listen"])).hostname)
    except (KeyError, ValueError):
        return found
    if not listen.is_unspecified:
        return [address for address in found if ipaddress.ip_address(address) == listen]
    # A node that listens on :: answers over IPv4, too.
    return found if listen.version == 6 else [address for address in found if ":" not in address]


def is_certifiable(address: str) -> bool:
    """Whether the cluster's authority may sign certificates for an address."""
    return any(ipaddress.ip_address(address) in network for network in CERTIFIABLE)


def authority_fingerprint(machine: Machine) -> str | None:
    """The SHA-256 of the signing certificate authority, the first of the file, in pairs of digits as browsers show it."""
    text = machine.read_as_node(found.DATA + "/cluster/authority.pem")
    match = re.search(r"-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----", text)
    if match is None:
        return None
    digest = hashlib.sha256(base64.b64decode(match[1])).hexdigest().upper()
    return ":".join(digest[i:i + 2] for i in range(0, len(digest), 2))


def measure_disk(machine: Machine, run=found.rookery) -> bool:
    """Measures the speed of the node's disk once for each home, for the owner to read, and returns whether it did. The node uses its own measurements at run time."""
    # Without a node the output holds no measurement and must not be stored as one.
    if not has_home(machine) or not machine.path(found.DATA).exists() or machine.path(MEASURED).exists():
        return False
    _, output = run(machine, "doctor", "--config", "/var/lib/rookery/config.json", "--probe", "--json")
    try:
        findings = [finding for finding in json.loads(output)["Findings"] if finding["Subject"] == "disk"]
    except ValueError:
        # Output that is not JSON is an error message. The next boot tries again.
        print(output)
        return False
    return machine.write(MEASURED, "".join(f"Disk:     {finding['Sentence']}{' ' + finding['Fix'] if finding['Fix'] else ''}\n" for finding in findings))


def line(machine: Machine, file: str) -> str:
    """The text of a node's file as one printable line. It may contain text received from other machines."""
    return "".join(letter for letter in " ".join(machine.read_as_node(file).split()) if letter.isprintable())


def noticed(machine: Machine) -> str:
    """What the network, the cards and the drives say; empty if there is nothing to say. A failure to look must not hide the rest."""
    sentences = []
    for look in (shared_name, cards.notices):
        try:
            sentences += look(machine)
        except Exception as error:  # pylint: disable=broad-exception-caught
            print(f"{look.__name__} failed: {error}")
    return "".join(["Noticed:\n", *(f"- {sentence}\n" for sentence in sentences), "\n"]) if sentences else ""


def shared_name(machine: Machine) -> list[str]:
    """A sentence if another machine in the network has this machine's name. Avahi then announces this one under another, such as `pi-1-2`."""
    name = (machine.read("/etc/hostname") or "").strip()
    # An answer is `s "pi-1"`.
    answer = machine.run("busctl", "--auto-start=no", "--timeout=2", "call", "org.freedesktop.Avahi", "/", "org.freedesktop.Avahi.Server", "GetHostName", fails=True)
    match = re.fullmatch(r's "([A-Za-z0-9-]{1,63})"', answer.strip())
    if match is None or match[1] == name:
        return []
    return [f"Another machine in this network is called {name}, too, so this one answers as {match[1]}.local. Give one of the two another hostname in rookery.toml and restart it."]


def greet(machine: Machine) -> str:
    """The text for the screen and the log."""
    name = (machine.read("/etc/hostname") or "?").strip()
    code = line(machine, found.DATA + "/claim-code")
    fingerprint = authority_fingerprint(machine)
    lines = ["Rookery", "", f"https://{name}.local   " + "   ".join(f"https://{'[' + a + ']' if ':' in a else a}" for a in addresses(machine))]
    if fingerprint is not None:
        lines += ["Certificate authority, SHA-256:", "  " + fingerprint[:47], "  " + fingerprint[48:]]
        if '"welcome"' in (machine.read("/var/lib/rookery/config.json") or ""):
            lines += [f"How to trust it: http://{name}.local"]
    if status := line(machine, STATUS):
        lines += ["", f"Node:     {status}"]
    if code and machine.read(CLAIM_CODE) is not None:
        # The code is not printed: the owner knows it, and any PC can read the log.
        lines += ["It has no owner yet. Its claim code is the one from rookery.toml."]
    elif code:
        lines += [f"It has no owner yet. Claim it with the code {code}"]
    return "\n".join(lines) + "\n\n" + noticed(machine) + (machine.read(found.REPORT) or "") + (machine.read(first_boot.REPORT) or "") + (machine.read(MEASURED) or "")


def show(machine: Machine, boot: BootPartition, now=time.monotonic) -> None:
    """Updates the screen at once, and the log on the card at growing intervals: after each write since boot the next waits twice as long and then writes the newest state."""
    text = greet(machine)
    # A backslash begins a command of agetty.
    machine.write(SCREEN, text.replace("\\", "\\\\"))
    machine.run("agetty", "--reload", fails=True)
    if not boot.would_change(text):
        return
    times, last = (int(word) for word in (machine.read(LOG_WRITES) or "0 0").split())
    due = last + min(FIRST_PAUSE_SECONDS * 2 ** times, MAX_PAUSE_SECONDS) if times else 0
    if now() >= due:
        try:
            boot.report(text)
        except OSError as error:
            # The screen has the text. Tried again like after a success.
            print(f"The log on the boot partition was not written: {error}")
        machine.write(LOG_WRITES, f"{min(times + 1, MAX_DOUBLINGS)} {now():.0f}\n")
    else:
        # Fails if the timer of an earlier call is still waiting, which then does the write.
        machine.run("systemd-run", "--quiet", "--collect", "--unit=rookery-greet-later", f"--on-active={due - now() + 1:.0f}", "--timer-property=AccuracySec=1s",
                    "systemctl", "--no-block", "restart", "rookery-greeting.service", fails=True)
