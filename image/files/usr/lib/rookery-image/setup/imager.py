"""Reads the files that Raspberry Pi Imager writes to the boot partition in cloud-init's format: `user-data` (host name, account, keys, time zone) and `network-config` (a wireless network).

Only the keys that Imager 1 and 2 write are supported (https://github.com/raspberrypi/rpi-imager, doc/os_customisation_formats.md, `cloudinit`); cloud-init is not installed. rookery.toml takes precedence."""

import re

from settings import Settings, WifiNetwork, is_account, is_country, is_host_name, is_passphrase, is_ssh_key, is_ssid, is_time_zone, quoted_stars, shorten, take_country_of_zone

USER_DATA, NETWORK_CONFIG, META_DATA = "user-data", "network-config", "meta-data"


# For each key of Imager: None if it is used, or if Rookery does the same anyway; otherwise the reason for the owner why it is not used. A pair has the values that
# need no reason, and the reason for other values. image/tests/imager_keys.txt lists the keys of Imager's versions.
NO_PASSWORD = "passwords are not used to log in or for sudo, because SSH accepts keys only"
KEYBOARD = "the screen's keyboard has the American layout"
PINS = "set interfaces of the board in config.txt, by the lines of Raspberry Pi's documentation, such as dtparam=i2c_arm=on"
COMMANDS = "commands are not run and files are not written, because the system cannot be changed; Rookery enables SSH and the radio itself"
OF_USER = {
    "name": None, "ssh_authorized_keys": None, "groups": None, "lock_passwd": None,
    "passwd": NO_PASSWORD,
    "shell": ({"/bin/bash"}, "the account's shell is /bin/bash"),
    "sudo": ({"ALL=(ALL) NOPASSWD:ALL"}, "the account may use sudo without a password, because it has none"),
}
KEYS = {
    "user-data": {
        "hostname": None, "timezone": None, "ssh_authorized_keys": None, "user": None, "users": None, "manage_etc_hosts": None,
        **{f"{users}.{key}": reason for users in ("user", "users") for key, reason in OF_USER.items()},
        "packages": ({"avahi-daemon"}, "no packages are installed, because the system cannot be changed"),
        "apt": None, "apt.conf": None, "apt.preserve_sources_list": None,
        "enable_ssh": ({"true"}, "SSH is always enabled"),
        "ssh_pwauth": ({"false"}, NO_PASSWORD),
        "keyboard": None, "keyboard.model": KEYBOARD, "keyboard.layout": ({"us"}, KEYBOARD),
        "rpi": None, "rpi.enable_usb_gadget": PINS, "rpi.interfaces": None, "rpi.interfaces.i2c": PINS, "rpi.interfaces.spi": PINS, "rpi.interfaces.onewire": PINS,
        "rpi.interfaces.serial": PINS, "rpi.interfaces.serial.console": PINS, "rpi.interfaces.serial.hardware": PINS,
        "runcmd": COMMANDS, "write_files": COMMANDS,
    },
    "network-config": {
        "version": None, "wifis": None, "wifis.*": None, "wifis.*.access-points": None, "wifis.*.access-points.*": None,
        "wifis.*.access-points.*.hidden": ({"true", "false"}, "it must be true or false"),
        "wifis.*.access-points.*.password": None, "wifis.*.regulatory-domain": None, "wifis.*.optional": None, "wifis.renderer": None,
        "wifis.*.access-points.*.auth": None,
        "wifis.*.access-points.*.auth.key-management": ({"none", "psk"}, "only open networks and passphrases (WPA2, WPA3 personal) are supported"),
        "wifis.*.dhcp4": ({"true"}, "addresses come from DHCP"),
        "ethernets": None, "ethernets.*": None, "ethernets.*.dhcp4": ({"true"}, "addresses come from DHCP"), "ethernets.*.dhcp6": ({"true"}, "addresses come from DHCP"),
        "ethernets.*.optional": None,
    },
    "meta-data": {"instance-id": None, "instance_id": None, "dsmode": None, "local-hostname": "the host name is read from user-data and rookery.toml"},
}
# How YAML 1.1, which cloud-init reads, writes the two values.
BOOLEANS = {word: "true" for word in ("true", "yes", "on", "y")} | {word: "false" for word in ("false", "no", "off", "n")}
NO_SETTINGS = "settings are expected there, KEY: VALUE"
# Imager's files have four levels. A deeper one is a file of another program.
MAX_DEPTH = 12


