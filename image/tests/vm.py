"""A virtual machine that starts the image as a Raspberry Pi does: QEMU plays the firmware and starts U-Boot, U-Boot's script the slot, the slot its kernel."""

import http.client
import json
import os
import random
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

# pylint: disable=wrong-import-position
from write_cache import WriteCache

TOP = Path(__file__).parents[2]
ARTIFACTS = TOP / "artifacts"
CARD_BYTES = 4 << 30
BOOT_OFFSET = "1M"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Drive:
    """A USB drive, blank."""

    def __init__(self, directory: Path, serial: str):
        self.path, self.serial = directory / f"drive-{serial}.img", serial
        with open(self.path, "wb") as file:
            file.truncate(2 << 30)

    def block_device(self) -> dict:
        return {"driver": "raw", "node-name": self.serial, "file": {"driver": "file", "filename": str(self.path)}}

    def usb_device(self) -> dict:
        return {"driver": "usb-storage", "id": f"usb-{self.serial}", "bus": "usb.0", "drive": self.serial, "serial": self.serial}


class Card:
    """A copy of the image on a card of 4 GB."""

    def __init__(self, directory: Path, image: Path):
        directory.mkdir(exist_ok=True)
        self.path = directory / "card.img"
        subprocess.run(["cp", "--sparse=always", image, self.path], check=True)
        os.truncate(self.path, CARD_BYTES)
        # The kernel's messages on the serial port, which is what a test sees.
        self.put("boot.env", "extra=console=ttyAMA0\n")

    def put(self, name: str, text: str) -> None:
        """Writes a file to the boot partition, as its owner does on a PC."""
        subprocess.run(["mcopy", "-o", "-i", f"{self.path}@@{BOOT_OFFSET}", "-", f"::{name}"], input=text.encode(), check=True)

    def get(self, name: str) -> str | None:
        done = subprocess.run(["mcopy", "-n", "-i", f"{self.path}@@{BOOT_OFFSET}", f"::{name}", "-"], capture_output=True, check=False)
        return done.stdout.decode() if done.returncode == 0 else None

    def progress(self) -> str:
        """How far the data partition has come."""
        table = json.loads(subprocess.run(["sfdisk", "--json", self.path], check=True, capture_output=True).stdout)["partitiontable"]["partitions"]
        with open(self.path, "rb") as file:
            file.seek(18 * 512)
            mark = file.read(512).rstrip(b"\0").decode().strip()
        return mark.removeprefix("rookery: ") or ("grown" if table[3]["size"] > 32768 else "as flashed")


