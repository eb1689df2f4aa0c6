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
import state
from state import Refusal, SlotState

DISK = Path("/run/rookery-image/disk")
KEY_DIRECTORIES = (Path("/usr/share/rookery/update-keys"), Path("/etc/rookery/update-keys"))
EXIT_FAILED, EXIT_USAGE = 1, 78
HEALTH_WAIT_SECONDS = 600
# Where node_exporter and the node read what is noted for Prometheus.
METRICS = Path("/var/lib/prometheus/node-exporter/rookery_slot.prom")


def disk() -> str:
    try:
        return DISK.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise Refusal("This machine was not started from an image of Rookery: it has no slots.") from None


def running_slot() -> str:
    found = re.search(r"\brookery\.slot=([ab])\b", Path("/proc/cmdline").read_text(encoding="ascii"))
    if not found:
        raise Refusal("The kernel was not told which slot it was started from.")
    return found[1]


def other(slot: str) -> str:
    return "b" if slot == "a" else "a"


def partition(slot: str) -> str:
    device = disk()
    return f"{device}{'p' if device[-1].isdigit() else ''}{2 if slot == 'a' else 3}"


def architecture() -> str:
    return subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True).stdout.strip()


def note(fell_back: bool = False) -> None:
    """Notes for Prometheus whether the slot that runs is on trial, and whether one was and did not come up."""
    text = (
        "# HELP rookery_slot_on_trial 1 while the system that runs is an update that was not committed yet.\n# TYPE rookery_slot_on_trial gauge\n"
        f"rookery_slot_on_trial {int(state.read(disk()).trial == running_slot())}\n"
        "# HELP rookery_slot_fell_back 1 when an update did not come up, and the system before it runs.\n# TYPE rookery_slot_fell_back gauge\n"
        f"rookery_slot_fell_back {int(fell_back)}\n"
    )
    try:
        METRICS.parent.mkdir(parents=True, exist_ok=True)
        part = METRICS.with_suffix(".part")
        part.write_text(text, encoding="ascii")
        part.chmod(0o644)
        part.replace(METRICS)
    except OSError as refused:
        # The slots are what matters; only an alert is missing.
        print(f"{METRICS} was not written: {refused}", file=sys.stderr)


def status(arguments: argparse.Namespace) -> None:
    now, running = state.read(disk()), running_slot()
    if arguments.json:
        print(json.dumps({"Running": running, "Default": now.slot, "Trial": now.trial, "TriesLeft": now.tries}))
        return
    print(f"Slot {running} runs; slot {now.slot} is started by default.")
    if now.trial == running:
        print(f"Slot {running} is on trial: unless it is committed, slot {now.slot} comes back after {now.tries} more starts.")
    elif now.trial is not None and now.tries > 0:
        print(f"Slot {now.trial} is tried at the next start.")
    elif now.trial is not None:
        print(f"Slot {now.trial} was on trial and did not come up: this is the one before it.")


def install(arguments: argparse.Namespace) -> None:
    import bundle  # pylint: disable=import-outside-toplevel

    now, running = state.read(disk()), running_slot()
    if now.trial == running:
        raise Refusal(f"Slot {running} is itself on trial: the only good slot is the other one. `rookery-slot commit` first, or restart.")
    keys = sorted(key for directory in KEY_DIRECTORIES for key in directory.glob("*.pem"))
    archive, manifest = bundle.open_checked(arguments.bundle, keys)
    if manifest.architecture != architecture():
        raise Refusal(f"{arguments.bundle} is for {manifest.architecture}, and this machine is {architecture()}.")
    target = other(running)
    # Until the slot is whole nothing starts it.
    if now.trial is not None or now.slot != running:
        state.write(disk(), SlotState(running))
    bundle.write_slot(archive, manifest, arguments.bundle, partition(target), show_progress)
    state.write(disk(), SlotState(running, target, state.TRIES))
    print(f"Version {manifest.version} is in slot {target} and is tried at the next start. If it does not come up, slot {running} does again.")


