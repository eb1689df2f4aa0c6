"""Boots with several cards at once: each has an identifier of its own, and a machine takes root and data from the card that it started from."""

import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import vm

IMAGE_ID = "524b5259"
# As the image, but small: a boot partition with the script alone, and slots that hold no system.
TABLE = "label: dos\nlabel-id: 0x524b5259\nstart=2048,size=32768,type=c,bootable\n" + "".join(f"start={start},size=2048,type=83\n" for start in (34816, 36864, 38912))


def disk_id(path: Path) -> str:
    """The disk identifier, as blkid prints it."""
    return subprocess.run(["blkid", "-p", "-s", "PTUUID", "-o", "value", path], check=True, capture_output=True, text=True).stdout.strip()


class Identifier(unittest.TestCase):
    def setUp(self):
        self.script = vm.ARTIFACTS / "image/arm64/boot/boot.scr"
        missing = [str(path) for path in (vm.U_BOOT, self.script) if not path.exists()]
        assert not missing, f"missing: {', '.join(missing)}; `make image` makes them"
        directory = vm.tempfile.TemporaryDirectory(prefix="rookery-image-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def card(self, name: str) -> vm.Card:
        """A card that U-Boot starts from and that holds no system."""
        card = vm.Card.__new__(vm.Card)
        (self.directory / name).mkdir()
        card.path = self.directory / name / "card.img"
        boot = self.directory / name / "boot.fat"
        for file, size in ((card.path, 24 << 20), (boot, 16 << 20)):
            with open(file, "wb") as target:
                target.truncate(size)
        subprocess.run(["sfdisk", "--quiet", card.path], input=TABLE, text=True, check=True)
        subprocess.run(["mkfs.vfat", boot], check=True, capture_output=True)
        subprocess.run(["mcopy", "-i", boot, self.script, "::boot.scr"], check=True)
        with open(card.path, "r+b") as target:
            target.seek(1 << 20)
            target.write(boot.read_bytes())
        return card

    def start(self, card: vm.Card, *drives: vm.Drive) -> str:
        """Starts U-Boot until it finds no system, and returns what it printed."""
        with vm.Machine(card, vm.U_BOOT, drives=drives) as machine:
            machine.wait_for("the script to end", lambda: "neither slot can be started" in machine.serial() or "syntax error" in machine.serial(), 120)
            return machine.serial()

    def test_u_boot_draws_an_identifier_of_its_own_once(self):
        card = self.card("one")
        table = subprocess.run(["sfdisk", "--dump", card.path], check=True, capture_output=True, text=True).stdout
        self.assertIn("the disk has the identifier", self.start(card))
        drawn = disk_id(card.path)
        self.assertNotEqual(drawn, IMAGE_ID)
        self.assertEqual(subprocess.run(["sfdisk", "--dump", card.path], check=True, capture_output=True, text=True).stdout.replace(drawn, IMAGE_ID), table)
        self.assertNotIn("the disk has the identifier", self.start(card))
        self.assertEqual(disk_id(card.path), drawn)

    def test_another_card_keeps_its_identifier(self):
        card, other = self.card("one"), self.card("two")
        self.start(card, vm.OtherCard(other, "other"))
        self.assertNotEqual(disk_id(card.path), IMAGE_ID)
        self.assertEqual(disk_id(other.path), IMAGE_ID)


class Cards(vm.ImageTest):
    def test_with_three_cards_root_and_data_are_those_of_the_card_that_was_started(self):
        self.card.put("rookery.toml", f'hostname = "pi-7"\n[ssh]\nkeys = ["{self.public_key()}"]\n')
        others = [vm.Card(self.directory / name, vm.IMAGE) for name in ("two", "three")]
        before = [other.progress() for other in others]
        with self.machine(drives=tuple(vm.OtherCard(other, f"other-{number}") for number, other in enumerate(others))) as machine:
            machine.wait_for_https()
            machine.wait_for_login(self.key)
            self.assertEqual(machine.shell(self.key, "lsblk --noheadings --raw --output NAME | grep -c '^nvme[01]n1$'").strip(), "2")
            self.assertEqual(machine.shell(self.key, "for at in / /data /boot/firmware; do findmnt --noheadings --output SOURCE $at; done").split(), ["/dev/vda2", "/dev/vda4", "/dev/vda1"])
            machine.power_off(self.key)
        self.assertNotEqual(disk_id(self.card.path), IMAGE_ID)
        self.assertEqual([(disk_id(other.path), other.progress()) for other in others], [(IMAGE_ID, progress) for progress in before])


if __name__ == "__main__":
    unittest.main(verbosity=2)
