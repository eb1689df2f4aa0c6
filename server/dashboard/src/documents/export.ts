import { send } from "../shell/request"
import { readOf } from "./store"

/** What to export: all documents, those of a collection, or those with an id prefix. */
export interface ExportOf {
  database: string
  /** The query in RQL; null to export by prefix, or all. */
  query: string | null
  /** The query's parameters as JSON; "" for none. */
  parameters?: string
  prefix: string
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
): Promise<Blob> {
  const response = await send(...requestOf(of, signal))
  let progress: ExportProgress = { documents: 0, bytes: 0 }
  let stream: ReadableStream<Uint8Array> = response.body ?? new Blob([]).stream()
  if (of.query !== null) stream = stream.pipeThrough(withoutEnvelope())
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
  return gather(stream)
}

function requestOf({ database, query, parameters = "", prefix }: ExportOf, signal: AbortSignal): Parameters<typeof send> {
  if (query !== null)
    return [readOf(database, "streams/queries", { format: "jsonl" }), { method: "POST", body: queryBody(query, parameters), signal }]
  if (prefix !== "") return [readOf(database, "streams/docs", { format: "jsonl", startsWith: prefix }), { signal }]
  return [readOf(database, "export"), { signal }]
}

// As text, because parsing the parameters would round their numbers.
function queryBody(query: string, parameters: string): string {
  return `{"Query":${JSON.stringify(query)}${parameters.trim() === "" ? "" : `,"QueryParameters":${parameters.trim()}`}}`
}

async function gather(stream: ReadableStream<Uint8Array>): Promise<Blob> {
  const pieces: Blob[] = []
  let held: Uint8Array[] = []
  let length = 0
  const keep = () => {
    pieces.push(new Blob(held as BlobPart[]))
    held = []
    length = 0
  }
  const reader = stream.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    held.push(value)
    length += value.length
    if (length >= PieceBytes) keep()
  }

  keep()
  return new Blob(pieces, { type: "application/x-ndjson" })
}

function newlines(chunk: Uint8Array): number {
  let count = 0
  for (let at = chunk.indexOf(Newline); at >= 0; at = chunk.indexOf(Newline, at + 1)) count++
  return count
}

/**
 * Converts a streamed query to lines of documents. The stream has a line `{"Stats":…}` first, then a line `{"Item":…}`
 * for each document.
 */
export function withoutEnvelope(): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  let rest = ""
  const itemOf = (line: string) => {
    if (line.startsWith('{"Item":')) return `${line.slice(8, -1)}\n`
    if (line === "" || line.startsWith('{"Stats":')) return ""
    // Left out, the rest would look whole.
    throw new Error(`The node sent a line that is no result: ${line.slice(0, 200)}`)
  }
  const itemsOf = (lines: string[]) => lines.map(itemOf).join("")
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      const items = itemsOf(lines)
      if (items !== "") controller.enqueue(encoder.encode(items))
    },
    flush(controller) {
      const items = itemsOf([rest])
      if (items !== "") controller.enqueue(encoder.encode(items))
    },
  })
}

/** Makes the browser download a file. */
export function download(file: Blob, name: string): void {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