class Machine:
    """One start of a card; as a context manager its plug is pulled at the end."""

    def __init__(self, card: Card, u_boot: Path, drives: tuple[Drive, ...] = (), clock: str = "utc", processor: str = "cortex-a72", limits: dict | None = None,
                 kernel: tuple[Path, Path, str] | None = None, has_usb: bool = False, forgets: random.Random | None = None):
        self.card, self.u_boot, self.drives, self.clock, self.processor = card, u_boot, drives, clock, processor
        self.has_usb = has_usb
        # With it the card loses with the plug what it was not told to flush, by chance.
        self.forgets, self.cache = forgets, None
        self.limits = "".join(f",throttling.{name}={value}" for name, value in (limits or {}).items())
        # A kernel, its initial RAM disk and command line instead of U-Boot and the card's.
        self.starts = ["-bios", u_boot] if kernel is None else ["-kernel", kernel[0], "-initrd", kernel[1], "-append", kernel[2]]
        self.log = card.path.with_name("serial.log")
        self.https, self.http, self.ssh = free_port(), free_port(), free_port()

    def __enter__(self):
        self.log.unlink(missing_ok=True)
        forward = ",".join(f"hostfwd=tcp:127.0.0.1:{host}-:{guest}" for host, guest in ((self.https, 443), (self.http, 80), (self.ssh, 22)))
        self.begun, self.lost = time.monotonic(), "nothing"
        drives = ["-device", "qemu-xhci,id=usb"] if self.drives or self.has_usb else []
        drives += [word for drive in self.drives for word in ("-blockdev", json.dumps(drive.block_device()), "-device", json.dumps(drive.usb_device()))]
        self.monitor = self.card.path.with_name("monitor")
        self.cache = WriteCache(self.card.path, self.forgets) if self.forgets else None
        card = ["-blockdev", json.dumps(self.cache.block_device()), "-device", "virtio-blk-pci,drive=card"] if self.cache else [
            "-drive", f"file={self.card.path},format=raw,if=none,id=d0{self.limits}", "-device", "virtio-blk-pci,drive=d0"]
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", "virt", "-cpu", self.processor, "-smp", "2", "-m", "1024", "-display", "none", "-monitor", "none",
            "-qmp", f"unix:{self.monitor},server=on,wait=off", "-rtc", f"base={self.clock}", *drives,
            "-serial", f"file:{self.log}", *self.starts, *card,
            "-netdev", f"user,id=n0,restrict=on,{forward}", "-device", "virtio-net-pci,netdev=n0,romfile=", "-device", "virtio-rng-pci",
        ], stdin=subprocess.DEVNULL)
        return self

    def __exit__(self, *_):
        self.pull_the_plug()

    def pull_the_plug(self) -> None:
        was_on = self.process.poll() is None
        self.process.kill()
        self.process.wait()
        if self.cache and was_on:
            self.lost = self.cache.lose()
            self.cache = None

    def attach(self, drive: Drive) -> None:
        """Plugs a drive in while the machine runs."""
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(self.monitor))
            answers = line.makefile()
            answers.readline()
            for command, arguments in (("qmp_capabilities", {}), ("blockdev-add", drive.block_device()), ("device_add", drive.usb_device())):
                line.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
                answer = next(text for text in answers if '"event"' not in text)
                assert '"return"' in answer, answer

    def serial(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def wait_for(self, what: str, condition, seconds: int = 900):
        """Waits until `condition` gives something, and gives it; the end of the serial log says why not."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            answer = condition()
            if answer:
                return answer
            assert self.process.poll() is None, f"QEMU ended: {self.process.returncode}"
            time.sleep(0.5)
        raise AssertionError(f"no {what} within {seconds} s; the last lines of the serial port:\n{self.serial()[-3000:]}")

    def get(self, path: str) -> dict | str | None:
        """The answer of the node over HTTPS, or None while there is none."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            try:
                answer = urllib.request.urlopen(f"https://127.0.0.1:{self.https}{path}", timeout=10, context=context)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read().decode()
        # The plug may be pulled in the middle.
        except (OSError, http.client.HTTPException):
            return None
        try:
            return json.loads(body)
        except ValueError:
            return body

    def wait_for_https(self) -> float:
        """Seconds from power-on to the first answer of the node."""
        # QEMU takes a connection before the machine has a network, and holds it until it times out: one question alone would see the answer up to 10 s late.
        questions, answered = [], threading.Event()

        def ask() -> None:
            if self.get("/readyz"):
                answered.set()

        def asked() -> bool:
            questions[:] = [question for question in questions if question.is_alive()]
            if len(questions) < 12:
                questions.append(threading.Thread(target=ask, daemon=True))
                questions[-1].start()
            return answered.wait(0.5)

        self.wait_for("answer over HTTPS", asked)
        return time.monotonic() - self.begun

    def wait_for_login(self, key: Path, user: str = "admin") -> None:
        def answers() -> bool:
            try:
                return self.shell(key, "true", user) == ""
            except (AssertionError, subprocess.TimeoutExpired):
                return False

        self.wait_for("login over SSH", answers)

    def shell(self, key: Path, command: str, user: str = "admin", seconds: int = 120) -> str:
        done = subprocess.run([
            "ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
            "-o", "ConnectTimeout=60", f"{user}@127.0.0.1", command,
        ], capture_output=True, text=True, timeout=seconds, check=False)
        assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def copy(self, key: Path, file: Path, user: str = "admin") -> None:
        with open(file, "rb") as source:
            subprocess.run(["ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
                            f"{user}@127.0.0.1", f"cat > {file.name}"], stdin=source, timeout=600, check=True)

    def power_off(self, key: Path) -> None:
        subprocess.run(["ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
                        "admin@127.0.0.1", "sudo systemctl poweroff"], check=False, timeout=60, capture_output=True)
        self.process.wait(timeout=120)


VERSION = re.search(r"<Version>(.*)</Version>", (TOP / "Directory.Build.props").read_text(encoding="utf-8"))[1]
IMAGE = ARTIFACTS / f"rookery-{VERSION}-arm64.img"
BUNDLE = ARTIFACTS / f"rookery-{VERSION}-arm64.update.tar"
U_BOOT = ARTIFACTS / "image/arm64/u-boot-virt.bin"


class ImageTest(unittest.TestCase):
    """Has a card with the image, and machines that start it."""

    @classmethod
    def setUpClass(cls):
        missing = [command for command in ("qemu-system-aarch64", "mcopy", "ssh-keygen") if shutil.which(command) is None] + [str(path) for path in (IMAGE, BUNDLE, U_BOOT) if not path.exists()]
        assert not missing, f"missing: {', '.join(missing)}; `make image` makes the image"

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="rookery-image-")
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)
        self.card = Card(self.directory, IMAGE)
        self.key = new_key(self.directory)

    def machine(self, **how) -> Machine:
        return Machine(self.card, U_BOOT, **how)

    def public_key(self) -> str:
        return self.key.with_suffix(".pub").read_text(encoding="ascii").strip()

    def tell(self, text: str) -> None:
        print(text, flush=True)


def new_key(directory: Path) -> Path:
    key = directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key], check=True)
    return key

