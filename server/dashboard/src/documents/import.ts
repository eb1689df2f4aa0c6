/** Imports a file of documents in parts, with progress. The import can be stopped and continued. */
import { type CsvOptions, linesOfCsv } from "./csv"
import { LocalFaults, MostBadLines, withoutProjections } from "./import-faults"
import { onePerLine, type Place, PlaceJudge } from "./json-lines"

export interface BadLine {
  line: number
  reason: string
}

export interface ImportState {
  /** Bytes of the file that were read, and the size of the file. */
  bytes: number
  totalBytes: number
  /** Unit of `lines`: lines, or documents if a document is not on one line. */
  place: Place
  /** Number of lines or documents that a node has answered. */
  lines: number
  stored: number
  bad: number
  /** The first bad lines. */
  badLines: BadLine[]
}

/** A node's answer to one part. Its lines are numbered from 1 within the part. */
export interface PartAnswer {
  stored: number
  bad: number
  badLines: BadLine[]
}

const LeastPart = 256 << 10
const MostPart = 8 << 20
const LongestLine = 16 << 20
const Newline = 10

/**
 * Sends a file in parts, each by `post`. Continues after the lines of `from`. Throws what `post` throws; the last state
 * given to `onProgress` is then the progress.
 */
export async function importFile(
  file: Blob,
  post: (part: Blob) => Promise<PartAnswer>,
  onProgress: (state: ImportState) => void,
  signal: AbortSignal,
  from?: ImportState,
  csv?: CsvOptions,
): Promise<ImportState> {
  const nothing: ImportState = {
    bytes: 0,
    totalBytes: file.size,
    place: "line",
    lines: 0,
    stored: 0,
    bad: 0,
    badLines: [],
  }
  let state = from ?? nothing
  let size = 1 << 20
  let read = 0
  const bytes = await bytesOf(file, (count) => {
    read += count
  })
  const faults = new LocalFaults()
  const { stream, place }: Documents = csv
    ? { stream: linesOfCsv(bytes, csv, (line, reason) => faults.add(line, reason)), place: "document" }
    : await documentsOf(bytes)
  for await (const part of partsOf(stream, () => size, state.lines)) {
    signal.throwIfAborted()
    const body = csv ? new Blob(part.chunks as BlobPart[]) : await withoutProjections(part.chunks, state.lines, faults)
    const refused = faults.takeThrough(state.lines, state.lines + part.lines)
    const begun = performance.now()
    const answer = await post(body)
    const took = performance.now() - begun
    // Aim at about a second for each part, so that a slow card also shows progress and a fast node is not slowed down.
    if (took < 500) size = Math.min(size * 2, MostPart)
    if (took > 2000) size = Math.max(size / 2, LeastPart)
    const badLines = answer.badLines.map(({ line, reason }) => ({
      line: line + state.lines,
      reason: reason.replace(/, line \d+, byte/, ", byte"),
    }))
    state = {
      bytes: Math.min(read, file.size),
      totalBytes: file.size,
      place,
      lines: state.lines + part.lines,
      stored: state.stored + answer.stored,
      bad: state.bad + answer.bad + refused.bad,
      badLines: [...state.badLines, ...[...badLines, ...refused.badLines].sort((one, other) => one.line - other.line)].slice(
        0,
        MostBadLines,
      ),
    }
    onProgress(state)
  }

  return state
}

/** Returns the bytes of a file, decompressed if it is gzip. */
async function bytesOf(file: Blob, onRead: (bytes: number) => void): Promise<ReadableStream<Uint8Array>> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  const isPacked = first === 0x1f && second === 0x8b
  const counted = file.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        onRead(chunk.length)
        controller.enqueue(chunk)
      },
      flush(controller) {
        // A truncated gzip file ends with an error, which discards decompressed bytes that are not read yet. This empty
        // chunk delays the error until they are read.
        if (isPacked) controller.enqueue(new Uint8Array())
      },
    }),
  )
  return isPacked
    ? counted.pipeThrough(new DecompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>)
    : counted
}

interface Documents {
  stream: ReadableStream<Uint8Array>
  place: Place
}

