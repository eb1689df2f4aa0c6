"""Before the network: host name, keys, networks and the node's configuration, by rookery.toml. A wrong line costs what it says, never the start."""

import traceback

import drive
import imager
import system
from boot_partition import SETTINGS, BootPartition
from settings import LASTING, TAKEN_OVER, Settings, parse

REPORT = "/run/rookery-image/setup.txt"
# Of interest to rookery-found.service alone, which has nothing to do at most starts.
HAS_TOKEN = "/run/rookery-image/has-token"


# Where a secret stands that the machine keeps.
SECRETS = ((SETTINGS, "passphrase"), (SETTINGS, "phrase"), (SETTINGS, "claim-code"), (imager.NETWORK_CONFIG, "password"))


def read_files(machine: system.Machine, boot: BootPartition) -> tuple[Settings, list[str]]:
    """What all files of the boot partition say, and what is wrong with them."""
    zones = machine.path("/usr/share/zoneinfo")
    problems, texts = [], {}
    for file in (SETTINGS, imager.USER_DATA, imager.NETWORK_CONFIG):
        text, trouble = boot.text(file)
        if text is not None:
            texts[file] = text
        if trouble is not None:
            problems.append(trouble)
    settings, wrong = parse(texts[SETTINGS], zones) if SETTINGS in texts else (Settings(in_doubt=set(LASTING)), [])
    by_imager, wrong_there = imager.parse(texts.get(imager.USER_DATA), texts.get(imager.NETWORK_CONFIG), zones)
    if not texts and not problems:
        problems.append(f"There is no {SETTINGS} on the boot partition: the machine was set up without one.")
    return imager.filled(settings, by_imager), problems + wrong + wrong_there


def set_up(machine: system.Machine, boot: BootPartition) -> str:
    """Does all that can be done and returns the report, a few lines that a person can read."""
    problems: list[str] = []
    # The secrets that the machine has now and keeps: these are covered, and no other.
    stored: set[str | None] = set()

    def attempt(what: str, action):
        # One thing that fails must not keep the others from being done: a machine without a screen is reached over the network or not at all.
        try:
            return action()
        except drive.NoDrive as reason:
            problems.append(str(reason))
        except Exception as error:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            problems.append(f"{what} failed: {getattr(error, 'stderr', None) or error}".strip())
        return None

    settings, wrong = attempt("Reading the files of the boot partition", lambda: read_files(machine, boot)) or (Settings(in_doubt=set(LASTING)), [])
    problems += wrong + (attempt("Checking the settings", lambda: system.check(machine, settings)) or [])
    # Before all that lies beside the data.
    used = attempt("Mounting the node's drive", lambda: drive.use(machine, settings.storage_drive))
    name = attempt("Setting the host name", lambda: system.set_host_name(machine, settings)) or "?"
    attempt("Setting the time zone", lambda: system.set_time_zone(machine, settings))
    attempt("Making the SSH host keys", lambda: system.keep_host_keys(machine))
    attempt("Setting the account for SSH", lambda: system.set_account(machine, settings))
    unknown = attempt("Setting the wireless networks", lambda: system.set_wifi(machine, settings))
    if unknown is not None and system.keeps_changes(machine):
        stored |= {network.passphrase for network in settings.wifi_networks} | set(settings.other_passphrases.values())
    for ssid in unknown or []:
        problems.append(f"Wi-Fi: the passphrase of '{ssid}' is covered with * and this machine does not have it: write it again")
    has_claim_code = attempt("Keeping the claim code", lambda: system.keep_claim_code(machine, settings))
    if has_claim_code:
        stored.add(settings.claim_code)
    elif settings.claim_code:
        problems.append("cluster.claim-code: this machine does not have it yet: write it again if it is covered with *")
    kept = attempt("Keeping the cluster's phrase", lambda: system.keep_phrase(machine, settings))
    if kept:
        stored.add(settings.cluster_phrase)
    elif kept is False:
        problems.append("cluster.phrase: this machine does not have the phrase and forms no cluster: it is covered with *; write it again")
    problems += attempt("Writing the node's configuration", lambda: system.set_node(machine, settings)) or []
    if settings.cluster_token and not TAKEN_OVER.fullmatch(settings.cluster_token):
        attempt("Keeping in mind that there is a token", lambda: machine.write(HAS_TOKEN, ""))
    problems += attempt("Setting the power profile", lambda: system.set_power(machine, settings)) or []
    if not system.keeps_changes(machine):
        problems.append((machine.read("/run/rookery-image/data.log") or "The data partition is not used.").strip())
    for file, secret in SECRETS:
        attempt(f"Covering the secrets in {file}", lambda file=file, secret=secret: boot.cover(secret, stored, file))
    # A password is used for nothing here.
    attempt(f"Covering the passwords in {imager.USER_DATA}", lambda: boot.cover("passwd", None, imager.USER_DATA))
    return report(machine, settings, name, used, problems)


def report(machine: system.Machine, settings: Settings, name: str, used: str | None, problems: list[str]) -> str:
    if settings.ssh_keys:
        login = f"ssh {settings.ssh_user}@{name}.local"
    else:
        login = "nobody may: no SSH key is given ([ssh] keys in rookery.toml)"
    lines = [
        f"Machine:  {name}.local",
        f"Log in:   {login}",
        f"Wi-Fi:    {', '.join(network.ssid for network in settings.wifi_networks) or ('as before' if machine.read(system.WIFI) else 'none')}",
        f"Data:     {system.disk_space(machine)}{f' on {used}' if used else ''}",
        "",
    ]
    lines += ["What is wrong:"] + [f"- {problem}" for problem in problems] if problems else ["rookery.toml: nothing is wrong with it."]
    return "\n".join(lines) + "\n"
