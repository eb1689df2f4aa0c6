"""`rookery-slot`: the two root slots of the image, and updates by bundle."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import release
import state
from state import Refusal, SlotState

DISK = Path("/run/rookery-image/disk")
IMAGE = Path(release.FILE)
EXIT_FAILED, EXIT_USAGE = 1, 78
HEALTH_WAIT_SECONDS = 600
# A text file of metrics that node_exporter and the node read.
METRICS = Path("/var/lib/prometheus/node-exporter/rookery_slot.prom")


def disk() -> str:
    """The path of the boot disk's device."""
    try:
        return DISK.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Refusal("This machine does not run the Rookery image, so it has no slots.") from None


def running_slot() -> str:
    match = re.search(r"\brookery\.slot=([ab])\b", Path("/proc/cmdline").read_text(encoding="ascii"))
    if not match:
        raise Refusal("The kernel command line does not name the running slot (rookery.slot=).")
    return match[1]


def other(slot: str) -> str:
    return "b" if slot == "a" else "a"


def partition(slot: str) -> str:
    """The path of a slot's partition."""
    device = disk()
    return f"{device}{'p' if device[-1].isdigit() else ''}{2 if slot == 'a' else 3}"


def architecture() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def running_release() -> release.Release:
    try:
        return release.parse(IMAGE.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"The running release is unknown: {IMAGE} cannot be read ({error}). Restart the machine; the file is part of its image.") from error


def release_in_running_slot() -> str | None:
    try:
        return running_release().name
    except Refusal:
        return None


def release_in(slot: str) -> str | None:
    """The release in a slot that does not run; None if the slot contains no complete system."""
    found = subprocess.run(["debugfs", "-R", f"cat {release.FILE}", partition(slot)], capture_output=True, text=True, errors="replace", check=False)
    try:
        return release.parse(found.stdout).name
    except Refusal:
        return None


def write_metrics(fell_back: bool = False) -> None:
    """Writes the metrics: the running release and the age of its packages, whether the running slot is on trial, and whether the machine fell back from a slot on trial."""
    try:
        running = running_release()
    except Refusal as unknown:
        # A commit must not fail because of that.
        print(unknown, file=sys.stderr)
        running = release.Release("unknown", None)
    text = (
        "# HELP rookery_image_info The release of the image that runs.\n# TYPE rookery_image_info gauge\n"
        f'rookery_image_info{{release="{running.name}"}} 1\n'
    )
    if running.locked_at is not None:
        text += (
            "# HELP rookery_image_packages_timestamp_seconds When the versions of the running image's packages were chosen, since 1970 UTC.\n"
            f"# TYPE rookery_image_packages_timestamp_seconds gauge\nrookery_image_packages_timestamp_seconds {running.locked_at}\n"
        )
    text += (
        "# HELP rookery_slot_on_trial 1 while the running system is an update that is not committed yet.\n# TYPE rookery_slot_on_trial gauge\n"
        f"rookery_slot_on_trial {int(state.read(disk()).trial == running_slot())}\n"
        "# HELP rookery_slot_fell_back 1 when an update did not come up and the previous system runs.\n# TYPE rookery_slot_fell_back gauge\n"
        f"rookery_slot_fell_back {int(fell_back)}\n"
    )
    try:
        METRICS.parent.mkdir(parents=True, exist_ok=True)
        new_file = METRICS.with_suffix(".part")
        new_file.write_text(text, encoding="ascii")
        new_file.chmod(0o644)
        new_file.replace(METRICS)
    except OSError as error:
        # Only an alert depends on this file, so the command goes on.
        print(f"{METRICS} was not written: {error}", file=sys.stderr)


