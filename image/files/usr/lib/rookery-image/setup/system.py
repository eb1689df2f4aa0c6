"""Applies the settings to the machine. All paths are below `root`, which tests set to a directory. A file is replaced whole, and only if it changes."""

import errno
import ipaddress
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
# In memory; belongs to root.
RUNTIME = "/run/rookery-image"
# Files of the machine, not of the node, that are stored beside the data.
HOST = "/var/lib/rookery/host"
# The entries of the node's configuration that came from rookery.toml.
NODE_BY_US = HOST + "/set-by-rookery-toml.json"
# The address of the machine's own name in /etc/hosts, and the name in the image.
OWN_ADDRESS, DEFAULT_NAME = "127.0.1.1", "rookery"
HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\nff02::1 ip6-allnodes\nff02::2 ip6-allrouters\n"
# The image's firewall, and the directory of the owner's rules.
FIREWALL, OWN_RULES = "/etc/nftables.conf", "/etc/nftables.d"
POWER_GOVERNORS = {
    # conservative raises the frequency slowly with the load, performance always uses the highest, schedutil is the kernel's default.
    "quiet": "conservative",
    "balanced": "schedutil",
    "fast": "performance",
}
# UID_MIN and UID_MAX of Debian's login.defs.
PEOPLE = range(1000, 60001)


class Machine:
    """The system to set up. `commands` runs programs; it is None in tests that must run none."""

    def __init__(self, root: Path, commands=subprocess.run):
        self.root, self._commands = root, commands

    def path(self, absolute: str) -> Path:
        return self.root / absolute.lstrip("/")

    def run(self, *command: str, seconds: int = 60, fails: bool = False) -> str:
        """Runs a program and returns its standard output. Raises CalledProcessError if it fails, unless `fails` allows that."""
        if self._commands is None:
            return ""
        return self._commands(command, check=not fails, capture_output=True, text=True, errors="replace", timeout=seconds).stdout

    def read(self, absolute: str) -> str | None:
        """The text of a regular file, or None. Links and pipes are refused, because the node's user could make root read a secret, or wait for ever, by one."""
        try:
            with open(self.path(absolute), encoding="utf-8", errors="replace", opener=open_regular) as file:
                return file.read()
        except OSError:
            return None

    def read_as_node(self, absolute: str) -> str:
        """The text of a file in a directory of the node's user, empty if there is none. It is read as that user, so that a link cannot expose a file of root."""
        return self.run("setpriv", "--reuid=rookery", "--regid=rookery", "--clear-groups",
                        "dd", f"if={self.path(absolute)}", "iflag=nofollow,nonblock", "bs=64K", "count=1", "status=none", fails=True)

    def write(self, absolute: str, text: str, mode: int = 0o644, user: str | None = None, group: str | None = None) -> bool:
        """Replaces a file by one rename, after its bytes are durable, and returns whether it changed. The owner is root unless `user` and `group` are given. A link or file that another user placed there is neither followed nor written to."""
        path = self.path(absolute)
        user_id = os.geteuid() if user is None else self._id(user, "/etc/passwd")
        group_id = -1 if group is None else self._id(group, "/etc/group")
        if self.read(absolute) == text:
            status = path.lstat()
            if stat.S_IMODE(status.st_mode) == mode and status.st_uid == user_id and group_id in (-1, status.st_gid):
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
            # Makes the rename durable.
            os.fsync(directory)
        finally:
            os.close(directory)
        return True

    def make_own_directory(self, absolute: str) -> None:
        """Creates a directory for root alone. Anything that another user placed at that path is deleted."""
        path = self.path(absolute)
        with suppress(FileNotFoundError):
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid():
                return
            if stat.S_ISDIR(status.st_mode):
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
    """An opener for `open` that fails for links, pipes and other special files."""
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "This is not a regular file", str(path))
    return descriptor


