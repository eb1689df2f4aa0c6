"""rookery.toml: what may stand in it, and what is wrong with one, in sentences for whoever edited it on a PC."""

import base64
import binascii
import difflib
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

TAKEN_OVER = re.compile(r"\*+")
# What the machine keeps of what these say, or what is made by them once and for all.
LASTING = ("memory", "wifi", "storage", "cluster")
# A node refuses to start with less (MemorySize.cs).
LEAST_MEMORY_BYTES = 96 << 20
POWER_PROFILES = ("quiet", "balanced", "fast")
# Its own groups and hosts, and the inventory's group.
NAMES_OF_ANSIBLE = ("localhost", "all", "ungrouped", "rookery")
# Accounts and groups that are in every Debian (its base-passwd). The machine asks its own lists, too, which a PC has not.
NAMES_OF_DEBIAN = frozenset(
    "root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc nobody nogroup adm tty disk kmem dialout fax voice cdrom floppy tape "
    "sudo audio dip operator src shadow utmp video sasl plugdev staff users rookery".split()
)
# What rookery.toml and the docs show: everybody knows them.
EXAMPLE_CLAIM_CODE, EXAMPLE_PHRASE = "pelican-orbit-lamp-7", "four words drawn by chance"
SSH_KEY_TYPES = (
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)


@dataclass
class WifiNetwork:
    """A wireless network. `passphrase` is None for an open one, and TAKEN_OVER's stars once the machine has it."""

    ssid: str
    passphrase: str | None = None
    hidden: bool = False


@dataclass
class Settings:
    """What the file says; None or empty is what it does not say."""

    hostname: str | None = None
    timezone: str | None = None
    ssh_user: str = "admin"
    ssh_keys: list[str] = field(default_factory=list)
    wifi_country: str | None = None
    wifi_networks: list[WifiNetwork] = field(default_factory=list)
    # Of networks that both files name, what the other one says.
    other_passphrases: dict[str, str] = field(default_factory=dict)
    cluster_name: str | None = None
    cluster_token: str | None = None
    claim_code: str | None = None
    cluster_seeds: list[str] = field(default_factory=list)
    cluster_expect: int | None = None
    cluster_phrase: str | None = None
    storage_drive: str | None = None
    power_profile: str = "balanced"
    memory: str | None = None
    # Of LASTING: what has a problem, so that what it does not say may have been meant to be there.
    in_doubt: set[str] = field(default_factory=set)


class Reader:
    """Takes known keys out of one table and notes what is wrong with each and what is left."""

    def __init__(self, table: dict, name: str, problems: list[str], in_doubt: set[str]):
        self._table, self._name, self._problems, self._in_doubt, self._known = table, name, problems, in_doubt, []

    def problem(self, key: str, sentence: str) -> None:
        self._problems.append(f"{self._name}{key}: {sentence}")
        self._in_doubt.add((self._name + key).partition(".")[0])

    def take(self, key: str, kind: type, shape: str):
        """The value of `key`, or None when it is missing or no `kind`; `shape` says how it should look."""
        self._known.append(key)
        value = self._table.get(key)
        if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
            return value
        self.problem(key, f"this must be {shape}")
        return None

    def text(self, key: str, shape: str, holds=lambda value: True):
        value = self.take(key, str, shape)
        if value is not None and not holds(value):
            self.problem(key, f"'{value}' must be {shape}")
            return None
        return value

    def texts(self, key: str, shape: str, holds) -> list[str]:
        values = self.take(key, list, f"a list, [\"…\", \"…\"], of {shape}") or []
        good = [value for value in values if isinstance(value, str) and holds(value)]
        for value in values:
            if value not in good:
                self.problem(key, f"'{shorten(str(value))}' must be {shape}")
        return good

    def table(self, key: str) -> "Reader":
        value = self.take(key, dict, f"a section, [{self._name}{key}]") or {}
        return Reader(value, f"{self._name}{key}.", self._problems, self._in_doubt)

    def tables(self, key: str) -> list["Reader"]:
        values = self.take(key, list, f"sections, [[{self._name}{key}]]") or []
        if not all(isinstance(value, dict) for value in values):
            self.problem(key, f"this must be sections, [[{self._name}{key}]]")
            return []
        return [Reader(value, f"{self._name}{key}, number {number}: ", self._problems, self._in_doubt) for number, value in enumerate(values, 1)]

    def finish(self) -> bool:
        """Notes what is left, and whether there was anything."""
        unknown = [key for key in self._table if key not in self._known]
        for key in unknown:
            near = difflib.get_close_matches(key, self._known, n=1)
            self.problem(key, f"there is no such setting{f'; did you mean {near[0]}?' if near else ', only ' + ', '.join(self._known)}")
        if unknown:
            # It may be any setting, misspelt or below the wrong section.
            self._in_doubt.update(LASTING)
        return bool(unknown)


def shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def is_host_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", name) is not None and not name.isdigit()


def is_name_of_ansible(name: str) -> bool:
    return name.lower() in NAMES_OF_ANSIBLE


