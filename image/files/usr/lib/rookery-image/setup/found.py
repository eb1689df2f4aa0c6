"""Before the node starts: makes a new one a cluster of its own that waits for its owner, or joins the cluster whose token rookery.toml holds."""

import subprocess
import time

import system
from boot_partition import BootPartition
from settings import TAKEN_OVER, parse

DATA = "/var/lib/rookery/data"
REPORT = "/run/rookery-image/found.txt"
ROUTE_WAIT_SECONDS = 60


def rookery(machine: system.Machine, *arguments: str, text: str | None = None) -> tuple[int, str]:
    """Runs `rookery` as the node's own user, so that everything that it makes is the node's; its exit code and what it said."""
    done = subprocess.run(["runuser", "-u", "rookery", "--", "/usr/bin/rookery", *arguments], input=text, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, (done.stderr + done.stdout).strip()


def has_route(machine: system.Machine) -> bool:
    # The header is the first line; loopback has none.
    return len((machine.read("/proc/net/route") or "").splitlines()) > 1


def found(machine: system.Machine, boot: BootPartition, run=rookery, sleep=time.sleep) -> str:
    """What was done about the node, in a sentence or none. A token that did not work is kept, and tried at the next start."""
    text, _ = boot.text()
    settings, _ = parse(text, machine.path("/usr/share/zoneinfo")) if text is not None else (None, [])
    name = (machine.read("/etc/hostname") or "rookery").strip()
    sentence = ""
    if settings is not None and settings.cluster_token and not TAKEN_OVER.fullmatch(settings.cluster_token):
        for _ in range(ROUTE_WAIT_SECONDS):
            if has_route(machine):
                break
            sleep(1)
        code, said = run(machine, "cluster", "join", "-", "--data", DATA, "--name", name, text=settings.cluster_token + "\n")
        if code == 0:
            boot.cover("token", {settings.cluster_token})
            return said + "\n"
        sentence = f"The cluster was not joined: {said}\nIt is tried again at the next start, with the token that rookery.toml holds then.\n"
    if not machine.path(DATA + "/cluster").exists() and not machine.path(DATA + "/joining").exists():
        name_of_cluster = settings.cluster_name if settings is not None else None
        code, said = run(machine, "cluster", "init", "--data", DATA, "--node-name", name, *(["--name", name_of_cluster] if name_of_cluster else []))
        if code != 0:
            sentence += f"The node could not be made: {said}\n"
    return sentence