/** Returns the documents of a file, one a line. */
export async function documentsOf(bytes: ReadableStream<Uint8Array>): Promise<Documents> {
  const reader = bytes.getReader()
  let isEnd = false
  const next = async (): Promise<Uint8Array> => {
    const { value, done } = await reader.read()
    isEnd = done
    return value ?? new Uint8Array()
  }

  let beginning: Uint8Array = new Uint8Array()
  while (!isEnd && beginning.length < 64) beginning = joined(beginning, await next())
  checkBeginning(beginning)
  const judge = new PlaceJudge()
  const chunks = [withoutMark(beginning)]
  let length = beginning.length
  let place = judge.judge(withoutMark(beginning))
  while (place === null && !isEnd && length <= LongestLine) {
    const chunk = await next()
    chunks.push(chunk)
    length += chunk.length
    place = judge.judge(chunk)
  }

  const stream = new ReadableStream<Uint8Array>({
    async pull(control) {
      const chunk = chunks.shift() ?? (isEnd ? new Uint8Array() : await next())
      control.enqueue(chunk)
      if (isEnd && chunks.length === 0) control.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return place === "document" ? { stream: onePerLine(stream), place } : { stream, place: "line" }
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}

interface Part {
  chunks: Uint8Array[]
  lines: number
}

/**
 * Yields whole lines, about `size()` bytes at a time, without the first `skip` lines. Throws an error of the stream
 * after the lines before it.
 */
export async function* partsOf(stream: ReadableStream<Uint8Array>, size: () => number, skip = 0): AsyncGenerator<Part> {
  let held: Uint8Array[] = []
  let length = 0
  let fault: unknown = null
  const reader = stream.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) break
      let chunk = value
      while (skip > 0 && chunk.length > 0) {
        const end = chunk.indexOf(Newline)
        chunk = end < 0 ? chunk.subarray(chunk.length) : chunk.subarray(end + 1)
        if (end >= 0) skip--
      }

      const end = chunk.lastIndexOf(Newline) + 1
      if (end > 0 && length + end >= size()) {
        held.push(chunk.subarray(0, end))
        yield partOf(held)
        held = end < chunk.length ? [chunk.subarray(end)] : []
        length = chunk.length - end
      } else if (chunk.length > 0) {
        held.push(chunk)
        length += chunk.length
        if (end === 0 && length > LongestLine)
          throw new Error("A line of the file is longer than 16 MiB. A document has at most 8 MiB, and is on one line.")
      }
    }
  } catch (failure) {
    fault = failure
    held = wholeLines(held)
    length = held.length
  } finally {
    reader.cancel().catch(() => {})
  }

  if (length > 0) yield partOf(held)
  if (fault !== null) throw fault
}

/** Returns the chunks up to the last line end, and keeps the rest. */
function wholeLines(chunks: Uint8Array[]): Uint8Array[] {
  const last = chunks.findLastIndex((chunk) => chunk.includes(Newline))
  const end = chunks[last]
  return end ? [...chunks.slice(0, last), end.subarray(0, end.lastIndexOf(Newline) + 1)] : []
}

function partOf(chunks: Uint8Array[]): Part {
  let lines = 0
  let last = Newline
  for (const chunk of chunks) {
    for (let at = chunk.indexOf(Newline); at >= 0; at = chunk.indexOf(Newline, at + 1)) lines++
    last = chunk[chunk.length - 1] ?? last
  }

  return { chunks, lines: last === Newline ? lines : lines + 1 }
}

function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** Throws for files of other formats, with advice. */
function checkBeginning(bytes: Uint8Array) {
  const beginning = new TextDecoder().decode(bytes.subarray(0, 64)).trimStart()
  if (/^\{\s*"BuildVersion"/.test(beginning)) {
    throw new Error("This is a dump of RavenDB, which only `rookery import FILE` on the command line reads.")
  }

  if (beginning.startsWith("PK")) throw new Error("This is a ZIP archive. Unpack it, and import the file that is in it.")
}

/** Whether a file is CSV, by its name, because the content of a CSV file can look like anything. */
export function isCsv(name: string): boolean {
  return /\.(csv|tsv)(\.gz)?$/i.test(name)
}

/** Proposes a collection for a file: `new cities.csv` is `NewCities`. */
export function collectionOfFile(name: string): string {
  const words = name.replace(/\..*$/, "").match(/[\p{L}\p{N}]+/gu) ?? []
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("")
}

/** Parses the lines of an import's answer. */
export function readAnswer(text: string): PartAnswer {
  const answer: PartAnswer = { stored: 0, bad: 0, badLines: [] }
  let error = ""
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue
    const said = JSON.parse(line) as { BadLine?: number; Reason?: string; Result?: { Stored: number; Bad: number; Error?: string } }
    if (said.BadLine !== undefined) answer.badLines.push({ line: said.BadLine, reason: said.Reason ?? "" })
    if (said.Result) {
      answer.stored = said.Result.Stored
      answer.bad = said.Result.Bad
      error = said.Result.Error ?? ""
    }
  }

  if (error !== "") throw new Error(error)
  return answer
}