def problem_of_ansible(name: str) -> str:
    """Only a machine knows whether it has the name already, and keeps it then."""
    return f"hostname: Ansible means something else by '{name}', and a machine that is called so is in no playbook: take another name."


def is_account(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9-]{0,30}", name) is not None and name not in NAMES_OF_DEBIAN


def is_ssh_key(line: str) -> bool:
    parts = line.split()
    if len(parts) < 2 or parts[0] not in SSH_KEY_TYPES or "\n" in line:
        return False
    try:
        # The key repeats its type inside (RFC 4253, section 6.6), which shows one that was cut while it was copied.
        return parts[0].encode() in base64.b64decode(parts[1], validate=True)[:64]
    except (binascii.Error, ValueError):
        return False


def is_time_zone(name: str, zones: Path) -> bool:
    # A PC that has none of them: the shape must do.
    return re.fullmatch(r"[A-Za-z0-9_+/-]+", name) is not None and ((zones / name).is_file() or not zones.is_dir())


def is_country(code: str, zones: Path) -> bool:
    """One of ISO 3166: of another the kernel leaves the radio to the rules that all countries share, or off, without a word."""
    try:
        table = (zones / "iso3166.tab").read_text(encoding="utf-8")
    except OSError:
        # A PC that has no table of them: the shape must do.
        return re.fullmatch(r"[A-Z]{2}", code) is not None
    return any(line.startswith(code + "\t") for line in table.splitlines() if not line.startswith("#"))


def is_passphrase(text: str) -> bool:
    return TAKEN_OVER.fullmatch(text) is not None or re.fullmatch(r"[ -~]{8,63}|[0-9A-Fa-f]{64}", text) is not None


def plain_code(text: str) -> str:
    """A claim code as the node compares it (ClaimCode.cs)."""
    return re.sub(r"[- \t]", "", text).upper()


def is_claim_code(text: str) -> bool:
    """What the node takes for one, or TAKEN_OVER's stars."""
    plain = plain_code(text)
    is_strong = re.fullmatch(r"[0-9A-Z]{16,}", plain) is not None and len(set(plain)) >= 8 and plain != plain_code(EXAMPLE_CLAIM_CODE)
    return TAKEN_OVER.fullmatch(text) is not None or is_strong


def is_phrase(text: str) -> bool:
    """Something that nobody guesses, as far as its looks tell, or TAKEN_OVER's stars."""
    # The node trims it (FormingPhrase.cs).
    plain = text.strip()
    return TAKEN_OVER.fullmatch(text) is not None or len(plain) >= 16 and text.isprintable() and len(set(plain)) >= 8 and plain != EXAMPLE_PHRASE


def is_peer(text: str) -> bool:
    host, _, port = text.rpartition(":")
    return port.isdigit() and 0 < int(port) < 65536 and re.fullmatch(r"[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]", host) is not None


def memory_bytes(text: str) -> int:
    """0 of what is no size."""
    size = re.fullmatch(r"([0-9]+)([KMG]?)", text)
    return int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2]] if size is not None else 0


def parse(text: str, zones: Path = Path("/usr/share/zoneinfo")) -> tuple[Settings, list[str]]:
    """The settings of `text`, and what is wrong with it: a setting with a problem counts as not said."""
    problems: list[str] = []
    try:
        # A byte order mark and CRLF are what editors of Windows leave.
        document = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        return Settings(in_doubt=set(LASTING)), [f"The file is no TOML: {error}. Text stands in quotes, as in hostname = \"pi-1\". Nothing in it was used."]
    settings = Settings()
    top = Reader(document, "", problems, settings.in_doubt)
    settings.hostname = top.text("hostname", "1 to 63 letters, digits and hyphens, not only digits, as in \"pi-1\"", is_host_name)
    settings.timezone = top.text("timezone", "a name such as \"Europe/Berlin\"", lambda name: is_time_zone(name, zones))
    settings.memory = top.text("memory", "a size such as \"256M\", at least \"96M\"", lambda size: memory_bytes(size) >= LEAST_MEMORY_BYTES)
    settings.power_profile = top.text("power", "one of " + ", ".join(POWER_PROFILES), lambda name: name in POWER_PROFILES) or "balanced"
    storage = top.table("storage")
    settings.storage_drive = storage.text("drive", "\"any\", or the serial number of a drive", lambda name: re.fullmatch(r"[ -~]+", name) is not None)
    storage.finish()
    read_ssh(top.table("ssh"), settings)
    read_wifi(top.table("wifi"), settings, zones)
    read_cluster(top.table("cluster"), settings)
    top.finish()
    return settings, problems


def read_ssh(ssh: Reader, settings: Settings) -> None:
    settings.ssh_user = ssh.text("user", "a name of up to 31 small letters, digits and hyphens that is no system's, as in \"admin\"", is_account) or "admin"
    settings.ssh_keys = ssh.texts("keys", "a whole line of an OpenSSH public key file (.pub), as in \"ssh-ed25519 AAAA… you@pc\"", is_ssh_key)
    ssh.finish()