def check(machine: Machine, settings: Settings) -> list[str]:
    """Resets the settings that this machine cannot apply, and returns their problems."""
    problems = []
    name = (settings.hostname or "").lower()
    if is_name_of_ansible(name):
        # A machine that already has the name keeps it, because clients know it by that.
        keeps_name = (machine.read("/etc/hostname") or "").strip() == name
        problems.append(problem_of_ansible(name) + (" Until then this machine keeps the name that it had before" if keeps_name else ""))
        settings.hostname = name if keeps_name else None
    memory = re.search(r"^MemTotal: +([0-9]+) kB", machine.read("/proc/meminfo") or "", re.MULTILINE)
    max_bytes = int(memory[1]) * 1024 // 2 if memory is not None else None
    # MemoryMax of rookery.service.
    if settings.memory is not None and max_bytes is not None and memory_bytes(settings.memory) > max_bytes:
        problems.append(f"memory: {settings.memory} is more than half of this machine's memory, {max_bytes >> 20}M, which is the most that the system gives the node")
        # The stored value is not kept, because it may stem from another board.
        settings.memory = None
    if (reason := why_no_account(machine, settings.ssh_user)) is not None:
        problems.append(f"ssh.user: '{settings.ssh_user}' {reason}, which must not get the rights of an administrator; use another name. The account 'admin' is used instead")
        settings.ssh_user = "admin"
    return problems


def why_no_account(machine: Machine, name: str) -> str | None:
    """Why the account cannot be an administrator's; None if it can, or does not exist yet."""
    account = re.search(rf"^{re.escape(name)}:[^:]*:([0-9]+):", machine.read("/etc/passwd") or "", re.MULTILINE)
    if account is not None:
        return None if int(account[1]) in PEOPLE else "is an account of the system"
    return "is a group of the system" if re.search(rf"^{re.escape(name)}:", machine.read("/etc/group") or "", re.MULTILINE) else None


def keeps_changes(machine: Machine) -> bool:
    """Whether the card's data partition is in use. Without it all changes are lost when the machine stops."""
    return not machine.path("/run/rookery-image/no-data").exists()


def has_home(machine: Machine) -> bool:
    """Whether the node's home is mounted, from the card's data partition or from its drive."""
    home = machine.path("/var/lib/rookery")
    return home.is_dir() and not machine.path("/run/rookery-image/waits-for-drive").exists() and (keeps_changes(machine) or home.is_mount())


def serial_number(machine: Machine) -> str | None:
    """The serial number from a Raspberry Pi's device tree or another machine's firmware, or else the address of a network interface."""
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
    """`rookery-` and the last 6 characters of the serial number, which differ between boards and are the same at every boot."""
    return "rookery-" + (serial_number(machine) or machine.read("/etc/machine-id") or "unknown").strip()[-6:]


def set_host_name(machine: Machine, settings: Settings) -> str:
    """Sets the host name and returns it."""
    name = (settings.hostname or default_host_name(machine)).lower()
    before = (machine.read("/etc/hostname") or "").strip()
    # hosts first: if a power cut comes between, the previous name is still known at the next boot.
    machine.write("/etc/hosts", hosts_with_name(machine.read("/etc/hosts") or HOSTS, before, name))
    machine.write("/etc/hostname", name + "\n")
    machine.run("hostname", name)
    return name


def hosts_with_name(text: str, before: str, name: str) -> str:
    """The text of /etc/hosts with the machine's name at OWN_ADDRESS, instead of the previous one. All other lines and names are the owner's and stay."""
    lines, is_named = [], False
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if words[:1] != [OWN_ADDRESS]:
            lines.append(line)
        elif not is_named:
            is_named = True
            names = [name] + [word for word in words[1:] if word not in (name, before, DEFAULT_NAME)]
            lines.append(line if words[1:] == names else " ".join([OWN_ADDRESS, *names]))
        elif others := [word for word in words[1:] if word not in (name, before, DEFAULT_NAME)]:
            # A second line of the address.
            lines.append(line if words[1:] == others else " ".join([OWN_ADDRESS, *others]))
    if not is_named:
        lines.insert(1 if lines and lines[0].startswith("127.0.0.1") else 0, f"{OWN_ADDRESS} {name}")
    return "\n".join(lines) + "\n"


def set_time_zone(machine: Machine, settings: Settings) -> None:
    if settings.timezone is None:
        return
    link = machine.path("/etc/localtime")
    target = "/usr/share/zoneinfo/" + settings.timezone
    if not link.is_symlink() or os.readlink(link) != target:
        link.unlink(missing_ok=True)
        link.symlink_to(target)


