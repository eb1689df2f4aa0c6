// Separate file systems for a test, which are small or can be made to fail. Only root can mount them.
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { afterwards, temporaryDirectory } from "./node-process.mjs"

/** An option for `test`: without root the test is skipped, and counted as skipped. */
export const asRoot = { skip: process.getuid() === 0 ? false : "needs root to mount a file system" }

/** Mounts a tmpfs of a size and returns its directory. */
export function mountMemory(test, mebibytes) {
  const directory = join(temporaryDirectory(test), "mount")
  mkdirSync(directory)
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${mebibytes}m`, "rookery-test", directory])
  afterwards(test, () => execFileSync("umount", ["--lazy", directory]))
  return directory
}

/** An ext4 on a loop device that becomes read-only at its first error. */
export class BreakableDisk {
  constructor(test, mebibytes) {
    const home = temporaryDirectory(test)
    const image = join(home, "image")
    this.directory = join(home, "mount")
    mkdirSync(this.directory)
    execFileSync("truncate", ["--size", `${mebibytes}M`, image])
    execFileSync("mkfs.ext4", ["-q", "-F", image])
    this.device = execFileSync("losetup", ["--find", "--show", image]).toString().trim()
    afterwards(test, () => execFileSync("losetup", ["--detach", this.device]))
    afterwards(test, () => execFileSync("umount", ["--lazy", this.directory]))
    this.#mount()
  }

  /** Makes the file system find an error. From now on it is read-only, although files are open for writing. */
  breakNow() {
    try {
      writeFileSync(`/sys/fs/ext4/${basename(this.device)}/trigger_fs_error`, "a test wants it")
    } catch (failure) {
      if (failure.code !== "EROFS") {
        throw failure
      }
    }
  }

  /** Checks, repairs and mounts the file system, as the next boot would. */
  repair() {
    execFileSync("umount", [this.directory])
    try {
      execFileSync("e2fsck", ["-p", this.device])
    } catch (failure) {
      if (failure.status !== 1) { // 1: errors were found and corrected
        throw failure
      }
    }

    this.#mount()
  }

  #mount() {
    execFileSync("mount", ["-o", "errors=remount-ro", this.device, this.directory])
  }
}

/** A file that takes space until it is released. */
export class Ballast {
  /** Takes all but `freeBytes` of the file system that holds `directory`. */
  constructor(directory, freeBytes) {
    this.file = join(directory, "ballast")
    const { bavail, bsize } = statfsSync(directory)
    execFileSync("fallocate", ["--length", String(bavail * bsize - freeBytes), this.file])
  }

  release() {
    rmSync(this.file)
  }
}
