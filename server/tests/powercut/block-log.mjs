// Reads the log of QEMU's blklogwrites driver (the format of Linux's dm-log-writes) and rebuilds what a disk may hold after power was cut.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const MAGIC = 0x6a736677736872n
const FLUSH = 1n
const FUA = 2n
const DISCARD = 4n
const MARK = 8n

/** How many entries the log held when its header was last written. A header is written with each flush, so this never runs ahead of a returned sync. */
export function countEntries(logFile) {
  const header = Buffer.alloc(28)
  readSync(logFile, header, 0, 28, 0)
  return header.readBigUInt64LE(0) === MAGIC ? Number(header.readBigUInt64LE(16)) : 0
}

/** The entries in order: {sector, sectors, isFlush, isDurable, isDiscard, dataOffset}. */
export function readEntries(path) {
  const file = openSync(path, 'r')
  const header = Buffer.alloc(28)
  readSync(file, header, 0, 28, 0)
  if (header.readBigUInt64LE(0) !== MAGIC) throw new Error(`${path} is no block log`)
  const count = Number(header.readBigUInt64LE(16))
  const sectorBytes = header.readUInt32LE(24)
  const entries = []
  const raw = Buffer.alloc(32)
  let offset = sectorBytes
  for (let number = 0; number < count; number++) {
    readSync(file, raw, 0, 32, offset)
    const flags = raw.readBigUInt64LE(16)
    const entry = {
      sector: Number(raw.readBigUInt64LE(0)),
      sectors: Number(raw.readBigUInt64LE(8)),
      isFlush: (flags & FLUSH) !== 0n,
      isDurable: (flags & FUA) !== 0n,
      isDiscard: (flags & DISCARD) !== 0n,
      dataOffset: offset + sectorBytes,
    }
    const carriesData = (flags & (DISCARD | MARK)) === 0n
    offset += sectorBytes + (carriesData ? entry.sectors * sectorBytes : 0)
    entries.push(entry)
  }
  closeSync(file)
  return { entries, sectorBytes }
}

/** A small generator of numbers in [0, 1) that a seed repeats (mulberry32). */
export function seededRandom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

// The superblock of ext4, 1,024 bytes from byte 1,024 on, is two sectors and carries a checksum. Media write blocks of 4 KiB, so it is not torn there; a torn one would keep
// the file system from being mounted, with which no program's promise has to do. Its two sectors go together.
const SUPERBLOCK_SECTOR = 2

/**
 * Turns `target`, a copy of the disk before the log began, into what the disk may hold when power goes before entry `cut`:
 * everything up to the last flush before it, and of what was written since, each sector with probability one half (a superblock whole or not at all).
 */
export function buildCrashImage({ log, target, cut, seed }) {
  const { entries, sectorBytes } = readEntries(log)
  const random = seededRandom(seed)
  let lastFlush = 0
  for (let number = 0; number < cut; number++) if (entries[number].isFlush) lastFlush = number
  const from = openSync(log, 'r')
  const to = openSync(target, 'r+')
  let dropped = 0
  for (let number = 0; number < cut; number++) {
    const entry = entries[number]
    if (entry.isDiscard || entry.sectors === 0) continue
    const data = Buffer.alloc(entry.sectors * sectorBytes)
    readSync(from, data, 0, data.length, entry.dataOffset)
    if (number <= lastFlush || entry.isDurable) {
      writeSync(to, data, 0, data.length, entry.sector * sectorBytes)
      continue
    }
    let isDropped = false
    for (let sector = 0; sector < entry.sectors; sector++) {
      const isSecondHalf = sector > 0 && entry.sector + sector === SUPERBLOCK_SECTOR + 1
      isDropped = isSecondHalf ? isDropped : random() < 0.5
      if (isDropped) {
        dropped++
        continue
      }
      writeSync(to, data, sector * sectorBytes, sectorBytes, (entry.sector + sector) * sectorBytes)
    }
  }
  closeSync(from)
  closeSync(to)
  return { dropped, entries: entries.length }
}
