"""Creates a node, before the node starts ("found" as in founding a cluster): a new node joins the cluster of the token in rookery.toml, or founds a cluster of its own that waits for its owner's claim."""

import subprocess
import time

import system
from boot_partition import SETTINGS, BootPartition
from settings import LASTING, TAKEN_OVER, Settings, parse

DATA = "/var/lib/rookery/data"
# Files that mark restored documents without a node, and what the data directory then contains. The person who restored them decides which node they belong to,
# so no node is created.
RESTORED = (
    ("restore-unfinished", "an unfinished restore. Delete its contents and run `rookery restore` again"),
    ("format", f"restored documents. Create a node from them by `sudo rookery cluster init --data {DATA} --node-name NAME`, or delete them"),
)
REPORT = "/run/rookery-image/found.txt"
ROUTE_WAIT_SECONDS = 60
# A machine may have a link-local address, or a router's IPv6 network, before DHCP answers, and a token usually has addresses of IPv4. Machines on one cable without a
# router, or in a network of IPv6 alone, have nothing else.
OTHERS_AFTER_SECONDS = 20
# 169.254.0.0 in /proc/net/route.
LINK_LOCAL = "0000FEA9"
UNCERTAIN = (f"No node is created, and no cluster is joined, until the problems of {SETTINGS} below are solved: they may concern the cluster's name, the token or the drive, which cannot be changed later. "
             "Correct the file on the card's first partition and restart the machine.")


def rookery(machine: system.Machine, *arguments: str, text: str | None = None) -> tuple[int, str]:
    """Runs `rookery` as the node's user, who then owns the files it creates. Returns the exit code and the output."""
    result = subprocess.run(["runuser", "-u", "rookery", "--", "/usr/bin/rookery", *arguments], input=text, capture_output=True, text=True, timeout=300, check=False)
    return result.returncode, (result.stderr + result.stdout).strip()


def has_route(machine: system.Machine, counts_others: bool) -> bool:
    """Whether the machine has a network beside loopback: one of IPv4 with a router or DHCP, or with `counts_others` also one of IPv6 or of IPv4 link-local addresses."""
    # Interface, network, …: the first line is the header. Loopback has no route.
    routes = [line.split() for line in (machine.read("/proc/net/route") or "").splitlines()[1:]]
    if any(len(route) > 1 and (counts_others or route[1] != LINK_LOCAL) for route in routes):
        return True
    if not counts_others:
        return False
    # Network, …, interface. Link-local addresses of IPv6 exist on each link, also if nothing else is on it.
    routes = [line.split() for line in (machine.read("/proc/net/ipv6_route") or "").splitlines()]
    return any(len(route) == 10 and route[9] != "lo" and not route[0].startswith(("fe8", "ff")) for route in routes)


def read(machine: system.Machine, boot: BootPartition) -> Settings:
    """The settings of rookery.toml: none if it does not exist, all in doubt if it cannot be read."""
    text, trouble = boot.text()
    if text is None:
        return Settings(in_doubt=set(LASTING) if trouble is not None or not boot.is_mounted() else set())
    return parse(text, machine.path("/usr/share/zoneinfo"))[0]


def found(machine: system.Machine, boot: BootPartition, run=rookery, sleep=time.sleep) -> str:
    """Founds or joins, and returns a sentence for the owner, or an empty text. A token that failed is tried again at the next boot."""
    settings = read(machine, boot)
    has_node = machine.path(DATA + "/cluster").exists() or machine.path(DATA + "/joining").exists()
    has_token = settings.cluster_token is not None and not TAKEN_OVER.fullmatch(settings.cluster_token)
    if settings.in_doubt & {"cluster", "storage"}:
        # The cluster and the drive of a node are fixed when it is created.
        return "" if has_node and not has_token else f"{UNCERTAIN}\n"
    name = (machine.read("/etc/hostname") or "rookery").strip()
    sentence = ""
    if has_token:
        for second in range(ROUTE_WAIT_SECONDS):
            if has_route(machine, second >= OTHERS_AFTER_SECONDS):
                break
            sleep(1)
        code, output = run(machine, "cluster", "join", "-", "--data", DATA, "--name", name, text=settings.cluster_token + "\n")
        # A node that is already a member, because the power failed after the join or Ansible joined it, no longer needs the token. A node that was removed or halted needs
        # it once its data directory is emptied.
        is_member = " of this cluster already: " in output and not any(machine.path(f"{DATA}/cluster/{note}").exists() for note in ("excluded", "halted"))
        if code == 0 or is_member:
            boot.cover("token", {settings.cluster_token})
            return output + "\n"
        sentence = f"Joining the cluster failed: {output}\nThe next boot tries again with the token that rookery.toml then holds.\n"
    if any(machine.path(f"{DATA}/{trace}").exists() for trace in ("cluster", "cluster.replaced", "joining")):
        return sentence
    for mark, contents in RESTORED:
        if machine.path(f"{DATA}/{mark}").exists():
            return f"{sentence}No node is created: {DATA} contains {contents}.\n"
    code, output = run(machine, "cluster", "init", "--data", DATA, "--node-name", name, *(["--name", settings.cluster_name] if settings.cluster_name else []))
    return sentence if code == 0 else f"{sentence}Creating the node failed: {output}\n"
