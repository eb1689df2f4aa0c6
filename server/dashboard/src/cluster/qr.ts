/**
 * A QR code (ISO/IEC 18004) of a text: byte mode, error correction level M, versions 1 to 15, which is up to 412 bytes.
 * Written here instead of using a package, because only join tokens and kiosk links are shown as QR codes.
 */

/**
 * For each version from 1: error correction codewords per block, number of short blocks, data codewords per short
 * block, number of long blocks (one data codeword more).
 */
const blocks: readonly (readonly [number, number, number, number])[] = [
  [10, 1, 16, 0],
  [16, 1, 28, 0],
  [26, 1, 44, 0],
  [18, 2, 32, 0],
  [24, 2, 43, 0],
  [16, 4, 27, 0],
  [18, 4, 31, 0],
  [22, 2, 38, 2],
  [22, 3, 36, 2],
  [26, 4, 43, 1],
  [30, 1, 50, 4],
  [22, 6, 36, 2],
  [22, 8, 37, 1],
  [24, 4, 40, 5],
  [24, 5, 41, 5],
]

/** Centres of the alignment patterns, by version. */
const alignments: readonly (readonly number[])[] = [
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
  [6, 30, 54],
  [6, 32, 58],
  [6, 34, 62],
  [6, 26, 46, 66],
  [6, 26, 48, 70],
]

const masks: readonly ((row: number, column: number) => boolean)[] = [
  (r, c) => (r + c) % 2 === 0,
  (r) => r % 2 === 0,
  (_, c) => c % 3 === 0,
  (r, c) => (r + c) % 3 === 0,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2 === 0,
  (r, c) => ((r * c) % 2) + ((r * c) % 3) === 0,
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2 === 0,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2 === 0,
]

const FormatOfM = 0b00
const FormatGenerator = 0b101_0011_0111
const FormatMask = 0b101_0100_0001_0010
const VersionGenerator = 0b1_1111_0010_0101

/**
 * Returns the rows of modules (true is dark), without the quiet zone of four modules around them. Chooses the mask with
 * the lowest penalty unless one is given.
 */
export function qrCode(text: string, mask?: number): boolean[][] {
  const bytes = new TextEncoder().encode(text)
  const version = smallestFor(bytes.length)
  const codewords = interleave(dataOf(bytes, version), version)
  let best: boolean[][] = []
  let least = Number.POSITIVE_INFINITY
  for (let one = 0; one < masks.length; one++) {
    if (mask !== undefined && one !== mask) continue
    const modules = draw(codewords, version, one)
    const penalty = penaltyOf(modules)
    if (penalty < least) {
      least = penalty
      best = modules
    }
  }

  return best
}

function capacityOf(version: number): number {
  const [, count, length, longer] = blocksOf(version)
  return count * length + longer * (length + 1)
}

function blocksOf(version: number): readonly [number, number, number, number] {
  const of = blocks[version - 1]
  if (!of) throw new RangeError(`There is no version ${version}.`)
  return of
}

function smallestFor(length: number): number {
  for (let version = 1; version <= blocks.length; version++) {
    // Mode, length and terminator take 16 bits; 24 from version 10 on.
    if (length + (version < 10 ? 2 : 3) <= capacityOf(version)) return version
  }

  throw new RangeError(`A text of ${length} bytes is too long for a QR code of version ${blocks.length}.`)
}

function dataOf(bytes: Uint8Array, version: number): Uint8Array {
  const bits: number[] = []
  const push = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1)
  }
  push(0b0100, 4)
  push(bytes.length, version < 10 ? 8 : 16)
  for (const byte of bytes) push(byte, 8)
  const data = new Uint8Array(capacityOf(version))
  bits.forEach((bit, at) => {
    data[at >> 3] = (data[at >> 3] ?? 0) | (bit << (7 - (at & 7)))
  })
  // The terminator (four zeros) is already there; 0xEC and 0x11 alternate as padding.
  for (let at = Math.ceil((bits.length + 4) / 8), pad = 0xec; at < data.length; at++, pad ^= 0xec ^ 0x11) data[at] = pad
  return data
}