def status(arguments: argparse.Namespace) -> None:
    stored, running = state.read(disk()), running_slot()
    releases = {running: release_in_running_slot(), other(running): release_in(other(running))}
    if arguments.json:
        print(json.dumps({"Running": running, "Default": stored.slot, "Trial": stored.trial, "TriesLeft": stored.tries, "Releases": releases}))
        return
    print(f"Slot {running} runs; slot {stored.slot} is started by default.")
    for slot in sorted(releases):
        print(f"Slot {slot}: {releases[slot] or 'unknown release' if slot == running else releases[slot] or 'no complete system'}")
    if stored.trial == running:
        print(f"Slot {running} is on trial: if it is not committed, slot {stored.slot} is started after {stored.tries} more starts.")
    elif stored.trial is not None and stored.tries > 0:
        print(f"Slot {stored.trial} is tried at the next start.")
    elif stored.trial is not None:
        print(f"Slot {stored.trial} was on trial and did not come up, so the previous slot runs.")


def install(arguments: argparse.Namespace) -> None:
    # pylint: disable=import-outside-toplevel
    import bundle
    import caller
    import keys

    stored, running = state.read(disk()), running_slot()
    if stored.trial == running:
        raise Refusal(f"Slot {running} is on trial, so the other slot must be kept to fall back to. Run `rookery-slot commit` first, or restart.")
    archive, manifest = bundle.open_checked(arguments.bundle, keys.trusted())
    if manifest.architecture != architecture():
        raise Refusal(f"{arguments.bundle} is for {manifest.architecture}, and this machine is {architecture()}.")
    present = running_release().name
    if release.is_older(manifest.release, present) and not arguments.downgrade:
        raise Refusal(
            f"{arguments.bundle} contains release {manifest.release}, which is older than {present}, which runs. An older release has known security faults, and may be unable to "
            "read the node's data. It was not installed. To install it nevertheless: rookery-slot install --downgrade FILE"
        )
    caller.require_return(partition(running), os.getpid())
    # Before the slot, so that no later step can leave a revoked key trusted.
    keys.revoke(manifest.revoked)
    target = other(running)
    # No start may choose the target slot before it is complete.
    if stored.trial is not None or stored.slot != running:
        state.write(disk(), SlotState(running))
    bundle.write_slot(archive, manifest, arguments.bundle, partition(target), show_progress)
    merge_etc(partition(running), partition(target))
    state.write(disk(), SlotState(running, target, state.TRIES))
    print(f"Release {manifest.release} is in slot {target} and is tried at the next start. If it does not come up, slot {running} is started again.")


def merge_etc(present_partition: str, new_partition: str) -> None:
    """Merges the machine's changes to /etc with a new release, and lists what they hide of it."""
    import etc  # pylint: disable=import-outside-toplevel

    with etc.slots(present_partition, new_partition) as (present, new):
        if problem := present.problem or new.problem:
            print(f"The /etc of the two slots could not be compared: {problem}.")
            return
        found = etc.hidden(present, new)
        notes = etc.merge_accounts(new)
        etc.write_drop(found)
    print(etc.describe(found) + "".join(f"{note}\n" for note in notes), end="")


def list_etc(_: argparse.Namespace) -> None:
    """Lists the files of the running slot that the machine's changes to /etc hide."""
    import etc  # pylint: disable=import-outside-toplevel

    running = running_slot()
    with etc.slots(partition(other(running)), partition(running)) as (previous, new):
        if not new.is_complete:
            raise Refusal(f"The /etc of slot {running} cannot be read from {partition(running)}: {new.problem}.")
        found = etc.hidden(previous if previous.is_complete else new, new)
    print(etc.describe(found), end="")


