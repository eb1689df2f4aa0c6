"""Before the node starts: makes a new one a cluster of its own that waits for its owner, or joins the cluster whose token rookery.toml holds."""

import subprocess
import time

import system
from boot_partition import SETTINGS, BootPartition
from settings import LASTING, TAKEN_OVER, Settings, parse

DATA = "/var/lib/rookery/data"
# Documents before there is a node: who restores them says what node they are of.
RESTORED = (
    ("restore-unfinished", "half of a restore. Delete all in it, and run `rookery restore` again"),
    ("format", f"what was restored. `sudo rookery cluster init --data {DATA} --node-name NAME` makes it a node; or delete all in it"),
)
REPORT = "/run/rookery-image/found.txt"
ROUTE_WAIT_SECONDS = 60
UNCERTAIN = (f"This machine is no node yet, or not the one it shall be: what is wrong with {SETTINGS} may be the name of its cluster, its token, or the drive it shall live on, and that cannot be changed afterwards. "
             "Mend what is named here, in the file on the card's first partition, and start the machine again.")


def rookery(machine: system.Machine, *arguments: str, text: str | None = None) -> tuple[int, str]:
    """Runs `rookery` as the node's own user, so that everything that it makes is the node's; its exit code and what it said."""
    done = subprocess.run(["runuser", "-u", "rookery", "--", "/usr/bin/rookery", *arguments], input=text, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, (done.stderr + done.stdout).strip()


def has_route(machine: system.Machine) -> bool:
    # The header is the first line; loopback has none.
    return len((machine.read("/proc/net/route") or "").splitlines()) > 1


def read(machine: system.Machine, boot: BootPartition) -> Settings:
    """What the file says. One that is not there says nothing; of one that cannot be read nobody knows what it says."""
    text, trouble = boot.text()
    if text is None:
        return Settings(in_doubt=set(LASTING) if trouble is not None or not boot.is_mounted() else set())
    return parse(text, machine.path("/usr/share/zoneinfo"))[0]


def found(machine: system.Machine, boot: BootPartition, run=rookery, sleep=time.sleep) -> str:
    """What was done about the node, in a sentence or none. A token that did not work is kept, and tried at the next start."""
    settings = read(machine, boot)
    has_node = machine.path(DATA + "/cluster").exists() or machine.path(DATA + "/joining").exists()
    has_token = settings.cluster_token is not None and not TAKEN_OVER.fullmatch(settings.cluster_token)
    if settings.in_doubt & {"cluster", "storage"}:
        # Which cluster a node is of, and where it lives, is fixed when it is made.
        return "" if has_node and not has_token else f"{UNCERTAIN}\n"
    name = (machine.read("/etc/hostname") or "rookery").strip()
    sentence = ""
    if has_token:
        for _ in range(ROUTE_WAIT_SECONDS):
            if has_route(machine):
                break
            sleep(1)
        code, said = run(machine, "cluster", "join", "-", "--data", DATA, "--name", name, text=settings.cluster_token + "\n")
        # Of this cluster already: the power failed after it was joined, or Ansible did it. But who was removed since, or halted, needs the token for an empty directory.
        is_member = " of this cluster already: " in said and not any(machine.path(f"{DATA}/cluster/{note}").exists() for note in ("excluded", "halted"))
        if code == 0 or is_member:
            boot.cover("token", {settings.cluster_token})
            return said + "\n"
        sentence = f"The cluster was not joined: {said}\nIt is tried again at the next start, with the token that rookery.toml holds then.\n"
    if any(machine.path(f"{DATA}/{name}").exists() for name in ("cluster", "cluster.replaced", "joining")):
        return sentence
    for mark, what in RESTORED:
        if machine.path(f"{DATA}/{mark}").exists():
            return f"{sentence}No node is made: {DATA} holds {what}.\n"
    code, said = run(machine, "cluster", "init", "--data", DATA, "--node-name", name, *(["--name", settings.cluster_name] if settings.cluster_name else []))
    return sentence if code == 0 else f"{sentence}The node could not be made: {said}\n"