/** Splits the data into blocks, adds their error correction, and interleaves the codewords of all blocks. */
function interleave(data: Uint8Array, version: number): Uint8Array {
  const [correction, count, length, longer] = blocksOf(version)
  const generator = generatorOf(correction)
  const parts: Uint8Array[] = []
  const checks: Uint8Array[] = []
  for (let block = 0, at = 0; block < count + longer; block++) {
    const part = data.subarray(at, at + length + (block < count ? 0 : 1))
    at += part.length
    parts.push(part)
    checks.push(remainderOf(part, generator))
  }

  const codewords: number[] = []
  for (const group of [parts, checks]) {
    const most = Math.max(...group.map((part) => part.length))
    for (let at = 0; at < most; at++) {
      for (const part of group) {
        const codeword = part[at]
        if (codeword !== undefined) codewords.push(codeword)
      }
    }
  }

  return Uint8Array.from(codewords)
}

/** Multiplies in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
  let product = 0
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ ((product >> 7) * 0x11d)
    if ((b >> bit) & 1) product ^= a
  }

  return product
}

/** Returns the coefficients of (x - 1)(x - 2)(x - 4) … without the first one, which is 1. */
function generatorOf(degree: number): Uint8Array {
  const generator = new Uint8Array(degree)
  generator[degree - 1] = 1
  for (let at = 0, root = 1; at < degree; at++, root = multiply(root, 2)) {
    for (let one = 0; one < degree; one++) generator[one] = multiply(generator[one] ?? 0, root) ^ (generator[one + 1] ?? 0)
  }

  return generator
}

function remainderOf(part: Uint8Array, generator: Uint8Array): Uint8Array {
  const remainder = new Uint8Array(generator.length)
  for (const codeword of part) {
    const factor = codeword ^ (remainder[0] ?? 0)
    remainder.copyWithin(0, 1)
    remainder[remainder.length - 1] = 0
    for (let at = 0; at < generator.length; at++) remainder[at] = (remainder[at] ?? 0) ^ multiply(generator[at] ?? 0, factor)
  }

  return remainder
}

function draw(codewords: Uint8Array, version: number, mask: number): boolean[][] {
  const size = version * 4 + 17
  const modules = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
  const isFixed = Array.from({ length: size }, () => new Array<boolean>(size).fill(false))
  const set = (row: number, column: number, dark: boolean) => {
    const line = modules[row]
    const fixed = isFixed[row]
    if (!line || !fixed || column < 0 || column >= size) return
    line[column] = dark
    fixed[column] = true
  }

  // Timing patterns.
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0)
    set(at, 6, at % 2 === 0)
  }

  // Finder patterns; distance 4 is the light separator.
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ] as const) {
    square(set, row, column, 4, (distance) => distance !== 2 && distance !== 4)
  }

  // Alignment patterns.
  const centres = alignments[version - 1] ?? []
  const last = centres.at(-1)
  for (const row of centres) {
    for (const column of centres) {
      const isFinder = (row === 6 && column === 6) || (row === 6 && column === last) || (row === last && column === 6)
      if (!isFinder) square(set, row, column, 2, (distance) => distance !== 1)
    }
  }

  drawFormat(set, size, mask)
  if (version >= 7) drawVersion(set, size, version)
  place(modules, isFixed, codewords, masks[mask] ?? (() => false))
  return modules
}

type SetModule = (row: number, column: number, dark: boolean) => void

function square(set: SetModule, row: number, column: number, reach: number, isDark: (distance: number) => boolean): void {
  for (let down = -reach; down <= reach; down++) {
    for (let right = -reach; right <= reach; right++) set(row + down, column + right, isDark(Math.max(Math.abs(down), Math.abs(right))))
  }
}

