"""Parses rookery.toml and describes its problems in sentences for the person who edited it."""

import base64
import binascii
import difflib
import ipaddress
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

# The value of a secret that the machine has stored and then covered with stars.
TAKEN_OVER = re.compile(r"\*+")
# Settings whose effect outlasts a boot: the machine stores them, or creates the node by them once and for all.
LASTING = ("memory", "wifi", "storage", "cluster", "redis")
# The least that a node accepts (MemorySize.cs).
MIN_MEMORY_BYTES = 96 << 20
POWER_PROFILES = ("quiet", "balanced", "fast")
# Ansible's own host and groups, and the group of our inventory.
NAMES_OF_ANSIBLE = ("localhost", "all", "ungrouped", "rookery")
# Accounts and groups of Debian's base-passwd. A machine also checks its own lists, which image/check on a PC does not have.
NAMES_OF_DEBIAN = frozenset(
    "root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc nobody nogroup adm tty disk kmem dialout fax voice cdrom floppy tape "
    "sudo audio dip operator src shadow utmp video sasl plugdev staff users rookery".split()
)
# The examples in rookery.toml and the docs, which are refused because they are public.
EXAMPLE_CLAIM_CODE, EXAMPLE_PHRASE = "pelican-orbit-lamp-7", "four words drawn by chance"
SSH_KEY_TYPES = (
    "ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
    "sk-ssh-ed25519@openssh.com", "sk-ecdsa-sha2-nistp256@openssh.com",
)


@dataclass
class WifiNetwork:
    """A wireless network. `passphrase` is None for an open one, and stars (TAKEN_OVER) once the machine has stored it."""

    ssid: str
    passphrase: str | None = None
    hidden: bool = False


@dataclass
class Settings:
    """The settings of the file; None or empty if the file does not set them."""

    hostname: str | None = None
    timezone: str | None = None
    ssh_user: str = "admin"
    ssh_keys: list[str] = field(default_factory=list)
    wifi_country: str | None = None
    # Whether the country follows from the time zone, because none was given.
    is_country_of_zone: bool = False
    wifi_networks: list[WifiNetwork] = field(default_factory=list)
    # For networks in both rookery.toml and Raspberry Pi Imager's file: the passphrase in the latter, by SSID.
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
    redis_listen: str | None = None
    redis_database: str | None = None
    # The entries of LASTING with a problem in the file. What the file lacks there may be misspelt, so the machine keeps what it stored before.
    in_doubt: set[str] = field(default_factory=set)


class Reader:
    """Reads the known keys of one table, and records the problems of their values and the unknown keys."""

    def __init__(self, table: dict, name: str, problems: list[str], in_doubt: set[str], lines: dict[str, int]):
        self._table, self._name, self._problems, self._in_doubt, self._lines, self._known = table, name, problems, in_doubt, lines, []

    def problem(self, key: str, sentence: str) -> None:
        """Records a problem of a key, with its line if the file has the key; its top-level key is then in doubt."""
        line = self._lines.get(self._name + key)
        self._problems.append(f"{self._name}{key}: {sentence}{f' (line {line})' if line is not None else ''}")
        self._in_doubt.add((self._name + key).partition(".")[0])

    def take(self, key: str, kind: type, shape: str):
        """Returns the value of `key`, or None if it is missing or not of `kind`; `shape` describes a valid value in the problem."""
        self._known.append(key)
        value = self._table.get(key)
        if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
            return value
        self.problem(key, f"this must be {shape}")
        return None

    def text(self, key: str, shape: str, is_valid=lambda value: True):
        """Returns the text of `key`, or None if it is missing or invalid."""
        value = self.take(key, str, shape)
        if value is not None and not is_valid(value):
            self.problem(key, f"'{value}' must be {shape}")
            return None
        return value

    def texts(self, key: str, shape: str, is_valid) -> list[str]:
        """Returns the valid texts of a list."""
        values = self.take(key, list, f"a list, [\"…\", \"…\"], of {shape}") or []
        valid = [value for value in values if isinstance(value, str) and is_valid(value)]
        for value in values:
            if value not in valid:
                self.problem(key, f"'{shorten(str(value))}' must be {shape}")
        return valid

    def table(self, key: str) -> "Reader":
        """Returns a reader of the section `key`, empty if it is missing or invalid."""
        value = self.take(key, dict, f"a section, [{self._name}{key}]") or {}
        return Reader(value, f"{self._name}{key}.", self._problems, self._in_doubt, self._lines)

    def tables(self, key: str) -> list["Reader"]:
        """Returns a reader of each section [[key]]."""
        values = self.take(key, list, f"sections, [[{self._name}{key}]]") or []
        if not all(isinstance(value, dict) for value in values):
            self.problem(key, f"this must be sections, [[{self._name}{key}]]")
            return []
        return [Reader(value, f"{self._name}{key}, number {number}: ", self._problems, self._in_doubt, self._lines) for number, value in enumerate(values, 1)]

    def finish(self) -> bool:
        """Records the unknown keys and returns whether there were any."""
        unknown = [key for key in self._table if key not in self._known]
        for key in unknown:
            near = difflib.get_close_matches(key, self._known, n=1)
            self.problem(key, f"there is no such setting{f'; did you mean {near[0]}?' if near else ', only ' + ', '.join(self._known)}")
        if unknown:
            # An unknown key may be any setting, misspelt or in the wrong section.
            self._in_doubt.update(LASTING)
        return bool(unknown)


