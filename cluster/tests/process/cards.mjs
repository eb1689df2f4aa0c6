// File systems on loop devices that can be slow, full, broken or rotten, one for each node.
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync, writeFileSync, writeSync } from "node:fs"
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

  giveBack() {
    this.#ballast.giveBack()
  }
}

/** Files of a directory whose names match, the largest first. */
export function filesOf(directory, pattern) {
  const files = readdirSync(directory).filter(name => pattern.test(name)).map(name => join(directory, name))
  return files.sort((one, other) => statSync(other).size - statSync(one).size)
}

/** Turns bits of a file over at places from `first` to `end`, and leaves them so. */
export function rot(file, chance, { first = 0, end = statSync(file).size, places = 3 } = {}) {
  const descriptor = openSync(file, "r+")
  const offsets = Array.from({ length: places }, () => chance.between(first, end - 1))
  for (const offset of offsets) {
    const byte = Buffer.alloc(1)
    readSync(descriptor, byte, 0, 1, offset)
    byte[0] ^= 1 << chance.between(0, 7)
    writeSync(descriptor, byte, 0, 1, offset)
  }

  closeSync(descriptor)
  return offsets
}