def set_account(machine: Machine, settings: Settings) -> None:
    """Creates the account that may log in and use sudo, and adds the keys of the file. Keys added on the machine stay."""
    user = settings.ssh_user
    if not settings.ssh_keys:
        return
    create_account(machine, user)
    fields = account(machine, user)
    # The owner may have given the account another home or group.
    home = fields[5] if fields is not None and fields[5].startswith("/") else f"/home/{user}"
    if not machine.path(home).is_dir():
        machine.run("mkhomedir_helper", user, "0077", fails=True)
    file = f"{home}/.ssh/authorized_keys"
    present = (machine.read(file) or "").splitlines()
    missing = [key for key in settings.ssh_keys if key not in present]
    if missing:
        machine.path(f"{home}/.ssh").mkdir(mode=0o700, parents=True, exist_ok=True)
        machine.write(file, "\n".join(present + missing) + "\n", 0o600)
    # Also without a missing key, because a power cut may have come before. `USER:` is the account's own group.
    if missing or machine.path(file).stat().st_uid == os.geteuid():
        machine.run("chown", "--recursive", f"{user}:", f"{home}/.ssh")
    # NOPASSWD, because the account has no password ('*').
    machine.write("/etc/sudoers.d/rookery-account", f"{user} ALL=(ALL) NOPASSWD: ALL\n", 0o440)


def account(machine: Machine, name: str) -> list[str] | None:
    """The fields of an account in /etc/passwd; None if it has no line with all seven."""
    lines = [line.split(":") for line in (machine.read("/etc/passwd") or "").splitlines()]
    return next((fields for fields in lines if fields[0] == name and len(fields) == 7), None)


def create_account(machine: Machine, name: str) -> None:
    """Creates the account with its home and group, unless it exists. useradd writes its files one after the other: an account that a power cut left without its line in
    /etc/shadow or its group, with which no login is possible, is created again."""
    fields = account(machine, name)
    if fields is not None:
        passwords, groups = machine.read("/etc/shadow"), machine.read("/etc/group")
        # A file that cannot be read says nothing about the account.
        has_password_line = passwords is None or re.search(rf"^{re.escape(name)}:", passwords, re.MULTILINE) is not None
        if has_password_line and (groups is None or re.search(rf"^[^:]+:[^:]*:{re.escape(fields[3])}:", groups, re.MULTILINE) is not None):
            return
    # After a power cut these name a process of the previous start. A process that has its number now would make useradd fail.
    for file in ("passwd", "shadow", "group", "gshadow", "subuid", "subgid"):
        machine.path(f"/etc/{file}.lock").unlink(missing_ok=True)
    if fields is not None:
        machine.run("userdel", name)
    machine.run("useradd", "--create-home", "--shell", "/bin/bash", "--password", "*", name)


def keep_host_keys(machine: Machine) -> None:
    """Restores the SSH host keys stored beside the data, or creates and stores new ones. So a new card with the old drive has the old host keys, and SSH clients do not warn."""
    used = "/etc/ssh"
    if has_home(machine):
        machine.make_own_directory(HOST)
        if copy_host_keys(machine, HOST, used):
            return
    if not host_keys(machine, used):
        # Created in memory and then copied durably: ssh-keygen does not sync, and a key left empty by a power cut would make logging in impossible.
        file = machine.path(RUNTIME) / "ssh_host_ed25519_key"
        file.unlink(missing_ok=True)
        machine.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(file))
        copy_host_keys(machine, RUNTIME, used)
        file.unlink(missing_ok=True)
    if has_home(machine):
        copy_host_keys(machine, used, HOST)


def host_keys(machine: Machine, directory: str) -> dict[str, str]:
    """The complete host keys in a directory, by file name."""
    keys = {file.name: machine.read(f"{directory}/{file.name}") or "" for file in sorted(machine.path(directory).glob("ssh_host_*_key"))}
    return {name: key for name, key in keys.items() if re.fullmatch(r"-----BEGIN ([A-Z ]+)-----\n.+\n-----END \1-----\n", key, re.DOTALL)}


def copy_host_keys(machine: Machine, source: str, target: str) -> bool:
    """Copies the complete host keys and returns whether there were any."""
    keys = host_keys(machine, source)
    for name, key in keys.items():
        machine.write(f"{target}/{name}", key, 0o600)
        if (public := machine.read(f"{source}/{name}.pub")) is not None:
            machine.write(f"{target}/{name}.pub", public, 0o644)
    return bool(keys)


def wpa_network(network: WifiNetwork, priority: int, stored_lines: dict[str, str]) -> str:
    """The block of a network in wpa_supplicant's file; empty if its passphrase is covered and not in `stored_lines`, the stored lines "psk=…" by SSID."""
    passphrase = network.passphrase
    if passphrase is not None and TAKEN_OVER.fullmatch(passphrase):
        line = stored_lines.get(network.ssid)
    elif passphrase is None:
        line = "key_mgmt=NONE"
    elif re.fullmatch(r"[0-9A-Fa-f]{64}", passphrase):
        line = f"psk={passphrase.lower()}"
    else:
        line = f'psk="{passphrase}"'
    if line is None:
        return ""
    # The name is written in hexadecimal, because it may contain quotes.
    return f"network={{\n\tssid={network.ssid.encode().hex()}\n{chr(9) + 'scan_ssid=1' + chr(10) if network.hidden else ''}\t{line}\n\tpriority={priority}\n}}\n"