def lines_of(text: str) -> dict[str, int]:
    """The line of each key and section of the file, by their names in problems, such as `ssh.user` and `wifi.networks, number 2: ssid`."""
    lines: dict[str, int] = {}
    prefix, counts = "", {}
    for number, line in enumerate(text.splitlines(), 1):
        if many := re.match(r"\s*\[\[\s*([A-Za-z0-9_.-]+)\s*\]\]", line):
            counts[many[1]] = counts.get(many[1], 0) + 1
            prefix = f"{many[1]}, number {counts[many[1]]}: "
            lines.setdefault(many[1], number)
            # A problem of a key that the section lacks.
            lines.setdefault(prefix + "ssid", number)
        elif section := re.match(r"\s*\[\s*([A-Za-z0-9_.-]+)\s*\]", line):
            prefix = section[1] + "."
            lines.setdefault(section[1], number)
        elif key := re.match(r"""\s*([A-Za-z0-9_.-]+|"[^"]*"|'[^']*')\s*=""", line):
            lines[prefix + key[1].strip("\"'")] = number
    return lines


def shorten(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def is_host_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", name) is not None and not name.isdigit()


def is_name_of_ansible(name: str) -> bool:
    return name.lower() in NAMES_OF_ANSIBLE


def problem_of_ansible(name: str) -> str:
    """The problem of a reserved host name. image/check cannot know whether a machine already has the name and keeps it."""
    return f"hostname: '{name}' has a special meaning in Ansible, so no playbook would include this machine: use another name."


def is_account(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9-]{0,30}", name) is not None and name not in NAMES_OF_DEBIAN


def is_ssh_key(line: str) -> bool:
    parts = line.split()
    if len(parts) < 2 or parts[0] not in SSH_KEY_TYPES or "\n" in line:
        return False
    try:
        # The encoded key repeats its type (RFC 4253, section 6.6), so this detects a key that was not copied whole.
        return parts[0].encode() in base64.b64decode(parts[1], validate=True)[:64]
    except (binascii.Error, ValueError):
        return False


def is_time_zone(name: str, zones: Path) -> bool:
    # A PC may have no time zone files; then only the form is checked.
    return re.fullmatch(r"[A-Za-z0-9_+/-]+", name) is not None and ((zones / name).is_file() or not zones.is_dir())


def is_country(code: str, zones: Path) -> bool:
    """Whether ISO 3166 lists the code. For an unknown one the kernel silently limits the radio or leaves it off."""
    try:
        table = (zones / "iso3166.tab").read_text(encoding="utf-8")
    except OSError:
        # A PC may have no table of countries; then only the form is checked.
        return re.fullmatch(r"[A-Z]{2}", code) is not None
    return any(line.startswith(code + "\t") for line in table.splitlines() if not line.startswith("#"))


def country_of_zone(zone: str | None, zones: Path) -> str | None:
    """The country of a time zone; None if it is unknown, as of UTC."""
    try:
        table = (zones / "zone.tab").read_text(encoding="utf-8")
    except OSError:
        return None
    columns = [line.split("\t") for line in table.splitlines() if not line.startswith("#")]
    return next((column[0] for column in columns if len(column) > 2 and column[2] == zone), None)


def take_country_of_zone(settings: Settings, zones: Path) -> bool:
    """Sets the wireless country from the time zone, if networks are set and no country is. Returns whether networks lack a country."""
    if settings.wifi_networks and settings.wifi_country is None:
        settings.wifi_country = country_of_zone(settings.timezone, zones)
        settings.is_country_of_zone = settings.wifi_country is not None
    return bool(settings.wifi_networks) and settings.wifi_country is None


def is_ssid(name: str) -> bool:
    # Control characters would break the lines of the log. Names of telephones have other blanks, which are not printable to Python.
    return 1 <= len(name.encode()) <= 32 and re.search(r"[\x00-\x1f\x7f]", name) is None


def is_passphrase(text: str) -> bool:
    return TAKEN_OVER.fullmatch(text) is not None or re.fullmatch(r"[ -~]{8,63}|[0-9A-Fa-f]{64}", text) is not None


def plain_code(text: str) -> str:
    """A claim code as the node compares it (ClaimCode.cs)."""
    return re.sub(r"[- \t]", "", text).upper()


def is_claim_code(text: str) -> bool:
    """Whether the node accepts the text as a claim code, or it is stars (TAKEN_OVER)."""
    plain = plain_code(text)
    is_strong = re.fullmatch(r"[0-9A-Z]{16,}", plain) is not None and len(set(plain)) >= 8 and plain != plain_code(EXAMPLE_CLAIM_CODE)
    return TAKEN_OVER.fullmatch(text) is not None or is_strong


def is_phrase(text: str) -> bool:
    """Whether the phrase is long and varied enough, or is stars (TAKEN_OVER)."""
    # The node trims it (FormingPhrase.cs).
    plain = text.strip()
    return TAKEN_OVER.fullmatch(text) is not None or len(plain) >= 16 and text.isprintable() and len(set(plain)) >= 8 and plain != EXAMPLE_PHRASE


def is_port(text: str) -> bool:
    return re.fullmatch("[0-9]{1,5}", text) is not None and 0 < int(text) < 65536


def is_peer(text: str) -> bool:
    """Whether the text is an address at which the node can reach a member: an IP address or a name in DNS, and a port. Names under .local have no resolver on the machine, and single words mean something only in some networks."""
    host, _, port = text.rpartition(":")
    if not is_port(port):
        return False
    try:
        address = ipaddress.ip_address(host[1:-1] if host.startswith("[") and host.endswith("]") else host)
        # An IPv6 address needs its brackets.
        return (address.version == 6) == host.startswith("[")
    except ValueError:
        labels = host.removesuffix(".").lower().split(".")
        return len(labels) > 1 and labels[-1] != "local" and not labels[-1].isdigit() and all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", label) for label in labels)


def memory_bytes(text: str) -> int:
    """The number of bytes, 0 if the text is not a size."""
    size = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text)
    return int(size[1]) << {"": 0, "K": 10, "M": 20, "G": 30}[size[2]] if size is not None else 0


