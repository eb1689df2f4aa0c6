"""Runs one step at each boot: `setup first-boot` before the network starts, `setup found` before the node, `setup greet` after it. `setup measure` runs once."""

import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import first_boot
import found
import greeting
from boot_partition import LOG, BootPartition
from system import Machine


WHY_NO_LOG = "the boot partition is full, or the card refuses writes. Delete your own files from the partition"


def run(step: str, machine: Machine, boot: BootPartition) -> None:
    match step:
        case "first-boot":
            report = first_boot.set_up(machine, boot)
            machine.write(first_boot.REPORT, report)
            try:
                boot.report(report)
            except OSError as error:
                # The screen shows it instead.
                machine.write(first_boot.REPORT, f"{report}- {LOG} cannot be written ({error.strerror}): {WHY_NO_LOG}\n")
        case "found":
            machine.write(found.REPORT, found.found(machine, boot))
        case "greet":
            greeting.show(machine, boot)
        case "measure":
            greeting.measure_disk(machine)
        case _:
            sys.exit(f"setup: unknown step '{step}'; first-boot, found, greet or measure")


def main() -> None:
    machine = Machine(Path("/"))
    try:
        run(sys.argv[1] if len(sys.argv) == 2 else "", machine, BootPartition(machine))
    except Exception:  # pylint: disable=broad-exception-caught
        # Any error is only logged: the machine boots on, so that its owner can log in and look.
        traceback.print_exc()


if __name__ == "__main__":
    main()
