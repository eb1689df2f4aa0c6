// File systems on loop devices that can be slow, full, broken or rotten, one for each node.
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { Ballast, BreakableDisk } from "../../../server/tests/process/mounts.mjs"

const throttle = "/sys/fs/cgroup/blkio/blkio.throttle.write_iops_device"

/** Why cards cannot be made slow here; false when they can. */
export const whyNotSlow = () => existsSync(throttle) ? false : `needs ${throttle} (cgroup v1)`

export class Card extends BreakableDisk {
  #ballast

  /** Writes and syncs no more than so often in a second from now on; 0 ends that. */
  slow(operationsPerSecond) {
    const number = execFileSync("lsblk", ["--noheadings", "--nodeps", "--output", "MAJ:MIN", this.device]).toString().trim()
    writeFileSync(throttle, `${number} ${operationsPerSecond}`)
  }

  /** Leaves so many bytes free. */
  fill(left) {
    this.#ballast = new Ballast(this.directory, left)
  }

  /** For good: a power strip that comes next would bring back what was not synced to be gone. */
  giveBack() {
    this.#ballast.giveBack()
    execFileSync("sync", ["--file-system", this.directory])
  }
}

/** Files of a directory whose names match, the largest first. */
export function filesOf(directory, pattern) {
  const files = readdirSync(directory).filter(name => pattern.test(name)).map(name => join(directory, name))
  return files.sort((one, other) => statSync(other).size - statSync(one).size)
}

/** Turns bits of a file over at places from `first` to `end` where there is something but padding, and leaves them so. */
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

/** Files as they are now, to tell later what was written to them since: a recycled file has old bytes behind the new ones. */
export class FilesBefore {
  #contents

  constructor(files) {
    this.#contents = new Map(files.map(file => [file, readFileSync(file)]))
  }

  /** From the first to the last byte of a file that is another one now. */
  changed(file) {
    const [before, now] = [this.#contents.get(file) ?? Buffer.alloc(0), readFileSync(file)]
    const differs = (byte, at) => byte !== (before[at] ?? 0)
    return { first: now.findIndex(differs), end: now.findLastIndex(differs) + 1 }
  }
}
