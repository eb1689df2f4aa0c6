// Reads the log of QEMU's blklogwrites driver (the format of Linux's dm-log-writes) and rebuilds what a disk may
// contain after a power cut.
import { closeSync, openSync, readSync, writeSync } from 'node:fs'

const MAGIC = 0x6a736677736872n
const FLUSH = 1n
const FUA = 2n
const DISCARD = 4n
const MARK = 8n

/** The number of entries in the log when its header was last written. The header is written with each flush, so entries after the last returned sync are not counted. */
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
  if (header.readBigUInt64LE(0) !== MAGIC) throw new Error(`${path} is not a block log`)
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

/** A small generator of random numbers in [0, 1), repeatable by its seed (mulberry32). */
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

// The superblock of ext4 occupies two sectors from byte 1,024 on, and contains a checksum. Real media write blocks of 4
// KiB, so they do not tear it. A torn superblock would prevent mounting, which says nothing about the program under
// test. So both sectors are kept or dropped together.
const SUPERBLOCK_SECTOR = 2

/**
 * `target` is a copy of the disk before the log began. Turns it into what the disk may contain if power is cut before
 * entry `cut`: everything up to the last flush before the cut, and each sector that was written since with probability
 * one half (the superblock completely or not at all).
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