def read_wifi(wifi: Reader, settings: Settings, zones: Path) -> None:
    settings.wifi_country = wifi.text("country", "a country's two capital letters of ISO 3166, as in \"DE\", or \"GB\" for the United Kingdom", lambda code: is_country(code, zones))
    for network in wifi.tables("networks"):
        ssid = network.text("ssid", "1 to 32 bytes", lambda name: 1 <= len(name.encode()) <= 32 and name.isprintable())
        passphrase = network.take("passphrase", str, "text in quotes")
        hidden = network.take("hidden", bool, "true or false") or False
        has_unknown = network.finish()
        if passphrase is not None and not is_passphrase(passphrase):
            # Never the passphrase itself: the log lies on a partition that everybody reads.
            network.problem("passphrase", "this must be 8 to 63 characters of the ASCII keyboard, or 64 hexadecimal digits")
        elif ssid is None:
            network.problem("ssid", "a network needs its name, as in ssid = \"home\"")
        elif passphrase is not None or not has_unknown:
            # What is misspelt may be the passphrase, and then the network is no open one.
            settings.wifi_networks.append(WifiNetwork(ssid, passphrase, hidden))
    if settings.wifi_networks and settings.wifi_country is None:
        wifi.problem("country", "without it the radio stays off: which channels it may use is a law of the country it stands in")
        settings.wifi_networks = []
    wifi.finish()


def read_cluster(cluster: Reader, settings: Settings) -> None:
    settings.cluster_name = cluster.text("name", "1 to 63 small letters, digits and hyphens", lambda name: re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name) is not None)
    settings.cluster_token = cluster.take("token", str, "text in quotes")
    if settings.cluster_token is not None and not (settings.cluster_token.startswith("rookery-join-1.") or TAKEN_OVER.fullmatch(settings.cluster_token)):
        cluster.problem("token", "this is no join token; `rookery cluster token create` on a member makes one")
        settings.cluster_token = None
    settings.cluster_seeds = cluster.texts("seeds", "an address and port of a member, as in \"192.168.1.11:9443\"", is_peer)
    settings.claim_code = cluster.take("claim-code", str, "text in quotes")
    if settings.claim_code is not None and not is_claim_code(settings.claim_code):
        # Never the code itself, as with the passphrase.
        cluster.problem("claim-code", "this must hold at least 16 letters and digits, 8 of them different; blanks and hyphens between them do not count, nor does the code that the example shows")
        settings.claim_code = None
    read_forming(cluster, settings)
    cluster.finish()


def read_forming(cluster: Reader, settings: Settings) -> None:
    """Both or none: a cluster forms itself by a number and a phrase."""
    expect = cluster.take("expect", int, "a number without quotes, as in expect = 3")
    phrase = cluster.take("phrase", str, "text in quotes")
    if expect is not None and not 2 <= expect <= 9:
        cluster.problem("expect", f"{expect} must be a number of nodes from 2 to 9")
        expect = None
    if phrase is not None and not is_phrase(phrase):
        # Never the phrase itself: the log lies on a partition that everybody reads.
        cluster.problem("phrase", "this must be one line of 16 characters at least, 8 of them different, and not the phrase that the example shows: whoever guesses it becomes a member. Take four words or more, drawn by chance")
    elif phrase is not None and expect is not None:
        settings.cluster_expect, settings.cluster_phrase = expect, phrase
    elif expect is not None:
        cluster.problem("phrase", "without it no cluster is formed: cards that are to form one share a number, expect, and a phrase")
    elif phrase is not None and not TAKEN_OVER.fullmatch(phrase):
        cluster.problem("expect", "without it no cluster is formed: it says how many nodes there are to be, as in expect = 3")


def said_by(value: str) -> str | None:
    """What a value of TOML or YAML says as it stands in the file; the two agree about what may be in a passphrase."""
    if value[0] not in "\"'":
        return value
    try:
        return tomllib.loads("value = " + value.replace("\r\n", "\n"))["value"]
    except tomllib.TOMLDecodeError:
        return None


def without_secrets(text: str, name: str, stored: set[str] | None = None) -> str:
    """The same text, TOML or YAML, as many bytes long, with a star for each byte of the values of `name` that are among `stored`, or of all: written over the old one in place it leaves no copy beside it."""

    def cover(match: re.Match) -> str:
        value = match[2]
        if stored is not None and said_by(value) not in stored:
            return match[0]
        quote = re.match(r"\"{3}|'{3}|[\"']|", value)[0]
        inner = value[len(quote):len(value) - len(quote)]
        return match[1] + quote + re.sub(r"[^\n]", lambda letter: "*" * len(letter[0].encode()), inner) + quote

    # A value of YAML may stand without quotes.
    return re.sub(rf"""(\b{name}["']?[ \t]*[=:][ \t]*)(\"{{3}}(?:[^\\]|\\.)*?\"{{3}}|'{{3}}.*?'{{3}}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<=:[ \t])[^\s"'#][^\s#]*)""", cover, text, flags=re.DOTALL)
