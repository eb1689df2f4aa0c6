// File systems on loop devices, one for each node, that a test can make slow, full, broken or damaged.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Ballast, BreakableDisk } from "../../../server/tests/process/mounts.mjs"

const throttle = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device"

/** Why disks cannot be made slow on this machine; false when they can. */
export const whyNotSlow = () => existsSync(throttle) ? false : `needs ${throttle} (cgroup v1)`

export class Card extends BreakableDisk {
  #ballast

  /** Limits writes and syncs to a number per second from now on; 0 removes the limit. */
  slow(operationsPerSecond) {
    const number = execFileSync("lsblk", ["--noheadings", "--nodeps", "--output", "MAJ:MIN", this.device]).toString().trim()
    writeFileSync(throttle, `${number} ${operationsPerSecond}`)
  }

  /** Fills the file system until this many bytes are free. */
  fill(freeBytes) {
    this.#ballast = new Ballast(this.directory, freeBytes)
  }

  /** Deletes the filling durably: a following power cut must not restore it. */
  giveBack() {
    this.#ballast.release()
    execFileSync("sync", ["--file-system", this.directory])
  }
}

/** Returns the files of a directory whose names match, the largest first. */
export function filesOf(directory, pattern) {
  const files = readdirSync(directory).filter(name => pattern.test(name)).map(name => join(directory, name))
  return files.sort((one, other) => statSync(other).size - statSync(one).size)
}

/** Flips a bit at each of some places of a file, between the offsets `first` and `end` (exclusive) and outside of padding. Returns the offsets. */
export function rot(file, chance, { first = 0, end = statSync(file).size, places = 3 } = {}) {
  const bytes = readFileSync(file)
  const written = Array.from({ length: end - first }, (_, n) => first + n).filter(offset => bytes[offset] !== 0)
  const offsets = Array.from({ length: places }, () => chance.pick(written))
  const descriptor = openSync(file, "r+")
  for (const offset of offsets) {
    writeSync(descriptor, Buffer.of(bytes[offset] ^ (1 << chance.between(0, 7))), 0, 1, offset)
  }

  closeSync(descriptor)
  return offsets
}

/** A copy of files, to find out later what was written to them since: a recycled file has old bytes after the new ones. */
export class FilesBefore {
  #contents

  constructor(files) {
    this.#contents = new Map(files.map(file => [file, readFileSync(file)]))
  }

  /** Returns the range from the first to the last changed byte of a file. */
  changed(file) {
    const [before, now] = [this.#contents.get(file) ?? Buffer.alloc(0), readFileSync(file)]
    const differs = (byte, at) => byte !== (before[at] ?? 0)
    return { first: now.findIndex(differs), end: now.findLastIndex(differs) + 1 }
  }
}
