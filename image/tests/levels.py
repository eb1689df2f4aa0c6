"""Measures the ways to compile the arm64 executable: image/tests/levels.py [LEVEL...]

For each: bytes, also as compressed; instructions to the first answer, for the first hundred requests and for one after thousands (counted in
qemu-user, each for the processor that it is made for); in the image in QEMU, seconds to start and memory resident after two minutes.
Needs what image-test needs, gcc and qemu-user; builds into artifacts/levels."""

import http.client
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))

# pylint: disable=wrong-import-position
import figures
import vm

LEVELS = vm.ARTIFACTS / "levels"
ROOT = vm.ARTIFACTS / "image/arm64/root"


def instruction_set(names: str) -> tuple[str, ...]:
    # A comma separates properties on MSBuild's command line.
    return ("-p:IlcInstructionSet=" + names.replace(",", "%2C"),)


# The emulated processor, and the options of server/publish. The Cortex-A53 and A72 of a Pi have the same instructions:
# no crypto, no large system extensions. The default is compiled for any arm64.
VARIANTS = {
    "IL": ("cortex-a72", ("-p:PublishAot=false", "-p:PublishReadyToRun=false")),
    "ReadyToRun, composite": ("cortex-a72", ("-p:PublishAot=false",)),
    "ahead": ("cortex-a72", ()),
    "ahead, for size": ("cortex-a72", ("-p:OptimizationPreference=Size",)),
    "ahead, for speed": ("cortex-a72", ("-p:OptimizationPreference=Speed",)),
    "ahead, A53 and A72": ("cortex-a72", instruction_set("base,crc")),
    "ahead on an A76": ("cortex-a76", ()),
    "ahead, A76": ("cortex-a76", instruction_set("base,crc,aes,sha1,sha2,dotprod,rdma,lse,rcpc")),
}


def build(variant: str) -> Path:
    directory = LEVELS / variant.removesuffix(" on an A76").replace(", ", "-").replace(" ", "-")
    if not (directory / "rookery").exists():
        # Changed compiler options do not trigger a new compilation, so each way has its own directory.
        subprocess.run(["server/publish", "arm64", "--artifacts-path", LEVELS / "build" / directory.name, *VARIANTS[variant][1]],
                       check=True, cwd=vm.TOP, env={**os.environ, "ROOKERY_PUBLISH_OUTPUT": str(directory)})
    return directory / "rookery"