def set_wifi(machine: Machine, settings: Settings) -> list[str]:
    """Writes the networks for wpa_supplicant, which starts when the radio appears. Returns the names of the networks whose passphrase is covered in the file but not stored here."""
    if not settings.wifi_networks:
        if "wifi" not in settings.in_doubt:
            machine.path(WIFI).unlink(missing_ok=True)
        return []
    stored_lines = {bytes.fromhex(ssid).decode(errors="replace"): line
             for ssid, line in re.findall(r"ssid=([0-9a-f]+)\n(?:\tscan_ssid=1\n)?\t(psk=.*)\n", machine.read(WIFI) or "")}
    for network in settings.wifi_networks:
        # The passphrase is covered but not stored, as in a file copied from another card: use Raspberry Pi Imager's.
        if network.passphrase is not None and TAKEN_OVER.fullmatch(network.passphrase) and network.ssid not in stored_lines:
            network.passphrase = settings.other_passphrases.get(network.ssid, network.passphrase)
    named_ssids = {network.ssid.encode().hex() for network in settings.wifi_networks}
    # While the file has a problem, stored networks that it does not name stay, with the lowest priority.
    kept_blocks = [re.sub(r"(?m)^\tpriority=\d+$", "\tpriority=0", block)
            for block, ssid in re.findall(r"(network=\{\n\tssid=([0-9a-f]+)\n.*?\n\}\n)", machine.read(WIFI) or "", re.DOTALL)
            if "wifi" in settings.in_doubt and ssid not in named_ssids]
    # wpa_supplicant prefers the highest priority in range, so the first network of the file gets it.
    blocks = [wpa_network(network, priority, stored_lines) for priority, network in zip(range(len(settings.wifi_networks), 0, -1), settings.wifi_networks, strict=True)]
    machine.write(WIFI, f"ctrl_interface=/run/wpa_supplicant\ncountry={settings.wifi_country}\n" + "".join(blocks + kept_blocks), 0o600)
    return [network.ssid for network, block in zip(settings.wifi_networks, blocks, strict=True) if not block]


def keep_claim_code(machine: Machine, settings: Settings) -> bool:
    """Stores the claim code beside the data, where the node reads it, and returns whether a code is stored."""
    if settings.claim_code and not TAKEN_OVER.fullmatch(settings.claim_code) and has_home(machine):
        machine.write(CLAIM_CODE, settings.claim_code + "\n", 0o640, group="rookery")
    return has_home(machine) and machine.read(CLAIM_CODE) is not None


def keep_phrase(machine: Machine, settings: Settings) -> bool | None:
    """Stores the phrase by which the node forms a cluster beside its data, readable by the node only, as the node requires. Returns whether a phrase is stored; None if none is set or there is no home."""
    if settings.cluster_phrase is None or not has_home(machine):
        return None
    if not TAKEN_OVER.fullmatch(settings.cluster_phrase):
        machine.write(PHRASE, settings.cluster_phrase + "\n", 0o600, user="rookery", group="rookery")
    return machine.read(PHRASE) is not None


