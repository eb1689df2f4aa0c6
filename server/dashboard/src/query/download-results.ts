import { csvOf } from "../documents/csv"
import { type ExportOf, type ExportProgress, exportDocuments } from "../documents/export"
import { parseJson } from "../documents/json-text"
import { bytes } from "../shell/format"

export type Form = "json" | "ndjson" | "csv"

export const Forms: readonly { form: Form; title: string; type: string }[] = [
  { form: "json", title: "JSON", type: "application/json" },
  { form: "ndjson", title: "NDJSON", type: "application/x-ndjson" },
  { form: "csv", title: "CSV", type: "text/csv" },
]

// The columns of CSV are known at the end only, so all is held in memory.
const LongestCsv = 128 << 20
const Newline = 10
const Comma = 44

/** Returns all results of a query, not only those of a page, as a file. */
export async function resultsAs(
  form: Form,
  of: ExportOf,
  onProgress: (progress: ExportProgress) => void,
  signal: AbortSignal,
): Promise<Blob> {
  const lines = await exportDocuments(of, false, onProgress, signal)
  if (form === "ndjson") return lines
  if (form === "json") return new Response(lines.stream().pipeThrough(arrayOfLines())).blob()
  if (lines.size > LongestCsv) {
    throw new Error(`The results have ${bytes(lines.size)}, and this page writes at most ${bytes(LongestCsv)} as CSV. Download NDJSON.`)
  }

  return new Blob([csvOfLines(await lines.text())], { type: "text/csv" })
}

/** Returns lines of JSON as CSV. */
export function csvOfLines(lines: string): string {
  const items = lines.split("\n").flatMap((text) => {
    if (text === "") return []
    const { node, fault } = parseJson(text)
    if (fault) throw new Error(`The node sent a result that is no JSON: ${fault.message}`)
    return [{ text, node }]
  })
  return csvOf(items)
}

/** Converts lines of JSON to one array, an item on each line. */
export function arrayOfLines(): TransformStream<Uint8Array, Uint8Array> {
  const text = (value: string) => new TextEncoder().encode(value)
  let isBehindLine = false
  return new TransformStream({
    start(control) {
      control.enqueue(text("[\n"))
    },
    transform(chunk, control) {
      let from = 0
      const pieces: Uint8Array[] = []
      for (let at = 0; at < chunk.length; at++) {
        if (isBehindLine) {
          pieces.push(chunk.subarray(from, at), Uint8Array.of(Comma, Newline))
          from = at
          isBehindLine = false
        }

        if (chunk[at] === Newline) {
          pieces.push(chunk.subarray(from, at))
          from = at + 1
          isBehindLine = true
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
