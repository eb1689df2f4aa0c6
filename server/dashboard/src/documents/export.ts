import { bodyOf } from "../query/ask-query"
import { hasClause } from "../query/rql-text"
import { count } from "../shell/format"
import { send } from "../shell/request"
import { readOf } from "./store"

/** What to export: all documents, those of a collection, or those with an id prefix. */
export interface ExportOf {
  database: string
  /** The query in RQL; null to export by prefix, or all. */
  query: string | null
  /** The query's parameters as JSON; "" for none. */
  parameters?: string
  /** How long to wait for a stale index, in seconds; null for the node's default. */
  waitSeconds?: number | null
  prefix: string
}

/** A file with documents, and what the node said about them. */
export interface Export {
  file: Blob
  /** Whether they come from an index that lags behind the documents, so that some may be missing. */
  isStale: boolean
}

export interface ExportProgress {
  documents: number
  bytes: number
}

/** Bytes to collect in a piece before it becomes a blob. Browsers store large blobs on disk. */
const PieceBytes = 8 << 20
const Newline = 10

/** Downloads an export and returns it as a file. */
export async function exportDocuments(
  of: ExportOf,
  isPacked: boolean,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<Export> {
  const response = await send(...requestOf(of, signal))
  let progress: ExportProgress = { documents: 0, bytes: 0 }
  let stream: ReadableStream<Uint8Array> = response.body ?? new Blob([]).stream()
  let isStale = false
  if (of.query !== null) {
    const said = (statistics: Statistics) => {
      isStale = statistics.IsStale
    }
    // The total counts the results before these clauses apply. `filter_limit` can also end a filter early.
    stream = stream.pipeThrough(withoutEnvelope(!hasClause(of.query, "limit", "offset", "filter", "filter_limit"), said))
  }
  stream = stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        progress = { documents: progress.documents + newlines(chunk), bytes: progress.bytes + chunk.length }
        onProgress(progress)
        controller.enqueue(chunk)
      },
    }),
  )
  if (isPacked) stream = stream.pipeThrough(new CompressionStream("gzip") as unknown as ReadableWritablePair<Uint8Array, Uint8Array>)
  const file = await gather(stream, "application/x-ndjson", signal)
  return { file, isStale }
}

function requestOf(
  { database, query, parameters = "", waitSeconds = null, prefix }: ExportOf,
  signal: AbortSignal,
): Parameters<typeof send> {
  if (query !== null)
    return [
      readOf(database, "streams/queries", { format: "jsonl" }),
      { method: "POST", body: bodyOf({ text: query, parameters, waitSeconds }), signal },
    ]
  if (prefix !== "") return [readOf(database, "streams/docs", { format: "jsonl", startsWith: prefix }), { signal }]
  return [readOf(database, "export"), { signal }]
}

/** Collects a stream as a file, in pieces that a browser can move to its disk. */
export async function gather(stream: ReadableStream<Uint8Array>, type: string, signal: AbortSignal): Promise<Blob> {
  const pieces: Blob[] = []
  let held: Uint8Array[] = []
  let length = 0
  const keep = () => {
    pieces.push(new Blob(held as BlobPart[]))
    held = []
    length = 0
  }
  const reader = stream.getReader()
  try {
    for (;;) {
      const { value, done } = await reader.read()
      signal.throwIfAborted()
      if (done) break
      held.push(value)
      length += value.length
      if (length >= PieceBytes) keep()
    }
  } finally {
    reader.cancel().catch(() => {})
  }

  keep()
  return new Blob(pieces, { type })
}

function newlines(chunk: Uint8Array): number {
  let count = 0
  for (let at = chunk.indexOf(Newline); at >= 0; at = chunk.indexOf(Newline, at + 1)) count++
  return count
}

/** What a node says before the results of a streamed query. */
export interface Statistics {
  IsStale: boolean
  TotalResults: number
}

/**
 * Converts a streamed query to lines of documents. The stream has a line `{"Stats":…}` first, then a line `{"Item":…}`
 * for each document. Ends with an error if it has no statistics or, if `isCounted`, not as many documents as they say.
 */
export function withoutEnvelope(
  isCounted: boolean,
  onStatistics: (statistics: Statistics) => void,
): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ""
  let items = 0
  let statistics: Statistics | null = null
  const itemOf = (line: string) => {
    if (line.startsWith('{"Item":') && line.endsWith("}")) {
      items++
      return `${line.slice(8, -1)}\n`
    }

    if (line.startsWith('{"Stats":')) {
      statistics = (JSON.parse(line) as { Stats: Statistics }).Stats
      onStatistics(statistics)
    }

    if (line === "" || line.startsWith('{"Stats":')) return ""
    // Without this line, the rest would look complete.
    throw new Error(`The node sent a line that is not a result: ${line.slice(0, 200)}`)
  }
  const check = (said: Statistics | null) => {
    if (said === null) throw new Error("The node sent no statistics before the results. Try again.")
    // A stale index also counts documents that were deleted since.
    if (isCounted && !said.IsStale && items !== said.TotalResults)
      throw new Error(`The node sent ${count(items)} of ${count(said.TotalResults)} results. Try again.`)
  }
  const itemsOf = (lines: string[]) => lines.map(itemOf).join("")
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      const text = itemsOf(lines)
      if (text !== "") controller.enqueue(encoder.encode(text))
    },
    flush(controller) {
      const text = itemsOf([rest])
      if (text !== "") controller.enqueue(encoder.encode(text))
      check(statistics)
    },
  })
}

/** Added to the message about an export from a stale index. */
export const StaleSentence = "The index was stale: the last writes may be missing."

/** Makes the browser download a file. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