def read_object(machine: Machine, file: str) -> dict | None:
    """The JSON object in a file; None if there is none."""
    try:
        value = json.loads(machine.read(file) or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def set_node(machine: Machine, settings: Settings) -> list[str]:
    """Writes the settings to the node's configuration beside its data, and removes entries that rookery.toml no longer sets. Entries from elsewhere, by hand or by Ansible, stay. Returns the problems, such as settings that such an entry overrides."""
    if not has_home(machine):
        return []
    if "cluster" not in settings.in_doubt and settings.cluster_phrase is None:
        # The phrase admits members, so it is deleted as soon as the file no longer has it.
        machine.path(PHRASE).unlink(missing_ok=True)
    is_forming = settings.cluster_expect is not None and machine.read(PHRASE) is not None
    redis = {key: value for key, value in (("listen", settings.redis_listen), ("database", settings.redis_database)) if value is not None}
    # Key in the node's configuration, name in rookery.toml, and value: None if it is not set.
    entries = (
        ("memory", "memory", settings.memory),
        ("peers", "cluster.seeds", ",".join(settings.cluster_seeds) or None),
        ("claimCodeFile", "cluster.claim-code", CLAIM_CODE if machine.read(CLAIM_CODE) is not None else None),
        ("redis", "redis.listen", redis if settings.redis_listen is not None else None),
        ("form", "cluster.expect", {"expect": settings.cluster_expect, "phraseFile": PHRASE} if is_forming else None),
    )
    before, problems = read_object(machine, NODE), []
    if before is None and (invalid_text := machine.read(NODE)):
        machine.write(NODE + ".wrong", invalid_text, 0o640, group="rookery")
        problems.append(f"{NODE} is not a JSON object: it was moved to {NODE}.wrong, and the node starts with the default configuration. Correct it and move it back")
    node = dict(before) if before is not None else json.loads(machine.read("/usr/share/rookery/config.json") or "{}")
    set_by_us = read_object(machine, NODE_BY_US) or {}
    for key, name, value in entries:
        if key in node and node[key] not in (value, set_by_us.get(key)):
            set_by_us.pop(key, None)
            if value is not None:
                problems.append(f"{name}: {NODE} has another value, which was not set by this file and takes precedence. To use this file's value, remove \"{key}\" there")
        elif value is not None:
            node[key] = set_by_us[key] = value
        elif key in set_by_us and name.partition(".")[0] not in settings.in_doubt:
            node.pop(key, None)
            del set_by_us[key]
    # An unchanged configuration keeps its formatting.
    machine.write(NODE, machine.read(NODE) if node == before else json.dumps(node, indent=2) + "\n", 0o640, group="rookery")
    # After NODE: if a power cut comes between, the entry is recognised by its value at the next boot.
    if set_by_us or machine.path(NODE_BY_US).exists():
        machine.write(NODE_BY_US, json.dumps(set_by_us, indent=2) + "\n", 0o600)
    return problems


def closed_ports(machine: Machine) -> list[str]:
    """A sentence if the node serves Redis clients on other machines, and no rule of the firewall names their port. The node's configuration may have that also from Ansible."""
    redis = (read_object(machine, NODE) or {}).get("redis")
    host, _, port = str(redis.get("listen") if isinstance(redis, dict) else "").rpartition(":")
    try:
        if host == "" or ipaddress.ip_address(host.strip("[]")).is_loopback:
            return []
    except ValueError:
        # The node refuses such a configuration itself.
        return []
    rules = [machine.read(FIREWALL) or "", *(machine.read(f"{OWN_RULES}/{file.name}") or "" for file in sorted(machine.path(OWN_RULES).glob("*.nft")))]
    if any(re.search(rf"\b{re.escape(port)}\b", text) for text in rules):
        return []
    return [f"redis.listen: the firewall lets no other machine reach port {port}. To let in those of near networks, log in, and write the line `add rule inet rookery input tcp dport {port} jump from_near` "
            f"to the file {OWN_RULES}/redis.nft; then run: sudo systemctl reload nftables"]


def set_power(machine: Machine, settings: Settings) -> list[str]:
    """Sets the processor's frequency governor and returns the problems."""
    governor = POWER_GOVERNORS[settings.power_profile]
    if settings.power_profile != "balanced":
        # Waits for udev to load the frequency driver, only for these profiles: ordering the whole unit after it would delay the network of every machine.
        machine.run("systemctl", "start", "systemd-udev-trigger.service", fails=True)
        machine.run("udevadm", "settle", "--timeout=10", fails=True)
    policies = sorted(machine.path("/sys/devices/system/cpu/cpufreq").glob("policy*"))
    if not policies and settings.power_profile != "balanced":
        return [f"power: the kernel cannot change this processor's frequency, so '{settings.power_profile}' has no effect"]
    for policy in policies:
        try:
            # The kernel loads a missing governor when it is written here; scaling_available_governors lists only the loaded ones.
            (policy / "scaling_governor").write_text(governor, encoding="ascii")
        except OSError as error:
            return [f"power: the kernel refuses the governor '{governor}' ({error.strerror}); the processor keeps its governor"]
    return []


def disk_space(machine: Machine) -> str:
    """The size of the node's disk in words."""
    if not has_home(machine):
        return "none"
    # The total, not the free space: the report is rewritten to the card whenever its text changes.
    return f"{shutil.disk_usage(machine.path('/var/lib/rookery')).total / 1e9:.1f} GB"
