"""What the settings change on the machine. Everything is below `root`, so that tests give a directory; a file is written only when it changes, and then whole."""

import errno
import json
import os
import re
import shutil
import stat
import subprocess
from contextlib import suppress
from pathlib import Path

from settings import TAKEN_OVER, Settings, WifiNetwork, is_name_of_ansible, memory_bytes, problem_of_ansible

WIFI = "/etc/wpa_supplicant/wpa_supplicant-wlan0.conf"
CLAIM_CODE = "/var/lib/rookery/claim-code"
PHRASE = "/var/lib/rookery/form-phrase"
NODE = "/var/lib/rookery/config.json"
# In memory, root's.
RUNTIME = "/run/rookery-image"
# What the machine keeps beside the data for itself.
HOST = "/var/lib/rookery/host"
# What of the node's configuration comes from rookery.toml.
NODE_BY_US = HOST + "/set-by-rookery-toml.json"
POWER_GOVERNORS = {
    # quiet: the lowest frequency that carries the load; fast: the highest always. The kernel's own choice lies between.
    "quiet": "conservative",
    "balanced": "schedutil",
    "fast": "performance",
}
# UID_MIN and UID_MAX of Debian's login.defs.
PEOPLE = range(1000, 60001)


class Machine:
    """The system that is set up. `commands` runs programs, and is None where none may run (tests without a boot)."""

    def __init__(self, root: Path, commands=subprocess.run):
        self.root, self._commands = root, commands

    def path(self, absolute: str) -> Path:
        return self.root / absolute.lstrip("/")

    def run(self, *command: str, seconds: int = 60, fails: bool = False) -> str:
        """Runs a program and gives what it printed; with `fails` also when it ended with an error."""
        if self._commands is None:
            return ""
        return self._commands(command, check=not fails, capture_output=True, text=True, errors="replace", timeout=seconds).stdout

    def read(self, absolute: str) -> str | None:
        """The text of a regular file; None where there is none, or something else: where the node's user may write, a link shows what only root may see, and a pipe has no end."""
        try:
            with open(self.path(absolute), encoding="utf-8", errors="replace", opener=open_regular) as file:
                return file.read()
        except OSError:
            return None

    def read_as_node(self, absolute: str) -> str:
        """The text of a file in a directory of the node's user, read as that user, so that no link on the way shows it more than it may see; empty where there is none."""
        return self.run("setpriv", "--reuid=rookery", "--regid=rookery", "--clear-groups",
                        "dd", f"if={self.path(absolute)}", "iflag=nofollow,nonblock", "bs=64K", "count=1", "status=none", fails=True)

    def write(self, absolute: str, text: str, mode: int = 0o644, user: str | None = None, group: str | None = None) -> bool:
        """Replaces a file by one rename, after its bytes are on the disk; whether anything had to be done. It is root's, but for `user` and `group`, and nothing that somebody else put there is followed or written to."""
        path = self.path(absolute)
        user_id = os.geteuid() if user is None else self._id(user, "/etc/passwd")
        group_id = -1 if group is None else self._id(group, "/etc/group")
        if self.read(absolute) == text:
            there = path.lstat()
            if stat.S_IMODE(there.st_mode) == mode and there.st_uid == user_id and group_id in (-1, there.st_gid):
                return False
        path.parent.mkdir(parents=True, exist_ok=True)
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            new = path.name + ".new"
            with suppress(FileNotFoundError):
                os.unlink(new, dir_fd=directory)
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=directory), "w", encoding="utf-8") as file:
                file.write(text)
                os.fchown(file.fileno(), user_id, group_id)
                os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, path.name, src_dir_fd=directory, dst_dir_fd=directory)
            # The name is durable with its directory.
            os.fsync(directory)
        finally:
            os.close(directory)
        return True

    def make_own_directory(self, absolute: str) -> None:
        """Makes a directory that is root's alone; what somebody else put in its place goes."""
        path = self.path(absolute)
        with suppress(FileNotFoundError):
            there = path.lstat()
            if stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid():
                return
            if stat.S_ISDIR(there.st_mode):
                shutil.rmtree(path)
            else:
                path.unlink()
        path.mkdir(mode=0o700)

    def _id(self, name: str, file: str) -> int:
        entry = re.search(rf"^{re.escape(name)}:[^:]*:([0-9]+):", self.read(file) or "", re.MULTILINE)
        if entry is None:
            raise LookupError(f"there is no '{name}' in {file}")
        return int(entry[1])


def open_regular(path: Path, flags: int) -> int:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "This is no regular file", str(path))
    return descriptor


