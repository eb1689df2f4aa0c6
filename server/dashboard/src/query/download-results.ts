import { CsvColumns, csvHead, csvRow } from "../documents/csv"
import { type Export, type ExportOf, type ExportProgress, exportDocuments, gather } from "../documents/export"
import { type Node, parseJson } from "../documents/json-text"

export type Form = "json" | "ndjson" | "csv"

export const Forms: readonly { form: Form; title: string; type: string }[] = [
  { form: "json", title: "JSON", type: "application/json" },
  { form: "ndjson", title: "NDJSON", type: "application/x-ndjson" },
  { form: "csv", title: "CSV", type: "text/csv" },
]

const Newline = 10
const Comma = 44

/** Returns all results of a query, not only those of a page, as a file. */
export async function resultsAs(
  form: Form,
  of: ExportOf,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<Export> {
  const found = await exportDocuments(of, false, onProgress, signal)
  if (form === "ndjson") return found
  if (form === "csv") return { ...found, file: await csvOfLines(found.file, signal) }
  return { ...found, file: await gather(found.file.stream().pipeThrough(arrayOfLines()), "application/json", signal) }
}

/**
 * Returns lines of JSON as CSV. Reads them twice, because the columns are known at their end only, and holds one piece of
 * them in memory.
 */
export async function csvOfLines(lines: Blob, signal: AbortSignal): Promise<Blob> {
  const columns = new CsvColumns()
  for await (const items of itemsOf(lines, signal)) for (const { text, node } of items) columns.add(text, node)
  const names = columns.all
  const encoder = new TextEncoder()
  const items = itemsOf(lines, signal)
  const rows = new ReadableStream<Uint8Array>({
    start(control) {
      control.enqueue(encoder.encode(csvHead(names)))
    },
    async pull(control) {
      const { value, done } = await items.next()
      if (done) control.close()
      else control.enqueue(encoder.encode(value.map(({ text, node }) => csvRow(names, text, node)).join("")))
    },
  })
  return gather(rows, "text/csv", signal)
}

/** Yields the items of lines, as many at a time as a piece of the file has. */
async function* itemsOf(lines: Blob, signal: AbortSignal): AsyncGenerator<{ text: string; node: Node }[]> {
  const reader = lines.stream().getReader()
  const decoder = new TextDecoder()
  let rest = ""
  for (;;) {
    signal.throwIfAborted()
    const { value, done } = await reader.read()
    const texts = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split("\n")
    rest = done ? "" : (texts.pop() ?? "")
    yield texts.filter((text) => text !== "").map(itemOf)
    if (done) return
  }
}

function itemOf(text: string): { text: string; node: Node } {
  const { node, fault } = parseJson(text)
  if (fault) throw new Error(`The node sent a result that is not JSON: ${fault.message}`)
  return { text, node }
}

/** Converts lines of JSON to one array, an item on each line. */
export function arrayOfLines(): TransformStream<Uint8Array, Uint8Array> {
  const text = (value: string) => new TextEncoder().encode(value)
  let isAfterLine = false
  return new TransformStream({
    start(control) {
      control.enqueue(text("[\n"))
    },
    transform(chunk, control) {
      let from = 0
      const pieces: Uint8Array[] = []
      for (let at = 0; at < chunk.length; at++) {
        if (isAfterLine) {
          pieces.push(chunk.subarray(from, at), Uint8Array.of(Comma, Newline))
          from = at
          isAfterLine = false
        }

        if (chunk[at] === Newline) {
          pieces.push(chunk.subarray(from, at))
          from = at + 1
          isAfterLine = true
        }
      }

      pieces.push(chunk.subarray(from))
      for (const piece of pieces) if (piece.length > 0) control.enqueue(piece)
    },
    flush(control) {
      control.enqueue(text("\n]\n"))
    },
  })
}