class Text(str):
    """A scalar as it is written in the file, so that `0123` stays a text, with its line."""

    line: int


class Mapping(dict):
    """A mapping, with the line of each key. `hidden` has the key and line of each value that a later line of the same key hides."""

    def __init__(self):
        super().__init__()
        self.lines: dict[str, int] = {}
        self.hidden: list[tuple[str, int]] = []


def value_of(node, depth: int = 0):
    """Converts a YAML node to Mapping, list and Text; None for an empty value. Raises ValueError if it is nested too deeply."""
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    match node.id:
        case "mapping":
            mapping_value = Mapping()
            for key, value in node.value:
                name = network_name(str(key.value))
                if name in mapping_value:
                    mapping_value.hidden.append((name, mapping_value.lines[name]))
                mapping_value[name] = value_of(value, depth + 1)
                mapping_value.lines[name] = key.start_mark.line + 1
            return mapping_value
        case "sequence":
            return [value_of(value, depth + 1) for value in node.value]
    if node.style is None and node.value in ("", "~", "null"):
        return None
    # An escape such as "\ud800" is no character, and could not be written to the log.
    text = Text(node.value.encode(errors="replace").decode())
    text.line = node.start_mark.line + 1
    return text


def mapping(text: str | None, name: str, problems: list[str]) -> dict | None:
    """The YAML mapping in `text`, empty if `text` is None; None if it is not valid YAML."""
    if text is None:
        return Mapping()
    # Imported here, because the import takes a third of the setup's time and most cards have no such file.
    import yaml  # pylint: disable=import-outside-toplevel
    # Version 0.1.0 covered values without quotes by stars alone, which YAML takes for an alias.
    text = re.sub(r"(?<=: )\*{2,}(?=[ \t\r]*(?:[\n,}#]|$))", lambda stars: quoted_stars(stars[0]), text)
    try:
        # Aliases may stand for more values than fit into the memory. Imager writes no aliases.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise ValueError
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        document = Mapping() if node is None else value_of(node)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # The message names the position but not the text, which may be a passphrase.
        mark = getattr(error, "problem_mark", None)
        problems.append(f"{name} is not valid YAML{f' (line {mark.line + 1}, column {mark.column + 1})' if mark else ''} and was ignored.")
        return None
    if not isinstance(document, Mapping):
        problems.append(f"{name} contains no settings (KEY: VALUE) and was ignored.")
        return None
    return document


def mapping_at(value, *keys) -> dict:
    """The mapping at the path `keys`, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def unused(document: Mapping, file: str, path: str = "") -> list[str]:
    """The keys of a document that are not used, each with its line and the reason. An unknown key is named without the keys below it."""
    notes = [f"{file}: '{key}' (line {line}) is not used, because line {document.lines[key]} sets it again" for key, line in document.hidden]
    for key, value in document.items():
        place = f"{path}.{key}" if path else key
        # Names of interfaces and networks are the owner's.
        known = KEYS[file].get(place, KEYS[file].get(f"{path}.*", ""))
        pattern = place if place in KEYS[file] else f"{path}.*"
        values = value if isinstance(value, list) else [value]
        reason = known[1] if isinstance(known, tuple) and any(as_boolean(one) not in known[0] for one in values) else known if isinstance(known, str) else None
        if reason is not None:
            notes.append(f"{file}: '{key}' (line {document.lines[key]}) is not used: {reason or 'Rookery does not know this setting'}")
        elif known is None:
            for inner in values:
                if isinstance(inner, Mapping):
                    notes += unused(inner, file, pattern)
                elif inner is not None and any(place_below.startswith(pattern + ".") for place_below in KEYS[file]):
                    # The value may be a passphrase, and everyone in the network reads the notes.
                    notes.append(f"{file}: a value of '{key}' (line {document.lines[key]}) is not used: {NO_SETTINGS}")
    return notes


def as_boolean(value) -> str:
    """`true` or `false` for a value that YAML 1.1 reads so; any other value as text."""
    return BOOLEANS.get(str(value).lower(), str(value))


def as_list(value) -> list:
    """The value if it is a list; otherwise a list of the value alone, empty for None."""
    return value if isinstance(value, list) else [] if value is None else [value]


def network_name(text: str) -> str:
    """Decodes a network name. Imager 2 writes its UTF-8 bytes as \\xHH, which YAML reads as one character each."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text.encode(errors="replace").decode()


