"""Applies rookery.toml before the network starts: host name, keys, networks and the node's configuration. A wrong setting is skipped and reported; the machine always boots."""

import traceback

import cards
import drive
import imager
import system
from boot_partition import SETTINGS, BootPartition
from settings import LASTING, TAKEN_OVER, Settings, country_of_zone, parse

REPORT = "/run/rookery-image/setup.txt"
# What is wrong with the files of the boot partition and what they give that is not used, a sentence a line. The node shows it on its welcome page.
SETTINGS_NOTES = "/run/rookery-image/settings-notes.txt"
# Exists if rookery.toml holds a join token. rookery-found.service runs only then, or if there is no node yet.
HAS_TOKEN = "/run/rookery-image/has-token"


# The file and key of each secret that the machine stores and then covers in the file.
SECRETS = ((SETTINGS, "passphrase"), (SETTINGS, "phrase"), (SETTINGS, "claim-code"), (imager.NETWORK_CONFIG, "password"))


def read_files(machine: system.Machine, boot: BootPartition) -> tuple[Settings, list[str], list[str]]:
    """The merged settings of all files on the boot partition, their problems, and what was given but is not used."""
    zones = machine.path("/usr/share/zoneinfo")
    problems, texts = [], {}
    for file in (SETTINGS, imager.USER_DATA, imager.NETWORK_CONFIG):
        text, problem = boot.text(file)
        if text is not None:
            texts[file] = text
        if problem is not None:
            problems.append(problem)
    settings, toml_problems = parse(texts[SETTINGS], zones) if SETTINGS in texts else (Settings(in_doubt=set(LASTING)), [])
    by_imager, imager_problems, notes = imager.parse(
        texts.get(imager.USER_DATA), texts.get(imager.NETWORK_CONFIG), zones, settings.wifi_country or country_of_zone(settings.timezone, zones))
    if not texts and not problems:
        problems.append(f"There is no {SETTINGS} on the boot partition, so the machine uses the defaults.")
    notes += imager.notes_of_meta_data(boot.text(imager.META_DATA)[0]) + imager.overridden(settings, by_imager)
    return imager.fill_in(settings, by_imager), boot.unread() + problems + toml_problems + imager_problems, notes


def set_up(machine: system.Machine, boot: BootPartition) -> str:
    """Applies every setting that can be applied, and returns a report of a few lines for the owner."""
    problems: list[str] = []
    # The secrets that the machine has stored. Only these are covered in the files.
    stored: set[str | None] = set()

    def attempt(action_name: str, action):
        """Returns the result of the action; None, and a problem for the report, if it fails."""
        # A failure must not stop the other settings: a machine without a screen can only be reached over the network.
        try:
            return action()
        except drive.NoDrive as reason:
            problems.append(str(reason))
        except Exception as error:  # pylint: disable=broad-exception-caught
            traceback.print_exc()
            problems.append(f"{action_name} failed: {getattr(error, 'stderr', None) or error}".strip())
        return None

    settings, file_problems, notes = attempt("Reading the files of the boot partition", lambda: read_files(machine, boot)) or (Settings(in_doubt=set(LASTING)), [], [])
    settings_problems = file_problems + (attempt("Checking the settings", lambda: system.check(machine, settings)) or [])
    problems += settings_problems
    # The drive comes first, because the settings below store files beside the data.
    drive_name = attempt("Mounting the node's drive", lambda: drive.use(machine, settings.storage_drive))
    name = attempt("Setting the host name", lambda: system.set_host_name(machine, settings)) or "?"
    if settings.hostname is not None and settings.hostname != settings.hostname.lower():
        notes.append(f"hostname: the capitals of '{settings.hostname}' are not used: the machine is called {name}")
    attempt("Setting the time zone", lambda: system.set_time_zone(machine, settings))
    attempt("Making the SSH host keys", lambda: system.keep_host_keys(machine))
    # The host keys' directory is there now.
    attempt("Noting the board and the card", lambda: cards.notice_move(machine, drive_name))
    attempt("Setting the account for SSH", lambda: system.set_account(machine, settings))
    unstored_ssids = attempt("Setting the wireless networks", lambda: system.set_wifi(machine, settings))
    if unstored_ssids is not None and system.keeps_changes(machine):
        stored |= {network.passphrase for network in settings.wifi_networks} | set(settings.other_passphrases.values())
    for ssid in unstored_ssids or []:
        problems.append(f"Wi-Fi: the passphrase of '{ssid}' is covered with * but this machine has not stored it: write it again")
    has_claim_code = attempt("Keeping the claim code", lambda: system.keep_claim_code(machine, settings))
    if has_claim_code:
        stored.add(settings.claim_code)
    elif settings.claim_code:
        problems.append("cluster.claim-code: this machine has not stored a claim code: write it again if it is covered with *")
    has_phrase = attempt("Keeping the cluster's phrase", lambda: system.keep_phrase(machine, settings))
    if has_phrase:
        stored.add(settings.cluster_phrase)
    elif has_phrase is False:
        problems.append("cluster.phrase: the phrase is covered with * but this machine has not stored it, so it forms no cluster: write it again")
    problems += attempt("Writing the node's configuration", lambda: system.set_node(machine, settings)) or []
    problems += attempt("Looking at the firewall", lambda: system.closed_ports(machine)) or []
    if settings.cluster_token and not TAKEN_OVER.fullmatch(settings.cluster_token):
        attempt("Recording that there is a token", lambda: machine.write(HAS_TOKEN, ""))
    problems += attempt("Setting the power profile", lambda: system.set_power(machine, settings)) or []
    if not system.keeps_changes(machine):
        problems.append((machine.read("/run/rookery-image/data.log") or "The data partition is not in use.").strip())
    for file, secret in SECRETS:
        attempt(f"Covering the secrets in {file}", lambda file=file, secret=secret: boot.cover(secret, stored, file))
    # Rookery uses no passwords, so all of them are covered.
    attempt(f"Covering the passwords in {imager.USER_DATA}", lambda: boot.cover("passwd", None, imager.USER_DATA))
    # The other problems are about the machine. They may name disks and files, and everyone in the network reads the page.
    attempt("Writing the notes for the welcome page", lambda: machine.write(SETTINGS_NOTES, "".join(" ".join(note.split()) + "\n" for note in settings_problems + notes)))
    return report(machine, settings, name, drive_name, problems, notes)


def report(machine: system.Machine, settings: Settings, name: str, drive_name: str | None, problems: list[str], notes: list[str]) -> str:
    """The report for the owner. `drive_name` is None if the node is on the card. `notes` are what was given but is not used."""
    if settings.ssh_keys:
        login = f"ssh {settings.ssh_user}@{name}.local"
    else:
        login = "not possible: no SSH key is set ([ssh] keys in rookery.toml)"
    networks = ", ".join(network.ssid for network in settings.wifi_networks)
    if networks and settings.is_country_of_zone:
        networks += f" (country {settings.wifi_country}, by the time zone)"
    lines = [
        f"Machine:  {name}.local",
        f"Log in:   {login}",
        f"Wi-Fi:    {networks or ('as before' if machine.read(system.WIFI) else 'none')}",
        f"Data:     {system.disk_space(machine)}{f' on {drive_name}' if drive_name else ''}",
        "",
    ]
    lines += ["Problems:"] + [f"- {problem}" for problem in problems] if problems else ["rookery.toml: no problems found."]
    if notes:
        lines += ["", "Given, but not used:"] + [f"- {note}" for note in notes]
    return "\n".join(lines) + "\n"