def is_listen_address(text: str) -> bool:
    """Whether the text is a port of this machine alone, or an IP address and a port (RedisConfiguration.cs)."""
    host, _, port = text.rpartition(":")
    if not is_port(port):
        return False
    try:
        return host == "" and ":" not in text or (ipaddress.ip_address(host.strip("[]")).version == 6) == (host.startswith("[") and host.endswith("]"))
    except ValueError:
        return False


def read_redis(redis: Reader, settings: Settings) -> None:
    settings.redis_listen = redis.text("listen", "a port such as \"6379\", or an address and a port such as \"[::]:6379\"", is_listen_address)
    settings.redis_database = redis.text("database", "a name of letters, digits, '_', '-' and '.'", lambda name: re.fullmatch(r"[A-Za-z0-9_-]([A-Za-z0-9_.-]{0,126}[A-Za-z0-9_-])?", name) is not None)
    if settings.redis_database is not None and settings.redis_listen is None and "redis" not in settings.in_doubt:
        redis.problem("database", "it has no use without redis.listen, the port for Redis clients")
    redis.finish()


def parse(text: str, zones: Path = Path("/usr/share/zoneinfo")) -> tuple[Settings, list[str]]:
    """The settings of `text`, and its problems. A setting with a problem counts as not set."""
    problems: list[str] = []
    try:
        # Editors on Windows may write a byte order mark and CRLF.
        document = tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    # A number of thousands of digits, and thousands of brackets, have errors of their own.
    except (ValueError, RecursionError) as error:
        return Settings(in_doubt=set(LASTING)), [f"The file is not valid TOML and was ignored: {error}. Text needs quotes, as in hostname = \"pi-1\"."]
    settings = Settings()
    top = Reader(document, "", problems, settings.in_doubt, lines_of(text))
    settings.hostname = top.text("hostname", "1 to 63 letters, digits and hyphens, not only digits, as in \"pi-1\"", is_host_name)
    settings.timezone = top.text("timezone", "a name such as \"Europe/Berlin\"", lambda name: is_time_zone(name, zones))
    settings.memory = top.text("memory", "a size such as \"256M\", at least \"96M\"", lambda size: memory_bytes(size) >= MIN_MEMORY_BYTES)
    settings.power_profile = top.text("power", "one of " + ", ".join(POWER_PROFILES), lambda name: name in POWER_PROFILES) or "balanced"
    storage = top.table("storage")
    settings.storage_drive = storage.text("drive", "\"any\", or the serial number of a drive", lambda name: re.fullmatch(r"[ -~]+", name) is not None)
    storage.finish()
    read_ssh(top.table("ssh"), settings)
    read_wifi(top.table("wifi"), settings, zones)
    read_cluster(top.table("cluster"), settings)
    read_redis(top.table("redis"), settings)
    top.finish()
    return settings, problems