def check(machine: Machine, settings: Settings) -> list[str]:
    """What is wrong with the settings on just this machine: that counts as not said."""
    problems = []
    name = (settings.hostname or "").lower()
    if is_name_of_ansible(name):
        # Clients know a machine that was given it before.
        keeps = (machine.read("/etc/hostname") or "").strip() == name
        problems.append(problem_of_ansible(name) + (" This machine keeps it until then, because it had it before" if keeps else ""))
        settings.hostname = name if keeps else None
    memory = re.search(r"^MemTotal: +([0-9]+) kB", machine.read("/proc/meminfo") or "", re.MULTILINE)
    most_bytes = int(memory[1]) * 1024 // 2 if memory is not None else None
    # MemoryMax of rookery.service.
    if settings.memory is not None and most_bytes is not None and memory_bytes(settings.memory) > most_bytes:
        problems.append(f"memory: {settings.memory} is more than half of this machine's memory, {most_bytes >> 20}M, and more than that the system does not give to the node")
        # Nor does what it said before hold, on another board.
        settings.memory = None
    if (why := why_no_account(machine, settings.ssh_user)) is not None:
        problems.append(f"ssh.user: '{settings.ssh_user}' {why}, and who logs in gets all rights; take another name. It is admin instead")
        settings.ssh_user = "admin"
    return problems


def why_no_account(machine: Machine, name: str) -> str | None:
    """Why the account is not for people; None when it is, or can be made."""
    account = re.search(rf"^{re.escape(name)}:[^:]*:([0-9]+):", machine.read("/etc/passwd") or "", re.MULTILINE)
    if account is not None:
        return None if int(account[1]) in PEOPLE else "is an account of the system"
    return "is a group of the system" if re.search(rf"^{re.escape(name)}:", machine.read("/etc/group") or "", re.MULTILINE) else None


def keeps_changes(machine: Machine) -> bool:
    """Whether the card's data partition is in use: without it all that is changed is gone when the machine stops."""
    return not machine.path("/run/rookery-image/no-data").exists()


def has_home(machine: Machine) -> bool:
    """Whether the node's home is there: on the card's data partition, or on its drive."""
    home = machine.path("/var/lib/rookery")
    return home.is_dir() and not machine.path("/run/rookery-image/waits-for-drive").exists() and (keeps_changes(machine) or home.is_mount())


def serial_number(machine: Machine) -> str | None:
    """The board's serial number, by the device tree of a Raspberry Pi, or of another machine's firmware."""
    for source in ("/proc/device-tree/serial-number", "/sys/class/dmi/id/product_uuid"):
        text = re.sub(r"[^0-9a-zA-Z]", "", machine.read(source) or "").lower()
        if text.strip("0"):
            return text
    for interface in sorted(machine.path("/sys/class/net").glob("[ew]*/address")):
        address = interface.read_text(encoding="ascii").strip().replace(":", "")
        if address.strip("0"):
            return address
    return None


def default_host_name(machine: Machine) -> str:
    """`rookery-` and the last 6 characters of the serial number, which differ between boards; the same at every start."""
    return "rookery-" + (serial_number(machine) or machine.read("/etc/machine-id") or "unknown").strip()[-6:]


def set_host_name(machine: Machine, settings: Settings) -> str:
    name = (settings.hostname or default_host_name(machine)).lower()
    machine.write("/etc/hostname", name + "\n")
    machine.write("/etc/hosts", f"127.0.0.1 localhost\n127.0.1.1 {name}\n::1 localhost ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\nff02::2 ip6-allrouters\n")
    machine.run("hostname", name)
    return name


def set_time_zone(machine: Machine, settings: Settings) -> None:
    if settings.timezone is None:
        return
    link = machine.path("/etc/localtime")
    target = "/usr/share/zoneinfo/" + settings.timezone
    if not link.is_symlink() or os.readlink(link) != target:
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def set_account(machine: Machine, settings: Settings) -> None:
    """The account that may log in and use sudo. Keys that an administrator added on the machine stay: those of the file are added."""
    user = settings.ssh_user
    if not settings.ssh_keys:
        return
    if not re.search(rf"^{re.escape(user)}:", machine.read("/etc/passwd") or "", re.MULTILINE):
        machine.run("useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", user)
    file = f"/home/{user}/.ssh/authorized_keys"
    present = (machine.read(file) or "").splitlines()
    missing = [key for key in settings.ssh_keys if key not in present]
    if missing:
        machine.path(f"/home/{user}/.ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
        machine.write(file, "\n".join(present + missing) + "\n", 0o600)
        machine.run("chown", "--recursive", f"{user}:{user}", f"/home/{user}/.ssh")
    # The password is '*', which is none, so sudo cannot ask for it.
    machine.write("/etc/sudoers.d/rookery-account", f"{user} ALL=(ALL) NOPASSWD: ALL\n", 0o440)


def keep_host_keys(machine: Machine) -> None:
    """SSH's host keys lie beside the data: with the old drive, a new card is the same machine to those who log in. Without any there, new ones are made."""
    used = "/etc/ssh"
    if has_home(machine):
        machine.make_own_directory(HOST)
        if copy_host_keys(machine, HOST, used):
            return
    if not host_keys(machine, used):
        # ssh-keygen syncs nothing: in its place a power cut would leave an empty key, and nobody could log in any more.
        file = machine.path(RUNTIME) / "ssh_host_ed25519_key"
        file.unlink(missing_ok=True)
        machine.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file))
        copy_host_keys(machine, RUNTIME, used)
        file.unlink(missing_ok=True)
    if has_home(machine):
        copy_host_keys(machine, used, HOST)


