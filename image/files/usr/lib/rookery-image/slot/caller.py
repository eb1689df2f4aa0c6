"""Whether the firewall of the image lets the caller of `rookery-slot` in again after a restart.

The firewall (/etc/nftables.conf) accepts SSH only from near addresses: private and link-local ones, and those of the
networks that the machine is attached to. The firewall of older releases accepted it from everywhere. A machine behind
a router that forwards a port sees the callers' public addresses, so its owner, who is elsewhere, would be locked out
by an update that serves and is therefore committed.
"""

import ipaddress
import json
import subprocess
from pathlib import Path

import etc
from state import Refusal

PROCESSES = Path("/proc")
# The owner's rules. A file there means that the owner knows the firewall.
OWN_RULES = Path("/etc/nftables.d")
FIREWALL = "nftables.conf"
COMMAND_SECONDS = 30
# As in /etc/nftables.conf, and loopback, which it accepts too.
PRIVATE = tuple(ipaddress.ip_network(network) for network in (
    "10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8",
    "fc00::/7", "fe80::/10", "::1/128",
))


def ssh_source(process: int) -> str | None:
    """The address from which a process was called by SSH; None if it was not called by SSH, or if the address is unknown."""
    # sudo removes SSH_CONNECTION from the environment, but the shell that called sudo has it.
    while process > 1:
        try:
            variables = (PROCESSES / str(process) / "environ").read_bytes().split(b"\0")
            # The name of the program, in parentheses, may contain blanks and parentheses.
            process = int((PROCESSES / str(process) / "stat").read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
        for variable in variables:
            name, _, value = variable.partition(b"=")
            if name == b"SSH_CONNECTION" and value.split():
                return value.split()[0].decode("ascii", "replace")
    return None


def attached_networks() -> list:
    """The networks that this machine is attached to: those of its routes without a router."""
    networks = []
    for family in ("-4", "-6"):
        command = ["ip", "-json", family, "route", "show", "table", "main"]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMMAND_SECONDS)
        try:
            routes = json.loads(result.stdout or "[]")
        except ValueError:
            continue
        for route in routes:
            # Routes that reject have a type. A default route leads everywhere.
            is_attached = not {"gateway", "via", "nexthops"} & route.keys() and route.get("type", "unicast") == "unicast"
            if is_attached and route.get("dst", "default") != "default":
                networks.append(ipaddress.ip_network(route["dst"], strict=False))
    return networks


def is_near(source: str) -> bool:
    """Whether the firewall of the image accepts SSH from an address. An address in an unknown form counts as near."""
    try:
        address = ipaddress.ip_address(source.partition("%")[0])
    except ValueError:
        return True
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in (*PRIVATE, *attached_networks()))


def require_return(running_partition: str, process: int) -> None:
    """Refuses an update after which the caller of a process could not log in again."""
    source = ssh_source(process)
    if source is None or is_near(source) or any(OWN_RULES.glob("*.nft")):
        return
    own = etc.UPPER / FIREWALL
    if own.is_file() and own.read_bytes() != etc.text_of(running_partition, f"/etc/{FIREWALL}"):
        # The owner's firewall, which stays.
        return
    raise Refusal(
        f"You are logged in from {source}, which is neither a private address nor in a network that this machine is "
        "attached to. The release's firewall accepts SSH only from those, so after the restart you could not log in. "
        "It was not installed. Allow SSH from everywhere by a file, or from your address only by `ip saddr` or "
        "`ip6 saddr` and the address before `tcp`, and install again: sudo mkdir -p /etc/nftables.d; "
        f"echo 'add rule inet rookery input tcp dport 22 accept' | sudo tee {OWN_RULES}/ssh.nft"
    )