def text_at(document: dict, key: str, file: str, problems: list[str]) -> Text | None:
    """The text of a key; None, and a problem, if it has another shape."""
    value = document.get(key)
    if value is not None and not isinstance(value, Text):
        problems.append(f"{file}: '{key}' (line {document.lines[key]}) must be a text")
        return None
    return value


def read_user_data(document: dict, settings: Settings, zones, problems: list[str]) -> None:
    """Stores the values of `user-data` in `settings`, and appends their problems."""
    name = text_at(document, "hostname", USER_DATA, problems)
    if name is not None:
        if is_host_name(name):
            settings.hostname = str(name)
        else:
            problems.append(f"{USER_DATA}: '{name}' (line {name.line}) cannot be a host name: use 1 to 63 letters, digits and hyphens, not only digits")
    zone = text_at(document, "timezone", USER_DATA, problems)
    if zone is not None:
        if is_time_zone(zone, zones):
            settings.timezone = str(zone)
        else:
            problems.append(f"{USER_DATA}: '{zone}' (line {zone.line}) is not a time zone of this machine: use a name such as Europe/Berlin, or Etc/UTC")
    # Imager 1 writes a list of users, Imager 2 a single one.
    users = [user for user in [*as_list(document.get("user")), *as_list(document.get("users"))] if isinstance(user, dict)]
    keys = [key for place in [*users, document] for key in as_list(place.get("ssh_authorized_keys")) if isinstance(key, Text)]
    settings.ssh_keys = [key.strip() for key in keys if is_ssh_key(key.strip())]
    for key in keys:
        if not is_ssh_key(key.strip()):
            problems.append(f"{USER_DATA}: an SSH key (line {key.line}) is invalid or incomplete")
    if users and settings.ssh_keys:
        name = str(users[0].get("name"))
        if is_account(name):
            settings.ssh_user = name
        else:
            problems.append(f"{USER_DATA}: '{name}' cannot be an account here; '{settings.ssh_user}' is used instead")
    if len(users) > 1:
        problems.append(f"{USER_DATA}: only the first account is created; its SSH keys are those of all")
    if users and not settings.ssh_keys:
        problems.append(f"{USER_DATA}: Raspberry Pi Imager was told to create an account with a password, which Rookery does not support. Choose SSH with public keys there, or set keys in rookery.toml")


def country_of_commands(document: dict, zones) -> str | None:
    """The wireless country in a command of `user-data`. Imager 1 writes it there, and not into `network-config`."""
    matches = [re.search(r"\bREGDOMAIN=([A-Z]{2})\b", command) for command in as_list(document.get("runcmd")) if isinstance(command, Text)]
    return next((match[1] for match in matches if match is not None and is_country(match[1], zones)), None)


def read_network_config(document: dict, settings: Settings, zones, country_of_toml: str | None, problems: list[str]) -> None:
    """Stores the values of `network-config` in `settings`, and appends their problems. `country_of_toml` is that of rookery.toml, for a file without one."""
    for interface in mapping_at(document, "wifis").values():
        if not isinstance(interface, dict):
            continue
        country = text_at(interface, "regulatory-domain", NETWORK_CONFIG, problems)
        for ssid, access_point in mapping_at(interface, "access-points").items():
            settings_of_network = mapping_at(access_point)
            passphrase = text_at(settings_of_network, "password", NETWORK_CONFIG, problems)
            has_other_shape = any(value is not None and not isinstance(value, dict) for value in (access_point, settings_of_network.get("auth")))
            if passphrase is None and (has_other_shape or settings_of_network.get("password") is not None or mapping_at(settings_of_network, "auth").get("key-management", "none") != "none"):
                # The network is left out, and not used as an open one.
                problems.append(f"{NETWORK_CONFIG}: the network '{ssid}' has no passphrase that can be used")
                continue
            if passphrase is not None and not is_passphrase(passphrase):
                problems.append(f"{NETWORK_CONFIG}: the passphrase of '{ssid}' (line {passphrase.line}) must be 8 to 63 characters of the ASCII keyboard, or 64 hexadecimal digits")
                continue
            if not is_ssid(ssid):
                # wpa_supplicant refuses a file with a longer name, and joins any open network by an empty one.
                problems.append(f"{NETWORK_CONFIG}: '{shorten(ssid)}' cannot be the name of a wireless network, which has 1 to 32 bytes without control characters")
                continue
            settings.wifi_networks.append(WifiNetwork(ssid, None if passphrase is None else str(passphrase), as_boolean(settings_of_network.get("hidden")) == "true"))
        if country is not None and is_country(country, zones):
            settings.wifi_country = str(country)
        elif country is not None:
            problems.append(f"{NETWORK_CONFIG}: '{country}' (line {country.line}) is not a country's two capital letters of ISO 3166, as in DE, or GB for the United Kingdom")
    if take_country_of_zone(settings, zones) and country_of_toml is not None:
        settings.wifi_country, settings.is_country_of_zone = country_of_toml, True
    elif take_country_of_zone(settings, zones):
        problems.append(f"{NETWORK_CONFIG}: the wireless country is missing, so the radio stays off; choose it in Raspberry Pi Imager")
        settings.wifi_networks = []


