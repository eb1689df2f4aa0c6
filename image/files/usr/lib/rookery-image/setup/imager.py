"""Reads the files that Raspberry Pi Imager writes to the boot partition in cloud-init's format: `user-data` (host name, account, keys, time zone) and `network-config` (a wireless network).

Only the keys that Imager 1 and 2 write are supported (https://github.com/raspberrypi/rpi-imager, doc/os_customisation_formats.md, `cloudinit`); cloud-init is not installed. rookery.toml takes precedence."""

import re

from settings import Settings, WifiNetwork, is_account, is_host_name, is_passphrase, is_ssh_key, is_time_zone

USER_DATA, NETWORK_CONFIG = "user-data", "network-config"


def mapping(text: str | None, name: str, problems: list[str]) -> dict | None:
    """The YAML mapping in `text`, empty if `text` is None; None if it is not valid YAML."""
    if text is None:
        return {}
    # Imported here, because the import takes a third of the setup's time and most cards have no such file.
    import yaml  # pylint: disable=import-outside-toplevel
    try:
        document = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError) as error:
        # The message names the position but not the text, which may be a passphrase.
        mark = getattr(error, "problem_mark", None)
        problems.append(f"{name} is not valid YAML{f' (line {mark.line + 1}, column {mark.column + 1})' if mark else ''} and was ignored.")
        return None
    return document if isinstance(document, dict) else {}


def mapping_at(value, *keys) -> dict:
    """The mapping at the path `keys`, or an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_or_empty(value) -> list:
    """The value if it is a list, otherwise an empty list."""
    return value if isinstance(value, list) else []


def network_name(text: str) -> str:
    """Decodes a network name. Imager 2 writes its UTF-8 bytes as \\xHH, which YAML reads as one character each."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def read_user_data(document: dict, settings: Settings, zones, problems: list[str]) -> None:
    """Stores the values of `user-data` in `settings`, and appends their problems."""
    name = document.get("hostname")
    if isinstance(name, str):
        if is_host_name(name):
            settings.hostname = name
        else:
            problems.append(f"{USER_DATA}: '{name}' cannot be a host name")
    zone = document.get("timezone")
    if isinstance(zone, str) and is_time_zone(zone, zones):
        settings.timezone = zone
    # Imager 1 writes a list of users, Imager 2 a single one.
    users = [user for user in [document.get("user"), *list_or_empty(document.get("users"))] if isinstance(user, dict)]
    keys = [key.strip() for place in [*users, document] for key in list_or_empty(place.get("ssh_authorized_keys")) if isinstance(key, str)]
    settings.ssh_keys = [key for key in keys if is_ssh_key(key)]
    if len(settings.ssh_keys) < len(keys):
        problems.append(f"{USER_DATA}: an SSH key is invalid or incomplete")
    if users and settings.ssh_keys:
        name = str(users[0].get("name"))
        if is_account(name):
            settings.ssh_user = name
        else:
            problems.append(f"{USER_DATA}: '{name}' cannot be an account here; '{settings.ssh_user}' is used instead")
    if users and not settings.ssh_keys:
        problems.append(f"{USER_DATA}: Raspberry Pi Imager was told to create an account with a password, which Rookery does not support. Choose SSH with public keys there, or set keys in rookery.toml")


def read_network_config(document: dict, settings: Settings, problems: list[str]) -> None:
    """Stores the values of `network-config` in `settings`, and appends their problems."""
    for interface in mapping_at(mapping_at(document, "network") or document, "wifis").values():
        country = interface.get("regulatory-domain") if isinstance(interface, dict) else None
        for ssid, access_point in mapping_at(interface, "access-points").items():
            passphrase = mapping_at(access_point).get("password")
            if passphrase is not None and not is_passphrase(str(passphrase)):
                problems.append(f"{NETWORK_CONFIG}: the passphrase of '{ssid}' must be 8 to 63 characters of the ASCII keyboard, or 64 hexadecimal digits")
                continue
            settings.wifi_networks.append(WifiNetwork(network_name(str(ssid)), None if passphrase is None else str(passphrase), mapping_at(access_point).get("hidden") is True))
        if isinstance(country, str) and re.fullmatch(r"[A-Z]{2}", country):
            settings.wifi_country = country
    if settings.wifi_networks and settings.wifi_country is None:
        problems.append(f"{NETWORK_CONFIG}: the wireless country is missing, so the radio stays off; choose it in Raspberry Pi Imager")
        settings.wifi_networks = []


def parse(user_data: str | None, network_config: str | None, zones) -> tuple[Settings, list[str]]:
    """The settings of both files, and their problems."""
    settings, problems = Settings(), []
    documents = mapping(user_data, USER_DATA, problems), mapping(network_config, NETWORK_CONFIG, problems)
    read_user_data(documents[0] or {}, settings, zones, problems)
    problems_before = len(problems)
    read_network_config(documents[1] or {}, settings, problems)
    if documents[1] is None or len(problems) > problems_before:
        settings.in_doubt.add("wifi")
    return settings, problems


def fill_in(settings: Settings, fallback: Settings) -> Settings:
    """Fills what `settings` leave out from `fallback` and returns them. An account and its keys are taken together. Networks are merged, those of `settings` first."""
    settings.in_doubt |= fallback.in_doubt
    settings.hostname = settings.hostname or fallback.hostname
    settings.timezone = settings.timezone or fallback.timezone
    if not settings.ssh_keys:
        settings.ssh_user, settings.ssh_keys = fallback.ssh_user, fallback.ssh_keys
    settings.wifi_country = settings.wifi_country or fallback.wifi_country
    known = {network.ssid for network in settings.wifi_networks}
    settings.wifi_networks = settings.wifi_networks + [network for network in fallback.wifi_networks if network.ssid not in known]
    settings.other_passphrases = {network.ssid: network.passphrase for network in fallback.wifi_networks if network.ssid in known and network.passphrase is not None}
    return settings
