"""Figures of the image in QEMU: image/tests/figures.py boot|idle|tuning|pages, one after the other on a machine that does nothing else.

boot     power-on to the first answer over HTTPS, beside plain Debian with the same packages and kernel to its login prompt
idle     bytes that the whole machine writes in ten minutes, by whom; memory and processor time of `rookery`
tuning   what each setting changes, against the kernel's default, on a slow card
pages    the image's root under a kernel with pages of 16 KiB, by its Debian packages: KERNEL='FILE...'"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import vm

WORK = vm.ARTIFACTS / "image/arm64"
ROUNDS = 3

SAMPLE = r"""
import json, pathlib, subprocess
def written(line):
    return int(line.split()[9]) * 512
disks = {line.split()[2]: written(line) for line in open("/proc/diskstats") if line.split()[2] == "vda"}
who = {}
for process in pathlib.Path("/proc").glob("[0-9]*"):
    try:
        io = dict(line.split(": ") for line in (process / "io").read_text().splitlines())
        who[process.name] = ((process / "comm").read_text().strip(), int(io["write_bytes"]) - int(io["cancelled_write_bytes"]))
    except OSError:
        pass
node = pathlib.Path("/proc") / subprocess.run(["systemctl", "show", "--property=MainPID", "--value", "rookery.service"], capture_output=True, text=True).stdout.strip()
fields = (node / "stat").read_text().rsplit(") ", 1)[1].split()
status = dict(line.split(":", 1) for line in (node / "status").read_text().splitlines())
print(json.dumps({"disk": disks["vda"], "who": who, "ticks": int(fields[11]) + int(fields[12]), "resident": int(status["VmRSS"].split()[0]), "own": int(status["RssAnon"].split()[0])}))
"""


class CardWithLogin:
    """A card with a rookery.toml that allows the test to log in."""

    def __init__(self, directory: Path):
        self.key = vm.new_key(directory)
        self.card = vm.Card(directory, vm.IMAGE)
        self.card.put("rookery.toml", f'hostname = "pi-7"\n[ssh]\nkeys = ["{self.key.with_suffix(".pub").read_text(encoding="ascii").strip()}"]\n')

    def machine(self, **options) -> vm.Machine:
        return vm.Machine(self.card, vm.U_BOOT, **options)


def idle(directory: Path) -> None:
    setup = CardWithLogin(directory)
    with setup.machine() as machine:
        machine.wait_for_https()
        machine.wait_for_login(setup.key)
        # Wait until the disk was measured and the log was saved once.
        time.sleep(420)

        def sample() -> dict:
            subprocess.run(["ssh", "-q", "-i", setup.key, "-p", str(machine.ssh), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "admin@127.0.0.1", "cat > /tmp/sample.py"],
                           input=SAMPLE.encode(), check=True)
            return json.loads(machine.shell(setup.key, "sudo python3 /tmp/sample.py"))

        before = sample()
        time.sleep(600)
        after = sample()
    print(f"in 600 s {after['disk'] - before['disk']:,} bytes written to the card; rookery: {(after['ticks'] - before['ticks']) / 100 / 600:.2%} of a core, {after['resident'] / 1024:.1f} MiB resident, {after['own'] / 1024:.1f} of it its own, the rest pages of its file")
    for process, (name, bytes_) in after["who"].items():
        written = bytes_ - before["who"].get(process, (name, 0))[1]
        if written:
            print(f"{written:>10,}  {name}")


def plain_debian() -> Path:
    """Builds plain Debian: the image's packages with their default configuration, on one partition."""
    disk = WORK / "plain.img"
    if disk.exists():
        return disk
    root = WORK / "plain"
    subprocess.run(["bash", "-euo", "pipefail", "-c", f"""
export ARCH=arm64; . image/lib.sh
rm -rf --one-file-system {root}; mkdir -p {root}
tar --extract --numeric-owner --xattrs --file {WORK}/base.tar --directory {root} --exclude './dev/*'
echo plain >{root}/etc/hostname
echo '/dev/vda / ext4 defaults 0 1' >{root}/etc/fstab
kernel=$(ls {root}/lib/modules)
in_root {root} mkinitramfs -o /boot/initrd.img-$kernel $kernel
cp {root}/boot/vmlinuz-$kernel {WORK}/plain-vmlinuz; cp {root}/boot/initrd.img-$kernel {WORK}/plain-initrd
truncate -s 2G {disk}.new; mke2fs -q -F -t ext4 -d {root} {disk}.new; mv {disk}.new {disk}; rm -rf --one-file-system {root}
"""], check=True, cwd=vm.TOP)
    return disk


def seconds_to_login(directory: Path, disk: Path) -> float:
    """Boots plain Debian and returns the seconds from power-on to its login prompt."""
    log = directory / "plain.log"
    log.unlink(missing_ok=True)
    started_at = time.monotonic()
    with subprocess.Popen([
        "qemu-system-aarch64", "-M", "virt", "-cpu", "cortex-a72", "-smp", "2", "-m", "1024", "-display", "none", "-monitor", "none", "-serial", f"file:{log}",
        "-kernel", WORK / "plain-vmlinuz", "-initrd", WORK / "plain-initrd", "-append", "root=/dev/vda rw console=ttyAMA0 quiet",
        "-drive", f"file={disk},format=raw,if=none,id=d0,snapshot=on", "-device", "virtio-blk-pci,drive=d0",
        "-netdev", "user,id=n0,restrict=on", "-device", "virtio-net-pci,netdev=n0,romfile=", "-device", "virtio-rng-pci",
    ], stdin=subprocess.DEVNULL) as process:
        try:
            while "login:" not in (log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""):
                assert process.poll() is None and time.monotonic() - started_at < 600, "plain Debian did not show a login prompt"
                time.sleep(0.2)
            return time.monotonic() - started_at
        finally:
            process.kill()