/** Appends to a value the remainder of its division by the generator (a BCH code). */
function withRemainder(value: number, generator: number, bits: number): number {
  let rest = value << bits
  for (let bit = 31 - Math.clz32(rest); bit >= bits; bit = 31 - Math.clz32(rest)) rest ^= generator << (bit - bits)
  return (value << bits) | rest
}

function drawFormat(set: SetModule, size: number, mask: number): void {
  const format = withRemainder((FormatOfM << 3) | mask, FormatGenerator, 10) ^ FormatMask
  const isDark = (bit: number) => ((format >> bit) & 1) === 1
  // The format bits occur twice: around the first finder, and beside the other two. They skip the timing patterns.
  for (let bit = 0; bit < 15; bit++) {
    set(bit < 6 ? bit : bit < 8 ? bit + 1 : 8, bit < 8 ? 8 : bit === 8 ? 7 : 14 - bit, isDark(bit))
    set(bit < 8 ? 8 : size - 15 + bit, bit < 8 ? size - 1 - bit : 8, isDark(bit))
  }

  // The dark module, always set.
  set(size - 8, 8, true)
}

function drawVersion(set: SetModule, size: number, version: number): void {
  const code = withRemainder(version, VersionGenerator, 12)
  for (let bit = 0; bit < 18; bit++) {
    const dark = ((code >> bit) & 1) === 1
    const near = Math.floor(bit / 3)
    const far = size - 11 + (bit % 3)
    set(near, far, dark)
    set(far, near, dark)
  }
}

/**
 * Places the bits in pairs of columns from the right, alternately up and down, and applies the mask. Remaining modules
 * are light before the mask.
 */
function place(
  modules: boolean[][],
  isFixed: boolean[][],
  codewords: Uint8Array,
  isFlipped: (row: number, column: number) => boolean,
): void {
  const size = modules.length
  let bit = 0
  for (let right = size - 1, up = true; right > 0; right -= right === 8 ? 3 : 2, up = !up) {
    for (let step = 0; step < size; step++) {
      const row = up ? size - 1 - step : step
      for (const column of [right, right - 1]) {
        const line = modules[row]
        if (!line || isFixed[row]?.[column]) continue
        const dark = (((codewords[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1) === 1
        line[column] = dark !== isFlipped(row, column)
        bit++
      }
    }
  }
}

/** Returns the standard's penalty of a code: the higher, the harder it is to read. */
function penaltyOf(modules: boolean[][]): number {
  const size = modules.length
  let penalty = 0
  let dark = 0
  const lines = [...modules, ...modules.map((_, column) => modules.map((row) => row[column] ?? false))]
  for (const line of lines) {
    let run = 0
    for (let at = 0; at < size; at++) {
      run = at > 0 && line[at] === line[at - 1] ? run + 1 : 1
      if (run === 5) penalty += 3
      else if (run > 5) penalty++
      if (looksLikeFinder(line, at)) penalty += 40
    }
  }

  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const one = modules[row]?.[column]
      if (one) dark++
      if (
        row > 0 &&
        column > 0 &&
        one === modules[row - 1]?.[column] &&
        one === modules[row]?.[column - 1] &&
        one === modules[row - 1]?.[column - 1]
      )
        penalty += 3
    }
  }

  return penalty + 10 * Math.floor(Math.abs((dark / (size * size)) * 20 - 10))
}

/**
 * Whether the pattern of a finder (1 dark, 1 light, 3 dark, 1 light, 1 dark) begins here, with four light modules
 * before or after it.
 */
function looksLikeFinder(line: boolean[], at: number): boolean {
  const pattern = [true, false, true, true, true, false, true]
  const matches = (from: number, wanted: boolean[]) =>
    from >= 0 && from + wanted.length <= line.length && wanted.every((dark, step) => line[from + step] === dark)
  const quiet = [false, false, false, false]
  return matches(at, [...pattern, ...quiet]) || matches(at, [...quiet, ...pattern])
}