def parse(user_data: str | None, network_config: str | None, zones, country_of_toml: str | None = None) -> tuple[Settings, list[str], list[str]]:
    """The settings of both files, their problems, and what they contain that is not used. `country_of_toml` is the wireless country by rookery.toml."""
    settings, problems = Settings(), []
    user_document, network_document = mapping(user_data, USER_DATA, problems), mapping(network_config, NETWORK_CONFIG, problems)
    read_user_data(user_document or Mapping(), settings, zones, problems)
    settings.wifi_country = country_of_commands(user_document or Mapping(), zones)
    problems_before = len(problems)
    network = mapping_at(network_document, "network") or network_document or Mapping()
    read_network_config(network, settings, zones, country_of_toml, problems)
    if network_document is None or len(problems) > problems_before:
        settings.in_doubt.add("wifi")
    notes = unused(user_document or Mapping(), USER_DATA) + unused(network, NETWORK_CONFIG)
    if network is not network_document:
        notes += [f"{NETWORK_CONFIG}: '{key}' (line {line}) is not used: all settings are read from 'network' there" for key, line in (network_document or Mapping()).lines.items() if key != "network"]
    return settings, problems, notes


def notes_of_meta_data(text: str | None) -> list[str]:
    """What `meta-data` contains that is not used."""
    problems: list[str] = []
    return unused(mapping(text, META_DATA, problems) or Mapping(), META_DATA) + problems


def overridden(settings: Settings, fallback: Settings) -> list[str]:
    """Sentences about settings that Imager's files have too, with another value than rookery.toml."""
    values = (("host name", settings.hostname, fallback.hostname), ("time zone", settings.timezone, fallback.timezone), ("wireless country", settings.wifi_country, fallback.wifi_country))
    notes = [f"Raspberry Pi Imager's {name} '{theirs}' is not used: rookery.toml sets '{ours}'" for name, ours, theirs in values if ours is not None and theirs is not None and ours != theirs]
    if settings.ssh_keys and fallback.ssh_keys and (settings.ssh_user, set(settings.ssh_keys)) != (fallback.ssh_user, set(fallback.ssh_keys)):
        notes.append("Raspberry Pi Imager's account and SSH keys are not used: rookery.toml sets others")
    return notes


def fill_in(settings: Settings, fallback: Settings) -> Settings:
    """Fills what `settings` leave out from `fallback` and returns them. An account and its keys are taken together. Networks are merged, those of `settings` first."""
    settings.in_doubt |= fallback.in_doubt
    settings.hostname = settings.hostname or fallback.hostname
    settings.timezone = settings.timezone or fallback.timezone
    if not settings.ssh_keys:
        settings.ssh_user, settings.ssh_keys = fallback.ssh_user, fallback.ssh_keys
    # A country that was given comes before one that follows from the time zone.
    if settings.wifi_country is None or (settings.is_country_of_zone and fallback.wifi_country is not None and not fallback.is_country_of_zone):
        settings.wifi_country, settings.is_country_of_zone = fallback.wifi_country, fallback.is_country_of_zone
    known = {network.ssid for network in settings.wifi_networks}
    settings.wifi_networks = settings.wifi_networks + [network for network in fallback.wifi_networks if network.ssid not in known]
    settings.other_passphrases = {network.ssid: network.passphrase for network in fallback.wifi_networks if network.ssid in known and network.passphrase is not None}
    return settings