def boot(directory: Path) -> None:
    disk = plain_debian()
    setup = CardWithLogin(directory)
    with setup.machine() as machine:
        first_seconds = machine.wait_for_https()
        machine.wait_for_login(setup.key)
        time.sleep(60)
        print(machine.shell(setup.key, "systemd-analyze; systemd-analyze critical-chain rookery.service; systemd-analyze blame | head -n 20"), flush=True)
        machine.power_off(setup.key)
    print(f"first start of the image {first_seconds:.1f} s; plain Debian {seconds_to_login(directory, disk):.1f} s", flush=True)
    for _ in range(ROUNDS):
        with setup.machine() as machine:
            image_seconds = machine.wait_for_https()
        plain_seconds = seconds_to_login(directory, disk)
        print(f"image to HTTPS {image_seconds:.1f} s, plain Debian to its login prompt {plain_seconds:.1f} s: {image_seconds / plain_seconds:.2f}", flush=True)


def tuning(directory: Path) -> None:
    """Measures each setting on a card limited to 200 writes and 10 MB a second."""
    setup = CardWithLogin(directory)
    with setup.machine(limits={"iops-write": 200, "bps-write": 10 << 20, "bps-read": 40 << 20}) as machine:
        machine.wait_for_https()
        machine.wait_for_login(setup.key)
        script = Path(__file__).with_name("tuning_in_guest.py")
        machine.copy(setup.key, script)
        print(machine.shell(setup.key, f"sudo python3 {script.name}", seconds=3600))


def pages(directory: Path) -> None:
    """Boots the card's root with the kernel and modules of the Debian packages named by KERNEL."""
    packages = os.environ.get("KERNEL", "").split() or sys.exit("KERNEL='linux-base-…-arm64-16k_….deb linux-binary-… linux-modules-…' is missing; they are not part of the image: fetch them from Debian")
    subprocess.run(["bash", "-euo", "pipefail", "-c", f"""
export ARCH=arm64; . image/lib.sh
unshare --mount -- bash -euo pipefail -c '
mkdir -p {WORK}/pages/{{upper,work,root}}
mount -t overlay -o lowerdir={WORK}/root,upperdir={WORK}/pages/upper,workdir={WORK}/pages/work overlay {WORK}/pages/root
for package in {" ".join(packages)}; do dpkg-deb --extract $package {WORK}/pages/root; done
. image/lib.sh
kernel=$(ls {WORK}/pages/root/lib/modules | grep 16k)
# Since kernel 7 both files are in the directory of the modules.
for file in vmlinuz config; do cp --no-clobber {WORK}/pages/root/lib/modules/$kernel/$file {WORK}/pages/root/boot/$file-$kernel; done
in_root {WORK}/pages/root depmod $kernel
in_root {WORK}/pages/root mkinitramfs -o /boot/initrd.img-$kernel $kernel
cp {WORK}/pages/root/boot/vmlinuz-$kernel {WORK}/pages/vmlinuz
cp {WORK}/pages/root/boot/initrd.img-$kernel {WORK}/pages/initrd
rm -f {WORK}/pages/slot.ext4
mke2fs -q -t ext4 -O ^has_journal -m 0 -d {WORK}/pages/root {WORK}/pages/slot.ext4 1152M'
"""], check=True, cwd=vm.TOP)
    setup = CardWithLogin(directory)
    # Writes that root, with the modules of the kernel, to slot a: the second partition.
    place = json.loads(subprocess.run(["sfdisk", "--json", setup.card.path], check=True, capture_output=True).stdout)["partitiontable"]["partitions"][1]
    assert place["size"] * 512 >= (WORK / "pages/slot.ext4").stat().st_size, "the root does not fit into the slot"
    subprocess.run(["dd", f"if={WORK}/pages/slot.ext4", f"of={setup.card.path}", "bs=1M", f"seek={place['start'] * 512}", "oflag=seek_bytes", "conv=notrunc", "status=none"], check=True)
    # This processor, that of a Pi 5, supports pages of 16 KiB.
    with setup.machine(processor="cortex-a76", kernel=(WORK / "pages/vmlinuz", WORK / "pages/initrd", "root=/dev/vda2 ro panic=10 console=ttyAMA0")) as machine:
        seconds = machine.wait_for_https()
        machine.wait_for_login(setup.key)
        print(f"HTTPS after {seconds:.0f} s; " + machine.shell(setup.key, "uname -r; getconf PAGESIZE; ps -p $(systemctl show --property=MainPID --value rookery.service) -o rss=; findmnt -no FSTYPE /data"))


FIGURES = {"boot": boot, "idle": idle, "pages": pages, "tuning": tuning}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in FIGURES:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(prefix="rookery-figures-") as path:
        FIGURES[sys.argv[1]](Path(path))
