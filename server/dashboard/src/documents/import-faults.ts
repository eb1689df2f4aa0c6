/** Lines of a file that this page refuses. It sends empty lines instead, so that the other lines keep their numbers. */
import type { BadLine } from "./import"

/** How many bad lines of a file are listed. */
export const MostBadLines = 500

/** The refused lines that are not yet counted with their part of the file. */
export class LocalFaults {
  // Reasons are kept for the listed lines only: a file may have millions of bad ones.
  private lines: number[] = []
  private readonly reasons = new Map<number, string>()

  /** Adds a line. Its number must be larger than those of the lines before. */
  add(line: number, reason: string): void {
    this.lines.push(line)
    if (this.reasons.size < MostBadLines) this.reasons.set(line, reason)
  }

  /** Returns the lines after `from` up to and including `through`. Forgets them, and those before them. */
  takeThrough(from: number, through: number): { bad: number; badLines: BadLine[] } {
    const found = this.lines.findIndex((line) => line > through)
    const end = found < 0 ? this.lines.length : found
    const taken = this.lines.slice(0, end).filter((line) => line > from)
    this.lines = this.lines.slice(end)
    const badLines = taken.flatMap((line) => {
      const reason = this.reasons.get(line)
      return reason === undefined ? [] : [{ line, reason }]
    })
    return { bad: taken.length, badLines }
  }
}

const Projected = "It is a query result with some fields only, and would replace the whole document of its @id. Import whole documents."
const Mark = new TextEncoder().encode('@projection"')
const Newline = 10

/**
 * Returns the lines of a part without projections: results that have only some fields of a document, but its id.
 * `before` is the number of lines before the part.
 */
export async function withoutProjections(chunks: readonly Uint8Array[], before: number, faults: LocalFaults): Promise<Blob> {
  const part = new Blob([...chunks] as BlobPart[])
  const bytes = new Uint8Array(await part.arrayBuffer())
  let rest = 0
  let line = before
  let counted = 0
  const kept: Uint8Array[] = []
  for (let at = indexOf(bytes, Mark, 0); at >= 0; ) {
    const begin = bytes.lastIndexOf(Newline, at) + 1
    const newline = bytes.indexOf(Newline, at)
    const end = newline < 0 ? bytes.length : newline
    line += newlines(bytes, counted, begin)
    counted = begin
    if (isProjection(bytes.subarray(begin, end))) {
      faults.add(line + 1, Projected)
      kept.push(bytes.subarray(rest, begin))
      rest = end
    }

    at = indexOf(bytes, Mark, end)
  }

  return kept.length === 0 ? part : new Blob([...kept, bytes.subarray(rest)] as BlobPart[])
}

function isProjection(line: Uint8Array): boolean {
  try {
    const { "@metadata": metadata } = JSON.parse(new TextDecoder().decode(line)) as { "@metadata"?: Record<string, unknown> }
    return metadata?.["@projection"] === true && "@id" in metadata
  } catch {
    // The node reports what is wrong with the line.
    return false
  }
}

function newlines(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let at = bytes.indexOf(Newline, from); at >= 0 && at < to; at = bytes.indexOf(Newline, at + 1)) count++
  return count
}

function indexOf(bytes: Uint8Array, mark: Uint8Array, from: number): number {
  const first = mark[0] ?? 0
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    let same = 1
    while (same < mark.length && bytes[at + same] === mark[same]) same++
    if (same === mark.length) return at
  }

  return -1
}
