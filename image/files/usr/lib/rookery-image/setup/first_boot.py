"""Before the network: host name, keys, networks and the node's configuration, by rookery.toml. A wrong line costs what it says, never the start."""

import traceback

import system
from boot_partition import BootPartition
from settings import Settings, parse

REPORT = "/run/rookery-image/setup.txt"


def set_up(machine: system.Machine, boot: BootPartition) -> str:
    """Does all that can be done and returns the report, a few lines that a person can read."""
    text, trouble = boot.settings()
    settings, problems = parse(text, machine.path("/usr/share/zoneinfo")) if text is not None else (Settings(), [])
    if trouble is not None:
        problems.append(trouble)

    def attempt(what: str, action):
        # One thing that fails must not keep the others from being done: a machine without a screen is reached over the network or not at all.
        try:
            return action()
        except Exception as error:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            problems.append(f"{what} failed: {getattr(error, 'stderr', None) or error}".strip())
            return None

    name = attempt("Setting the host name", lambda: system.set_host_name(machine, settings)) or "?"
    attempt("Setting the time zone", lambda: system.set_time_zone(machine, settings))
    attempt("Making the SSH host keys", lambda: system.keep_host_keys(machine))
    attempt("Setting the account for SSH", lambda: system.set_account(machine, settings))
    for ssid in attempt("Setting the wireless networks", lambda: system.set_wifi(machine, settings)) or []:
        problems.append(f"wifi.networks: the passphrase of '{ssid}' is covered with * and this machine does not have it: write it again")
    attempt("Writing the node's configuration", lambda: system.set_node(machine, settings))
    attempt("Setting the power profile", lambda: system.set_power(machine, settings))
    if machine.path("/run/rookery-image/no-data").exists():
        problems.append((machine.read("/run/rookery-image/data.log") or "The data partition is not used.").strip())
    if text is not None:
        attempt("Covering the passphrases in rookery.toml", lambda: boot.cover("passphrase"))
    return report(machine, settings, name, problems)


def report(machine: system.Machine, settings: Settings, name: str, problems: list[str]) -> str:
    if settings.ssh_keys:
        login = f"ssh {settings.ssh_user}@{name}.local"
    else:
        login = "nobody may: no SSH key is given ([ssh] keys in rookery.toml)"
    lines = [
        f"Machine:  {name}.local",
        f"Log in:   {login}",
        f"Wi-Fi:    {', '.join(network.ssid for network in settings.wifi_networks) or 'none'}",
        f"Data:     {system.disk_space(machine)}",
        "",
    ]
    lines += ["What is wrong:"] + [f"- {problem}" for problem in problems] if problems else ["rookery.toml: nothing is wrong with it."]
    return "\n".join(lines) + "\n"
