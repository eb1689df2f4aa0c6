"""A virtual machine that starts the image as a Raspberry Pi does: QEMU, in place of the firmware, starts U-Boot, whose script starts the kernel of a slot."""

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
BOOT_OFFSET = "1M"  # of the boot partition


def free_port() -> int:
    """Returns a TCP port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Drive:
    """A blank USB drive of 2 GiB."""

    def __init__(self, directory: Path, serial: str):
        self.path, self.serial = directory / f"drive-{serial}.img", serial
        with open(self.path, "wb") as file:
            file.truncate(2 << 30)

    def block_device(self) -> dict:
        return {"driver": "raw", "node-name": self.serial, "file": {"driver": "file", "filename": str(self.path)}}

    def device(self) -> dict:
        return {"driver": "usb-storage", "id": f"usb-{self.serial}", "bus": "usb.0", "drive": self.serial, "serial": self.serial}


class OtherCard(Drive):
    """The disk of another machine. It is an NVMe disk, because U-Boot for `virt` would start from a USB disk before the card; on a Pi it tries the card first."""

    def __init__(self, card: "Card", serial: str):  # pylint: disable=super-init-not-called
        self.path, self.serial = card.path, serial

    def device(self) -> dict:
        return {"driver": "nvme", "id": f"nvme-{self.serial}", "drive": self.serial, "serial": self.serial}


class Card:
    """A copy of the image on a card of 4 GiB."""

    def __init__(self, directory: Path, image: Path):
        directory.mkdir(exist_ok=True)
        self.path = directory / "card.img"
        subprocess.run(["cp", "--sparse=always", image, self.path], check=True)
        os.truncate(self.path, CARD_BYTES)
        # The kernel writes its messages to the serial port, where tests read them.
        self.put("boot.env", "extra=console=ttyAMA0\n")

    def put(self, name: str, text: str) -> None:
        """Writes a file to the boot partition, as its owner does on a PC."""
        subprocess.run(["mcopy", "-o", "-i", f"{self.path}@@{BOOT_OFFSET}", "-", f"::{name}"], input=text.encode(), check=True)

    def get(self, name: str) -> str | None:
        """Returns the text of a file on the boot partition; None if it cannot be read."""
        result = subprocess.run(["mcopy", "-n", "-i", f"{self.path}@@{BOOT_OFFSET}", f"::{name}", "-"], capture_output=True, check=False)
        return result.stdout.decode() if result.returncode == 0 else None

    def progress(self) -> str:
        """How far the preparation of the data partition has come: "as flashed", "grown", or its mark "formatting" or "formatted"."""
        table = json.loads(subprocess.run(["sfdisk", "--json", self.path], check=True, capture_output=True).stdout)["partitiontable"]["partitions"]
        with open(self.path, "rb") as file:
            # Sector 18, where the preparation writes its mark.
            file.seek(18 * 512)
            mark = file.read(512).rstrip(b"\0").decode().strip()
        return mark.removeprefix("rookery: ") or ("grown" if table[3]["size"] > 32768 else "as flashed")


class Machine:
    """A machine with a card. As a context manager it is switched on at the beginning, and its plug is pulled at the end.

    `clock` is its time at power-on, as in QEMU's option -rtc base. `limits` throttle the card (QEMU's throttling options). `kernel` is a kernel, its initial RAM disk
    and its command line, to be started instead of U-Boot. With `chance` a power cut also loses, at random, data that the machine has not flushed; `loss` describes
    them afterwards."""

    def __init__(self, card: Card, u_boot: Path, drives: tuple[Drive, ...] = (), clock: str = "utc", processor: str = "cortex-a72", limits: dict | None = None,
                 kernel: tuple[Path, Path, str] | None = None, has_usb: bool = False, chance: random.Random | None = None):
        self.card, self.u_boot, self.drives, self.clock, self.processor = card, u_boot, drives, clock, processor
        self.has_usb = has_usb
        self.chance, self.cache = chance, None
        self.limits = "".join(f",throttling.{name}={value}" for name, value in (limits or {}).items())
        self.boot_arguments = ["-bios", u_boot] if kernel is None else ["-kernel", kernel[0], "-initrd", kernel[1], "-append", kernel[2]]
        self.log = card.path.with_name("serial.log")
        self.https, self.http, self.ssh = free_port(), free_port(), free_port()

    def __enter__(self):
        self.log.unlink(missing_ok=True)
        forward = ",".join(f"hostfwd=tcp:127.0.0.1:{host}-:{guest}" for host, guest in ((self.https, 443), (self.http, 80), (self.ssh, 22)))
        self.started_at, self.loss = time.monotonic(), "nothing"
        drives = ["-device", "qemu-xhci,id=usb"] if self.drives or self.has_usb else []
        drives += [word for drive in self.drives for word in ("-blockdev", json.dumps(drive.block_device()), "-device", json.dumps(drive.device()))]
        self.monitor = self.card.path.with_name("monitor")
        self.cache = WriteCache(self.card.path, self.chance) if self.chance else None
        card = ["-blockdev", json.dumps(self.cache.block_device()), "-device", "virtio-blk-pci,drive=card"] if self.cache else [
            "-drive", f"file={self.card.path},format=raw,if=none,id=d0{self.limits}", "-device", "virtio-blk-pci,drive=d0"]
        self.process = subprocess.Popen([
            "qemu-system-aarch64", "-M", "virt", "-cpu", self.processor, "-smp", "2", "-m", "1024", "-display", "none", "-monitor", "none",
            "-qmp", f"unix:{self.monitor},server=on,wait=off", "-rtc", f"base={self.clock}", *drives,
            "-serial", f"file:{self.log}", *self.boot_arguments, *card,
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
            self.loss = self.cache.lose()
            self.cache = None

    def attach(self, drive: Drive) -> None:
        """Plugs a drive in while the machine runs."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.monitor))
            answers = connection.makefile()
            answers.readline()
            for command, arguments in (("qmp_capabilities", {}), ("blockdev-add", drive.block_device()), ("device_add", drive.device())):
                connection.sendall(json.dumps({"execute": command, "arguments": arguments}).encode())
                answer = next(text for text in answers if '"event"' not in text)
                assert '"return"' in answer, answer

    def serial(self) -> str:
        """The output on the serial port since power-on."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""

    def wait_for(self, description: str, condition, seconds: int = 900):
        """Waits until `condition` returns a true value, and returns it. On a timeout the failure shows the end of the serial log."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            answer = condition()
            if answer:
                return answer
            assert self.process.poll() is None, f"QEMU ended: {self.process.returncode}"
            time.sleep(0.5)
        raise AssertionError(f"no {description} within {seconds} s; the last lines of the serial port:\n{self.serial()[-3000:]}")

    def get(self, path: str) -> dict | str | None:
        """Returns the node's answer over HTTPS, parsed if it is JSON; None if it does not answer."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            try:
                answer = urllib.request.urlopen(f"https://127.0.0.1:{self.https}{path}", timeout=10, context=context)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read().decode()
        # The plug may be pulled during the answer.
        except (OSError, http.client.HTTPException):
            return None
        try:
            return json.loads(body)
        except ValueError:
            return body

    def wait_for_https(self) -> float:
        """Returns the seconds from power-on to the first answer of the node."""
        # QEMU accepts a connection before the machine has a network, and holds it until it times out. A single request would get the answer up to 10 s late, so up to
        # 12 are sent in parallel.
        requests, answered = [], threading.Event()

        def request() -> None:
            if self.get("/readyz"):
                answered.set()

        def is_answered() -> bool:
            requests[:] = [thread for thread in requests if thread.is_alive()]
            if len(requests) < 12:
                requests.append(threading.Thread(target=request, daemon=True))
                requests[-1].start()
            return answered.wait(0.5)

        self.wait_for("answer over HTTPS", is_answered)
        return time.monotonic() - self.started_at

    def wait_for_login(self, key: Path, user: str = "admin") -> None:
        def is_possible() -> bool:
            try:
                return self.shell(key, "true", user) == ""
            except (AssertionError, subprocess.TimeoutExpired):
                return False

        self.wait_for("login over SSH", is_possible)

    def shell(self, key: Path, command: str, user: str = "admin", seconds: int = 120) -> str:
        """Runs a command on the machine by SSH and returns its standard output. Fails if it ends with an error."""
        result = subprocess.run([
            "ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
            "-o", "ConnectTimeout=60", f"{user}@127.0.0.1", command,
        ], capture_output=True, text=True, timeout=seconds, check=False)
        assert result.returncode == 0, f"{command}: {result.returncode}\n{result.stdout}{result.stderr}"
        return result.stdout

    def copy(self, key: Path, file: Path, user: str = "admin") -> None:
        """Copies a file to the user's home on the machine."""
        with open(file, "rb") as source:
            subprocess.run(["ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
                            f"{user}@127.0.0.1", f"cat > {file.name}"], stdin=source, timeout=600, check=True)

    def power_off(self, key: Path) -> None:
        """Shuts the machine down cleanly."""
        subprocess.run(["ssh", "-q", "-i", key, "-p", str(self.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
                        "admin@127.0.0.1", "sudo systemctl poweroff"], check=False, timeout=60, capture_output=True)
        self.process.wait(timeout=120)


VERSION = re.search(r"<Version>(.*)</Version>", (TOP / "Directory.Build.props").read_text(encoding="utf-8"))[1]
# As in image/lib.sh.
RELEASE = VERSION + time.strftime("+os%Y%m%d.%H%M", time.gmtime(int((TOP / "image/lock/epoch").read_text(encoding="ascii"))))
IMAGE = ARTIFACTS / f"rookery-{RELEASE}-arm64.img"
BUNDLE = ARTIFACTS / f"rookery-{RELEASE}-arm64.update.tar"
U_BOOT = ARTIFACTS / "image/arm64/u-boot-virt.bin"


class ImageTest(unittest.TestCase):
    """A test case with a card that holds the image, and machines that start it."""

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

    def machine(self, **options) -> Machine:
        return Machine(self.card, U_BOOT, **options)

    def public_key(self) -> str:
        return self.key.with_suffix(".pub").read_text(encoding="ascii").strip()

    def tell(self, text: str) -> None:
        print(text, flush=True)


def new_key(directory: Path) -> Path:
    """Creates an SSH key and returns the file of its private half."""
    key = directory / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", key], check=True)
    return key