def read_ssh(ssh: Reader, settings: Settings) -> None:
    settings.ssh_user = ssh.text("user", "a name of up to 31 small letters, digits and hyphens that is not a system account, as in \"admin\"", is_account) or "admin"
    settings.ssh_keys = ssh.texts("keys", "a whole line of an OpenSSH public key file (.pub), as in \"ssh-ed25519 AAAA… you@pc\"", is_ssh_key)
    ssh.finish()


def read_wifi(wifi: Reader, settings: Settings, zones: Path) -> None:
    settings.wifi_country = wifi.text("country", "a country's two capital letters of ISO 3166, as in \"DE\", or \"GB\" for the United Kingdom", lambda code: is_country(code, zones))
    for network in wifi.tables("networks"):
        ssid = network.text("ssid", "1 to 32 bytes without control characters", is_ssid)
        passphrase = network.take("passphrase", str, "text in quotes")
        hidden = network.take("hidden", bool, "true or false") or False
        has_unknown = network.finish()
        if passphrase is not None and not is_passphrase(passphrase):
            # The message must not contain the passphrase: any PC can read the log.
            network.problem("passphrase", "this must be 8 to 63 characters of the ASCII keyboard, or 64 hexadecimal digits")
        elif ssid is None:
            network.problem("ssid", "a network needs its name, as in ssid = \"home\"")
        elif passphrase is not None or not has_unknown:
            # With an unknown key the passphrase may be misspelt, so the network is not taken for an open one.
            settings.wifi_networks.append(WifiNetwork(ssid, passphrase, hidden))
    if take_country_of_zone(settings, zones):
        wifi.problem("country", "without it, and without a time zone of a country, the radio stays off, because the permitted channels depend on the country")
        settings.wifi_networks = []
    wifi.finish()