class CountedNode:
    """A node under qemu-user, whose instructions are counted."""

    def __init__(self, program: Path, processor: str, directory: Path):
        self.file, self.port = directory / "counts", vm.free_port()
        plugin = directory / "instructions.so"
        subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", plugin, Path(__file__).with_name("instructions.c")], check=True)
        self.process = subprocess.Popen(["qemu-aarch64", "-cpu", processor, "-L", ROOT, "-plugin", f"{plugin},counts={self.file}", program, "serve", "--data", directory / "data", "--listen", f"http://127.0.0.1:{self.port}"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def __enter__(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                self.client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
                if self.status("GET", "/readyz") == 200:
                    return self
            except ConnectionRefusedError:
                assert self.process.poll() is None, f"rookery ended: {self.process.returncode}"
            time.sleep(0.05)
        raise AssertionError("not ready within 120 s")

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def status(self, method: str, path: str, body: str | None = None) -> int:
        self.client.request(method, path, body)
        response = self.client.getresponse()
        response.read()
        return response.status

    def request(self, method: str, path: str, expected: int, body: str | None = None) -> None:
        status = self.status(method, path, body)
        assert status == expected, f"{method} {path}: {status}"

    def instructions(self) -> int:
        return sum(count for count, in struct.iter_unpack("<Q", self.file.read_bytes()))

    def millions(self, work, times: int) -> float:
        """Returns the instructions per request, in millions, over a number of requests."""
        before = self.instructions()
        for number in range(times):
            work(number)
        return (self.instructions() - before) / times / 1e6

    def steady(self, work) -> float:
        """Returns the minimum of several rounds, because the compiler runs in the background during some."""
        rounds = []
        for _ in range(10):
            rounds.append(self.millions(work, 1000))
            time.sleep(1)
        return min(rounds)


def count(program: Path, processor: str) -> list[str]:
    """Returns the cells of a table: instructions to the first answer, per early request, and per later request (PUT, GET)."""
    with tempfile.TemporaryDirectory(prefix="rookery-levels-") as path, CountedNode(program, processor, Path(path)) as node:
        start_millions = node.instructions() / 1e6
        node.request("PUT", "/admin/databases?name=levels", 201, '{"DatabaseName":"levels"}')

        def put(number: int) -> None:
            node.request("PUT", f"/databases/levels/docs?id=users/{number % 100}", 201, f'{{"Name":"Ada","Number":{number},"@metadata":{{"@collection":"Users"}}}}')

        def get(number: int) -> None:
            node.request("GET", f"/databases/levels/docs?id=users/{number % 100}", 200)

        first_requests = node.millions(put, 100), node.millions(get, 100)
        return [f"{start_millions:.0f} M", f"{first_requests[0]:.2f} M, {first_requests[1]:.2f} M", f"{node.steady(put) * 1000:.0f} k, {node.steady(get) * 1000:.0f} k"]


OVERRIDE = "[Service]\\nExecStart=\\nExecStart=/data/levels/rookery serve --config /var/lib/rookery/config.json\\n"
# Seconds of a second start, when its pages are in memory; then the resident memory two minutes later.
IN_GUEST = f"""set -eu
sudo mkdir -p /data/levels /run/systemd/system/rookery.service.d; sudo mount -o remount,exec /data
sudo systemctl stop rookery; sudo install -m 755 rookery /data/levels/rookery; printf '{OVERRIDE}' | sudo tee /run/systemd/system/rookery.service.d/level.conf >/dev/null; sudo systemctl daemon-reload
sudo systemctl start rookery; sudo systemctl stop rookery
before=$(date +%s.%N); sudo systemctl start rookery; after=$(date +%s.%N)
sleep 120; echo $before $after $(ps -p $(systemctl show --property=MainPID --value rookery.service) -o rss=)"""


def start(programs: dict[str, Path], processor: str) -> None:
    """Measures in the image, with the image's unit and settings."""
    with tempfile.TemporaryDirectory(prefix="rookery-levels-") as path:
        setup = figures.CardWithLogin(Path(path))
        with setup.machine(processor=processor) as machine:
            machine.wait_for_https()
            machine.wait_for_login(setup.key)
            for variant, program in programs.items():
                machine.copy(setup.key, program)
                before, after, resident = machine.shell(setup.key, IN_GUEST, seconds=900).split()
                print(variant, f"{float(after) - float(before):.1f} s", f"{int(resident) / 1024:.0f} MiB", sep=" | ", flush=True)


def size(program: Path) -> str:
    """Returns the size of the executable, and its size compressed, in MB."""
    compressed = subprocess.run(["zstd", "-19", "-T0", "-c", program], check=True, capture_output=True).stdout
    return f"{program.stat().st_size / 1e6:.1f} MB, {len(compressed) / 1e6:.1f}"


if __name__ == "__main__":
    variants = sys.argv[1:] or list(VARIANTS)
    if unknown := [variant for variant in variants if variant not in VARIANTS]:
        sys.exit(f"{', '.join(unknown)}: one of {'; '.join(VARIANTS)}")
    built = {variant: build(variant) for variant in variants}
    counted = {variant: count(program, VARIANTS[variant][0]) for variant, program in built.items()}
    for variant in variants:
        print(variant, size(built[variant]), *counted[variant], sep=" | ", flush=True)
    for processor in ("cortex-a72", "cortex-a76"):
        start({variant: program for variant, program in built.items() if VARIANTS[variant][0] == processor}, processor)