def host_keys(machine: Machine, directory: str) -> dict[str, str]:
    """The host keys of a directory that are whole, by their files' names."""
    keys = {file.name: machine.read(f"{directory}/{file.name}") or "" for file in sorted(machine.path(directory).glob("ssh_host_*_key"))}
    return {name: key for name, key in keys.items() if re.fullmatch(r"-----BEGIN ([A-Z ]+)-----\n.+\n-----END \1-----\n", key, re.DOTALL)}


def copy_host_keys(machine: Machine, source: str, target: str) -> bool:
    """Whether there were any."""
    keys = host_keys(machine, source)
    for name, key in keys.items():
        machine.write(f"{target}/{name}", key, 0o600)
        if (public := machine.read(f"{source}/{name}.pub")) is not None:
            machine.write(f"{target}/{name}.pub", public, 0o644)
    return bool(keys)


def wpa_network(network: WifiNetwork, priority: int, known: dict[str, str]) -> str:
    passphrase = network.passphrase
    if passphrase is not None and TAKEN_OVER.fullmatch(passphrase):
        line = known.get(network.ssid)
    elif passphrase is None:
        line = "key_mgmt=NONE"
    elif re.fullmatch(r"[0-9A-Fa-f]{64}", passphrase):
        line = f"psk={passphrase.lower()}"
    else:
        line = f'psk="{passphrase}"'
    if line is None:
        return ""
    # Hexadecimal, because a name may hold quotes and anything else.
    return f"network={{\n\tssid={network.ssid.encode().hex()}\n{chr(9) + 'scan_ssid=1' + chr(10) if network.hidden else ''}\t{line}\n\tpriority={priority}\n}}\n"


def set_wifi(machine: Machine, settings: Settings) -> list[str]:
    """Writes the networks for wpa_supplicant, which is started when the radio is there; the names of those whose passphrase is covered in the file and not known here."""
    if not settings.wifi_networks:
        if "wifi" not in settings.in_doubt:
            machine.path(WIFI).unlink(missing_ok=True)
        return []
    known = {bytes.fromhex(ssid).decode(errors="replace"): line
             for ssid, line in re.findall(r"ssid=([0-9a-f]+)\n(?:\tscan_ssid=1\n)?\t(psk=.*)\n", machine.read(WIFI) or "")}
    for network in settings.wifi_networks:
        # A file with stars from another machine's card.
        if network.passphrase is not None and TAKEN_OVER.fullmatch(network.passphrase) and network.ssid not in known:
            network.passphrase = settings.other_passphrases.get(network.ssid, network.passphrase)
    named = {network.ssid.encode().hex() for network in settings.wifi_networks}
    # What the machine has from the file before stays while there is doubt, behind what is sure.
    kept = [re.sub(r"(?m)^\tpriority=\d+$", "\tpriority=0", block)
            for block, ssid in re.findall(r"(network=\{\n\tssid=([0-9a-f]+)\n.*?\n\}\n)", machine.read(WIFI) or "", re.DOTALL)
            if "wifi" in settings.in_doubt and ssid not in named]
    # Of those that are there, it takes the one of the highest.
    blocks = [wpa_network(network, priority, known) for priority, network in zip(range(len(settings.wifi_networks), 0, -1), settings.wifi_networks, strict=True)]
    machine.write(WIFI, f"ctrl_interface=/run/wpa_supplicant\ncountry={settings.wifi_country}\n" + "".join(blocks + kept), 0o600)
    return [network.ssid for network, block in zip(settings.wifi_networks, blocks, strict=True) if not block]


def keep_claim_code(machine: Machine, settings: Settings) -> bool:
    """Lays the code by which the node is claimed beside its data, where the node reads it; whether the machine has one."""
    if settings.claim_code and not TAKEN_OVER.fullmatch(settings.claim_code) and has_home(machine):
        machine.write(CLAIM_CODE, settings.claim_code + "\n", 0o640, group="rookery")
    return has_home(machine) and machine.read(CLAIM_CODE) is not None