def read_cluster(cluster: Reader, settings: Settings) -> None:
    settings.cluster_name = cluster.text("name", "1 to 63 small letters, digits and hyphens", lambda name: re.fullmatch(r"[a-z0-9][a-z0-9-]{0,62}", name) is not None)
    settings.cluster_token = cluster.take("token", str, "text in quotes")
    if settings.cluster_token is not None and not (settings.cluster_token.startswith("rookery-join-1.") or TAKEN_OVER.fullmatch(settings.cluster_token)):
        cluster.problem("token", "this is not a join token; create one by `rookery cluster token create` on a member")
        settings.cluster_token = None
    settings.cluster_seeds = cluster.texts("seeds", "an IP address and port of a member, as in \"192.168.1.11:9443\" or \"[fd00::11]:9443\", or a name in DNS; names under .local are not resolved", is_peer)
    settings.claim_code = cluster.take("claim-code", str, "text in quotes")
    if settings.claim_code is not None and not is_claim_code(settings.claim_code):
        # The message must not contain the code, as with the passphrase.
        cluster.problem("claim-code", "this must have at least 16 letters and digits, at least 8 of them different, and not be the example's code; blanks and hyphens do not count")
        settings.claim_code = None
    read_forming(cluster, settings)
    cluster.finish()


def read_forming(cluster: Reader, settings: Settings) -> None:
    """Reads `expect` and `phrase`, which only work together."""
    expect = cluster.take("expect", int, "a number without quotes, as in expect = 3")
    phrase = cluster.take("phrase", str, "text in quotes")
    if expect is not None and not 2 <= expect <= 9:
        cluster.problem("expect", f"{expect} must be a number of nodes from 2 to 9")
        expect = None
    if phrase is not None and not is_phrase(phrase):
        # The message must not contain the phrase: any PC can read the log.
        cluster.problem("phrase", "this must be one line of at least 16 characters, at least 8 of them different, and not the example's phrase: a machine with the phrase becomes a member. Use four or more random words")
    elif phrase is not None and expect is not None:
        settings.cluster_expect, settings.cluster_phrase = expect, phrase
    elif expect is not None:
        cluster.problem("phrase", "without it no cluster is formed: all cards of the cluster need the same expect and phrase")
    elif phrase is not None and not TAKEN_OVER.fullmatch(phrase):
        cluster.problem("expect", "without it no cluster is formed: set the number of nodes, as in expect = 3")


def decoded(value: str) -> str | None:
    """Decodes a TOML or YAML value in quotes as written in the file, or returns None. Both formats encode the characters of a passphrase alike."""
    try:
        return tomllib.loads("value = " + value.replace("\r\n", "\n"))["value"]
    except tomllib.TOMLDecodeError:
        return None


def without_secrets(text: str, name: str, stored: set[str] | None = None) -> str:
    """Replaces each byte of the values of `name` by a star: of the values in `stored`, or of all if it is None. The TOML or YAML text keeps its length, so that it can be written in place."""

    def cover(match: re.Match) -> str:
        value = match[2]
        if value[0] not in "\"'":
            secret = plain_value(value, stored)
            return match[1] + (quoted_stars(secret) if stored is None or secret in stored else secret) + value[len(secret):]
        if stored is not None and decoded(value) not in stored:
            return match[0]
        quote = re.match(r"\"{3}|'{3}|[\"']|", value)[0]
        inner = value[len(quote):len(value) - len(quote)]
        return match[1] + quote + re.sub(r"[^\n]", lambda letter: "*" * len(letter[0].encode()), inner) + quote

    # YAML allows values without quotes.
    return re.sub(rf"""(\b{name}["']?[ \t]*[=:][ \t]*)(\"{{3}}(?:[^\\]|\\.)*?\"{{3}}|'{{3}}.*?'{{3}}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|(?<=:[ \t])[^\s"'#|>&!{{\[][^\n]*)""", cover, text, flags=re.DOTALL)


def plain_value(line: str, stored: set[str] | None) -> str:
    """The YAML value without quotes at the beginning of `line`: one in `stored`, which may contain blanks, or else the text up to a blank or the end of a section in braces."""
    matches = [secret for secret in stored or () if secret and re.match(re.escape(secret) + r"[ \t]*(?:$|[\r,}]|[ \t]#)", line)]
    return max(matches, key=len) if matches else re.match(r"[^\s,}]*", line)[0]


def quoted_stars(secret: str) -> str:
    """A YAML value of stars with as many bytes as a value without quotes. It has quotes, because an asterisk at its beginning would name an alias, and the file would be invalid."""
    size = len(secret.encode())
    return f"'{'*' * (size - 2)}'" if size >= 2 else "0" * size