def show_progress(done_bytes: int, total_bytes: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done_bytes * 100 // max(total_bytes, 1)} %", end="\n" if done_bytes >= total_bytes else "", file=sys.stderr, flush=True)


def commit(_: argparse.Namespace) -> None:
    stored, running = state.read(disk()), running_slot()
    if stored.trial is None and stored.slot == running:
        print(f"Slot {running} is already the default.")
        return
    state.write(disk(), SlotState(running))
    write_metrics()
    print(f"Slot {running} is now the default.")


def rollback(_: argparse.Namespace) -> None:
    stored, running = state.read(disk()), running_slot()
    target = stored.slot if stored.trial == running else other(running)
    with open(partition(target), "rb") as device:
        device.seek(1024 + 56)
        # The magic number of ext4 (s_magic). A slot that is empty or incomplete does not have it.
        if device.read(2) != b"\x53\xef":
            raise Refusal(f"Slot {target} holds no complete system to roll back to.")
    if stored.trial == running:
        state.write(disk(), SlotState(target))
        print(f"Slot {target} is now the default and runs after the next start.")
        return
    # The running slot stays the default, because it is known to start; the other one may be an update that did not.
    state.write(disk(), SlotState(running, target, state.TRIES))
    print(f"Slot {target} is tried at the next start. If it does not come up, slot {running} is started again.")


def judge(_: argparse.Namespace) -> None:
    """Runs at each boot: commits a slot on trial once its node serves, or restarts the machine if it does not within HEALTH_WAIT_SECONDS."""
    stored, running = state.read(disk()), running_slot()
    # A slot that is installed but not tried yet has all its tries left.
    write_metrics(fell_back=stored.trial not in (None, running) and stored.tries < state.TRIES)
    if stored.trial is None or (stored.trial != running and stored.tries == state.TRIES):
        return
    if stored.trial != running:
        # Tries are left, so U-Boot skipped the slot because it could not load its kernel.
        print(f"Slot {stored.trial} {f'did not come up in {state.TRIES} starts' if stored.tries == 0 else 'cannot be loaded'}; slot {running} stays the default.")
        state.write(disk(), SlotState(running))
        return
    # Imported here, because `judge` runs at every boot and seldom gets here.
    import health  # pylint: disable=import-outside-toplevel

    deadline = time.monotonic() + HEALTH_WAIT_SECONDS
    while time.monotonic() < deadline:
        if health.is_healthy():
            try:
                # Lists the files again, because the previous release may have had no such list, and the owner may have changed files since.
                list_etc(_)
            except (Refusal, OSError, subprocess.SubprocessError, ValueError) as error:
                # A commit must not fail because of that.
                print(error, file=sys.stderr)
            commit(_)
            return
        time.sleep(2)
    print(f"Slot {running} is on trial and its node did not serve within {HEALTH_WAIT_SECONDS} seconds: the machine restarts.")
    subprocess.run(["systemctl", "reboot"], check=True)


def overdue(_: argparse.Namespace) -> None:
    """Runs long after boot: restarts the machine if the running slot is still on trial, because then `judge` hangs or never ran."""
    stored, running = state.read(disk()), running_slot()
    if stored.trial == running:
        print(f"Slot {running} is on trial and was not judged: the machine restarts.", flush=True)
        # --force, because a normal reboot would wait for the unit that hangs.
        subprocess.run(["systemctl", "reboot", "--force"], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="rookery-slot", description="The two root slots of this machine, and updates by bundle.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("status", help="which slot runs, which is the default, which is on trial")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=status)
    command = commands.add_parser("install", help="verify an update bundle and write it to the other slot, which is tried at the next start")
    command.add_argument("bundle", type=Path)
    command.add_argument("--downgrade", action="store_true", help="also if its release is older than the running one")
    command.set_defaults(run=install)
    commands.add_parser("commit", help="make the running slot the default").set_defaults(run=commit)
    commands.add_parser("rollback", help="try the other slot at the next start; if the running slot is on trial, end the trial").set_defaults(run=rollback)
    commands.add_parser("etc", help="list the files of the running slot that this machine's changes to /etc hide").set_defaults(run=list_etc)
    commands.add_parser("judge", help="commit the running slot on trial if its node serves, or restart (runs at every start)").set_defaults(run=judge)
    commands.add_parser("overdue", help="restart if the running slot is still on trial (runs long after a start)").set_defaults(run=overdue)
    arguments = parser.parse_args()
    try:
        if os.geteuid() != 0:
            raise Refusal("rookery-slot needs root: sudo rookery-slot …")
        arguments.run(arguments)
        return 0
    except (Refusal, OSError) as refusal:
        print(refusal, file=sys.stderr)
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(main())