def keep_phrase(machine: Machine, settings: Settings) -> bool | None:
    """Keeps the phrase by which the node forms a cluster beside its data, for its own eyes, which it insists on; whether the machine has the one that it needs, None when it needs none or has no place for it."""
    if settings.cluster_phrase is None or not has_home(machine):
        return None
    if not TAKEN_OVER.fullmatch(settings.cluster_phrase):
        machine.write(PHRASE, settings.cluster_phrase + "\n", 0o600, user="rookery", group="rookery")
    return machine.read(PHRASE) is not None


def read_object(machine: Machine, file: str) -> dict | None:
    """What a file of JSON says; None when it is not there or says something else."""
    try:
        said = json.loads(machine.read(file) or "")
    except ValueError:
        return None
    return said if isinstance(said, dict) else None


def set_node(machine: Machine, settings: Settings) -> list[str]:
    """Writes what the file says into the node's configuration, which lies beside its data, and takes out what it says no more. What somebody else wrote there, by hand or by Ansible, stays; gives what is not done for that."""
    if not has_home(machine):
        return []
    if "cluster" not in settings.in_doubt and settings.cluster_phrase is None:
        # Whoever knows it becomes a member: it stays no longer than the file says.
        machine.path(PHRASE).unlink(missing_ok=True)
    forms = settings.cluster_expect is not None and machine.read(PHRASE) is not None
    wanted = (
        ("memory", "memory", settings.memory),
        ("peers", "cluster.seeds", ",".join(settings.cluster_seeds) or None),
        ("claimCodeFile", "cluster.claim-code", CLAIM_CODE if machine.read(CLAIM_CODE) is not None else None),
        ("form", "cluster.expect", {"expect": settings.cluster_expect, "phraseFile": PHRASE} if forms else None),
    )
    before, problems = read_object(machine, NODE), []
    if before is None and (wrong := machine.read(NODE)):
        machine.write(NODE + ".wrong", wrong, 0o640, group="rookery")
        problems.append(f"{NODE} is no object of JSON: it lies beside it as {NODE}.wrong, and the node starts as if there had been none. Mend it and put it back")
    node = dict(before) if before is not None else json.loads(machine.read("/usr/share/rookery/config.json") or "{}")
    ours = read_object(machine, NODE_BY_US) or {}
    for key, name, value in wanted:
        if key in node and node[key] not in (value, ours.get(key)):
            ours.pop(key, None)
            if value is not None:
                problems.append(f"{name}: {NODE} says something else, which was not set by this file, and that holds. For this file to hold, take \"{key}\" out there")
        elif value is not None:
            node[key] = ours[key] = value
        elif key in ours and name.partition(".")[0] not in settings.in_doubt:
            node.pop(key, None)
            del ours[key]
    # As it was written by whoever did, when it says the same.
    machine.write(NODE, machine.read(NODE) if node == before else json.dumps(node, indent=2) + "\n", 0o640, group="rookery")
    # After it: what is not noted yet is known by its value.
    if ours or machine.path(NODE_BY_US).exists():
        machine.write(NODE_BY_US, json.dumps(ours, indent=2) + "\n", 0o600)
    return problems


def set_power(machine: Machine, settings: Settings) -> list[str]:
    """Gives the processor its governor; what kept the machine from it."""
    governor = POWER_GOVERNORS[settings.power_profile]
    if settings.power_profile != "balanced":
        # The driver of the frequencies is loaded beside this. The unit is not ordered after that: everybody's network would wait for a few's profile.
        machine.run("systemctl", "start", "systemd-udev-trigger.service", fails=True)
        machine.run("udevadm", "settle", "--timeout=10", fails=True)
    policies = sorted(machine.path("/sys/devices/system/cpu/cpufreq").glob("policy*"))
    if not policies and settings.power_profile != "balanced":
        return [f"power: this machine's processor has one frequency, as far as the kernel knows, and '{settings.power_profile}' changes nothing"]
    for policy in policies:
        try:
            # The kernel loads a governor that is not there yet when it is asked for it; scaling_available_governors names only those that are.
            (policy / "scaling_governor").write_text(governor, encoding="ascii")
        except OSError as error:
            return [f"power: the kernel refuses the governor '{governor}' ({error.strerror}), and the processor keeps the one it has"]
    return []


def disk_space(machine: Machine) -> str:
    if not has_home(machine):
        return "none"
    # Not what is free: the report is written anew when it says something else.
    return f"{shutil.disk_usage(machine.path('/var/lib/rookery')).total / 1e9:.1f} GB"
