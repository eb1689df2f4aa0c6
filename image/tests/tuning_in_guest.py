"""Runs in the image's virtual machine and measures settings of the kernel, each with its default and other values, on the machine's card. Prints one JSON object
per line."""

import json
import mmap
import os
import random
import subprocess
import threading
import time
from pathlib import Path

HOME = Path("/data/tuning")
SECONDS = 30  # the duration of a measurement


def write_value(path: str, value) -> None:
    Path(path).write_text(str(value), encoding="ascii")


def disk_statistics() -> list[str]:
    """The fields of the card's line in /proc/diskstats."""
    return next(line.split() for line in Path("/proc/diskstats").read_text(encoding="ascii").splitlines() if line.split()[2] == "vda")


def written_bytes() -> int:
    return int(disk_statistics()[9]) * 512


def read_bytes() -> int:
    return int(disk_statistics()[5]) * 512


def quantile(values: list[float], share: float) -> float:
    """The value below which this share (0 to 1) of the values lies."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def journal_beside_a_copy() -> dict:
    """Measures synced writes of 4 KiB to an existing file, like those of the journal, while another thread writes a large file without syncing."""
    with open(HOME / "segment", "wb") as segment:
        segment.write(bytes(4 << 20))
        os.fsync(segment.fileno())
    stop = threading.Event()

    def copy() -> None:
        with open(HOME / "copy", "wb", buffering=0) as file:
            while not stop.is_set():
                file.write(bytes(1 << 20))
                if file.tell() > 300 << 20:
                    file.seek(0)

    writer = threading.Thread(target=copy)
    writer.start()
    times = []
    with open(HOME / "segment", "r+b", buffering=0) as segment:
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            started_at = time.monotonic()
            os.pwrite(segment.fileno(), bytes(4096), 4096 * (len(times) % 1024))
            os.fdatasync(segment.fileno())
            times.append((time.monotonic() - started_at) * 1000)
    stop.set()
    writer.join()
    (HOME / "copy").unlink()
    os.sync()
    return {"syncs": len(times), "median_ms": round(quantile(times, 0.5), 1), "p99_ms": round(quantile(times, 0.99)), "worst_ms": round(max(times))}


def log_lines() -> dict:
    """Measures the bytes that reach the card for one unsynced line per second, in two minutes."""
    os.sync()
    before = written_bytes()
    for number in range(120):
        with open(HOME / "log", "a", encoding="ascii") as log:
            log.write(f"line {number}\n")
        time.sleep(1)
    return {"bytes": written_bytes() - before}


def reads_beside_writes() -> dict:
    """Measures reads of 4 KiB that bypass the cache, while another thread writes pieces of 1 MiB and syncs each."""
    size = 64 << 20
    with open(HOME / "rows", "wb") as rows:
        rows.write(os.urandom(size))
        os.fsync(rows.fileno())
    stop = threading.Event()

    def write() -> None:
        with open(HOME / "run", "wb", buffering=0) as file:
            while not stop.is_set():
                file.write(bytes(1 << 20))
                os.fdatasync(file.fileno())
                if file.tell() > 200 << 20:
                    file.seek(0)

    writer = threading.Thread(target=write)
    writer.start()
    times, buffer = [], mmap.mmap(-1, 4096)
    handle = os.open(HOME / "rows", os.O_RDONLY | os.O_DIRECT)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        started_at = time.monotonic()
        os.preadv(handle, [buffer], random.randrange(size // 4096) * 4096)
        times.append((time.monotonic() - started_at) * 1000)
    os.close(handle)
    stop.set()
    writer.join()
    return {"reads": len(times), "median_ms": round(quantile(times, 0.5), 2), "p99_ms": round(quantile(times, 0.99), 1)}


def reads_through_cache() -> dict:
    """Measures reads through the cache: the bytes read from the card for each random 4 KiB, and the rate of sequential reads."""
    write_value("/proc/sys/vm/drop_caches", 3)
    handle = os.open(HOME / "rows", os.O_RDONLY)
    before = read_bytes()
    for _ in range(1000):
        os.pread(handle, 4096, random.randrange((64 << 20) // 4096) * 4096)
    bytes_per_read = (read_bytes() - before) // 1000
    write_value("/proc/sys/vm/drop_caches", 3)
    started_at = time.monotonic()
    for offset in range(0, 64 << 20, 16384):
        os.pread(handle, 16384, offset)
    os.close(handle)
    return {"bytes_for_each_random_read": bytes_per_read, "sequential_MB_per_s": round((64 << 20) / 1e6 / (time.monotonic() - started_at), 1)}


def remount_data(option: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{option}", "/data"], check=True)


def set_dirty_limits(pair: tuple[int, int]) -> None:
    """Sets the foreground and background limits of dirty pages: in percent of memory up to 100, otherwise in bytes."""
    names = ("vm.dirty_bytes", "vm.dirty_background_bytes") if pair[0] > 100 else ("vm.dirty_ratio", "vm.dirty_background_ratio")
    subprocess.run(["sysctl", "-q", *(f"{name}={value}" for name, value in zip(names, pair))], check=True)


SCHEDULER, READ_AHEAD = "/sys/block/vda/queue/scheduler", "/sys/block/vda/queue/read_ahead_kb"
# Name of the setting, function that sets it, its values, and the measurement.
TRIALS = [
    ("vm.dirty_bytes, dirty_background_bytes", set_dirty_limits, ((20, 10), (64 << 20, 16 << 20), (16 << 20, 4 << 20), (4 << 20, 1 << 20)), journal_beside_a_copy),
    ("commit", lambda seconds: remount_data(f"commit={seconds}"), (5, 30), log_lines),
    ("vm.dirty_writeback_centisecs", lambda value: write_value("/proc/sys/vm/dirty_writeback_centisecs", value), (500, 3000), log_lines),
    ("scheduler", lambda value: write_value(SCHEDULER, value), ("none", "mq-deadline"), reads_beside_writes),
    ("scheduler", lambda value: write_value(SCHEDULER, value), ("none", "mq-deadline"), journal_beside_a_copy),
    ("read_ahead_kb", lambda value: write_value(READ_AHEAD, value), (16, 128, 1024), reads_through_cache),
]

if __name__ == "__main__":
    subprocess.run(["systemctl", "stop", "rookery.service"], check=False)
    HOME.mkdir(exist_ok=True)
    write_value(SCHEDULER, "mq-deadline")
    for name, set_value, values, measure in TRIALS:
        for value in values:
            set_value(value)
            print(json.dumps({"setting": name, "value": str(value), "trial": measure.__name__} | measure()), flush=True)