def show_progress(done: int, whole: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done * 100 // max(whole, 1)} %", end="\n" if done >= whole else "", file=sys.stderr, flush=True)


def commit(_: argparse.Namespace) -> None:
    now, running = state.read(disk()), running_slot()
    if now.trial is None and now.slot == running:
        print(f"Slot {running} is the default already.")
        return
    state.write(disk(), SlotState(running))
    note()
    print(f"Slot {running} is the default from now on.")


def rollback(_: argparse.Namespace) -> None:
    now, running = state.read(disk()), running_slot()
    target = now.slot if now.trial == running else other(running)
    with open(partition(target), "rb") as device:
        device.seek(1024 + 56)
        # The magic number of ext4 (ext4(5), s_magic): a slot that was never written, or not to its end, has none.
        if device.read(2) != b"\x53\xef":
            raise Refusal(f"Slot {target} is empty: there is nothing to go back to.")
    if now.trial == running:
        state.write(disk(), SlotState(target))
        print(f"Slot {target} is started next, and by default.")
        return
    # What is known of the running slot is that it starts; the other one may be an update that did not.
    state.write(disk(), SlotState(running, target, state.TRIES))
    print(f"Slot {target} is tried at the next start. If it does not come up, slot {running} does again.")


def judge(_: argparse.Namespace) -> None:
    """At each start: a slot on trial is committed when its node serves, and left by a restart when it does not."""
    now, running = state.read(disk()), running_slot()
    # A slot that was installed and not tried yet has all its tries.
    note(fell_back=now.trial not in (None, running) and now.tries < state.TRIES)
    if now.trial is None or (now.trial != running and now.tries == state.TRIES):
        return
    if now.trial != running:
        # With tries left U-Boot passed over it, because it has nothing to load.
        print(f"Slot {now.trial} {f'did not come up in {state.TRIES} starts' if now.tries == 0 else 'cannot be loaded'}; slot {running} goes on.")
        state.write(disk(), SlotState(running))
        return
    # Here, because `judge` runs at every start and seldom comes to this.
    import health  # pylint: disable=import-outside-toplevel

    ends = time.monotonic() + HEALTH_WAIT_SECONDS
    while time.monotonic() < ends:
        if health.is_healthy():
            commit(_)
            return
        time.sleep(2)
    print(f"The node does not serve {HEALTH_WAIT_SECONDS} seconds after the start of slot {running}, which is on trial: the machine restarts.")
    subprocess.run(["systemctl", "reboot"], check=True)


def overdue(_: argparse.Namespace) -> None:
    """Long after the start: a slot that is still on trial hangs before its judge, or with it."""
    now, running = state.read(disk()), running_slot()
    if now.trial == running:
        print(f"Slot {running} is on trial and was not judged: the machine restarts.", flush=True)
        # What hangs is not waited for.
        subprocess.run(["systemctl", "reboot", "--force"], check=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="rookery-slot", description="The two root slots of this machine, and updates by bundle.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("status", help="which slot runs, which is the default, which is on trial")
    command.add_argument("--json", action="store_true")
    command.set_defaults(run=status)
    command = commands.add_parser("install", help="check an update bundle and write it to the slot that does not run; it is tried at the next start")
    command.add_argument("bundle", type=Path)
    command.set_defaults(run=install)
    commands.add_parser("commit", help="make the running slot the default").set_defaults(run=commit)
    commands.add_parser("rollback", help="try the other slot at the next start, or leave a running one that is on trial").set_defaults(run=rollback)
    commands.add_parser("judge", help="commit a slot on trial when its node serves, restart when it does not (done at every start)").set_defaults(run=judge)
    commands.add_parser("overdue", help="restart a slot that is on trial and was not judged (done long after a start)").set_defaults(run=overdue)
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
