"""Runs inside the image: what a setting changes, against the kernel's own default, on the card that it was started from. Prints one JSON object a line."""

import json
import mmap
import os
import random
import subprocess
import threading
import time
from pathlib import Path

HOME = Path("/data/tuning")
SECONDS = 30


def put(path: str, value) -> None:
    Path(path).write_text(str(value), encoding="ascii")


def disk_statistics() -> list[str]:
    return next(line.split() for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines() if line.split()[2] == "vda")


def written_bytes() -> int:
    return int(disk_statistics()[9]) * 512


def read_bytes() -> int:
    return int(disk_statistics()[5]) * 512


def quantile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


def journal_beside_a_copy() -> dict:
    """Synced writes of 4 KiB into a file that is there already, as the journal does them, while somebody writes a large file without syncing."""
    with open(HOME / "segment", "wb") as segment:
        segment.write(bytes(4 << 20))
        os.fsync(segment.fileno())
    ended = threading.Event()

    def copy() -> None:
        with open(HOME / "copy", "wb", buffering=0) as file:
            while not ended.is_set():
                file.write(bytes(1 << 20))
                if file.tell() > 300 << 20:
                    file.seek(0)

    writer = threading.Thread(target=copy)
    writer.start()
    times = []
    with open(HOME / "segment", "r+b", buffering=0) as segment:
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            begun = time.monotonic()
            os.pwrite(segment.fileno(), bytes(4096), 4096 * (len(times) % 1024))
            os.fdatasync(segment.fileno())
            times.append((time.monotonic() - begun) * 1000)
    ended.set()
    writer.join()
    (HOME / "copy").unlink()
    os.sync()
    return {"syncs": len(times), "median_ms": round(quantile(times, 0.5), 1), "p99_ms": round(quantile(times, 0.99)), "worst_ms": round(max(times))}


def log_lines() -> dict:
    """A line a second that nobody syncs, for two minutes."""
    os.sync()
    before = written_bytes()
    for number in range(120):
        with open(HOME / "log", "a", encoding="ascii") as log:
            log.write(f"line {number}\n")
        time.sleep(1)
    return {"bytes": written_bytes() - before}


def reads_beside_writes() -> dict:
    """Reads of 4 KiB past the cache while a synced writer keeps the card busy with pieces of 1 MiB."""
    size = 64 << 20
    with open(HOME / "rows", "wb") as rows:
        rows.write(os.urandom(size))
        os.fsync(rows.fileno())
    ended = threading.Event()

    def write() -> None:
        with open(HOME / "run", "wb", buffering=0) as file:
            while not ended.is_set():
                file.write(bytes(1 << 20))
                os.fdatasync(file.fileno())
                if file.tell() > 200 << 20:
                    file.seek(0)

    writer = threading.Thread(target=write)
    writer.start()
    times, buffer = [], mmap.mmap(-1, 4096)
    handle = os.open(HOME / "rows", os.O_RDONLY | os.O_DIRECT)
    ends = time.monotonic() + SECONDS
    while time.monotonic() < ends:
        begun = time.monotonic()
        os.preadv(handle, [buffer], random.randrange(size // 4096) * 4096)
        times.append((time.monotonic() - begun) * 1000)
    os.close(handle)
    ended.set()
    writer.join()
    return {"reads": len(times), "median_ms": round(quantile(times, 0.5), 2), "p99_ms": round(quantile(times, 0.99), 1)}


def pages_of_reads() -> dict:
    """Reads of 4 KiB at random through the cache: what comes off the card for each."""
    put("/proc/sys/vm/drop_caches", 3)
    handle = os.open(HOME / "rows", os.O_RDONLY)
    before = read_bytes()
    for _ in range(1000):
        os.pread(handle, 4096, random.randrange((64 << 20) // 4096) * 4096)
    scattered = (read_bytes() - before) // 1000
    put("/proc/sys/vm/drop_caches", 3)
    begun = time.monotonic()
    for place in range(0, 64 << 20, 16384):
        os.pread(handle, 16384, place)
    os.close(handle)
    return {"bytes_for_each_random_read": scattered, "sequential_MB_per_s": round((64 << 20) / 1e6 / (time.monotonic() - begun), 1)}


def remount(option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", "/data"], check=True)


def dirty(pair: tuple[int, int]) -> None:
    names = ("vm.dirty_bytes", "vm.dirty_background_bytes") if pair[0] > 100 else ("vm.dirty_ratio", "vm.dirty_background_ratio")
    subprocess.run(["sysctl", "-q", *(f"{name}={value}" for name, value in zip(names, pair))], check=True)


SCHEDULER, AHEAD = "/sys/block/vda/queue/scheduler", "/sys/block/vda/queue/read_ahead_kb"
TRIALS = [
    ("vm.dirty_bytes, dirty_background_bytes", dirty, ((20, 10), (64 << 20, 16 << 20), (16 << 20, 4 << 20), (4 << 20, 1 << 20)), journal_beside_a_copy),
    ("commit", lambda seconds: remount(f"commit={seconds}"), (5, 30), log_lines),
    ("vm.dirty_writeback_centisecs", lambda value: put("/proc/sys/vm/dirty_writeback_centisecs", value), (500, 3000), log_lines),
    ("scheduler", lambda value: put(SCHEDULER, value), ("none", "mq-deadline"), reads_beside_writes),
    ("scheduler", lambda value: put(SCHEDULER, value), ("none", "mq-deadline"), journal_beside_a_copy),
    ("read_ahead_kb", lambda value: put(AHEAD, value), (16, 128, 1024), pages_of_reads),
]

if __name__ == "__main__":
    subprocess.run(["systemctl", "stop", "rookery.service"], check=False)
    HOME.mkdir(exist_ok=True)
    put(SCHEDULER, "mq-deadline")
    for name, choose, values, trial in TRIALS:
        for value in values:
            choose(value)
            print(json.dumps({"setting": name, "value": str(value), "trial": trial.__name__} | trial()), flush=True)
