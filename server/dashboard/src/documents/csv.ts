import { compact, type Node, parseJson, stringOf } from "./json-text"

/** How the rows of a CSV file become documents. */
export interface CsvOptions {
  /** The collection of documents whose row names none; "" for none. */
  collection: string
  /** Whether numbers, true, false and JSON are read as such; otherwise every value is a text. */
  isTyped: boolean
}

/** Columns that become metadata of a document. */
const MetadataColumns = new Set(["@id", "@collection", "@expires"])
const LongestRow = 8 << 20

/** Splits text into rows of values by RFC 4180; the separator is that of the first row. Takes text in pieces. */
export class CsvRows {
  private row: string[] = []
  private value = ""
  private isQuoted = false
  private wasQuoted = false
  private afterReturn = false
  private separator = ""
  private head = ""
  private length = 0

  /** Takes the next piece and returns the rows that end in it. */
  push(text: string): string[][] {
    if (this.separator === "") {
      this.head += text
      if (!/[\r\n]/.test(this.head) && this.head.length < LongestRow) return []
      return this.begin()
    }

    return this.read(text)
  }

  /** Returns the last row, if no line end follows it. Throws within quotation marks. */
  finish(): string[][] {
    const rows = this.separator === "" ? this.begin() : []
    if (this.isQuoted) throw new Error("The file ends within quotation marks.")
    if (this.value !== "" || this.wasQuoted || this.row.length > 0) rows.push(this.endRow())
    return rows
  }

  private begin(): string[][] {
    const text = this.head.replace(/^\uFEFF/, "")
    const line = (/^[^\r\n]*/.exec(text)?.[0] ?? "").replace(/"[^"]*"/g, "")
    const count = (sign: string) => line.split(sign).length - 1
    this.separator = [";", "\t"].reduce((best, sign) => (count(sign) > count(best) ? sign : best), ",")
    this.head = ""
    return this.read(text)
  }

  private read(text: string): string[][] {
    const rows: string[][] = []
    for (const sign of text) {
      if (++this.length > LongestRow) throw new Error("A row is longer than 8 MiB: a quotation mark is not closed, or this is no CSV.")
      if (this.isQuoted) {
        if (sign === '"') this.isQuoted = false
        else this.value += sign
      } else if (sign === '"' && this.wasQuoted) {
        // A doubled quotation mark is one.
        this.value += sign
        this.isQuoted = true
      } else if (sign === '"' && this.value === "") {
        this.isQuoted = true
        this.wasQuoted = true
      } else if (sign === this.separator) {
        this.endValue()
      } else if (sign === "\n" || sign === "\r") {
        if (!(sign === "\n" && this.afterReturn)) rows.push(this.endRow())
      } else {
        this.value += sign
      }

      this.afterReturn = sign === "\r" && !this.isQuoted
    }

    // An empty line is no row.
    return rows.filter((row) => row.length > 1 || row[0] !== "")
  }

  private endValue(): void {
    this.row.push(this.value)
    this.value = ""
    this.wasQuoted = false
  }

  private endRow(): string[] {
    this.endValue()
    const row = this.row
    this.row = []
    this.length = 0
    return row
  }
}

/** Returns a document as JSON on one line, from the values of a row. */
export function documentOfRow(names: readonly string[], row: readonly string[], { collection, isTyped }: CsvOptions): string {
  const members: string[] = []
  const metadata: string[] = []
  let hasCollection = false
  for (const [at, value] of row.entries()) {
    const name = names[at] ?? ""
    // A missing value is no member, and not an empty text.
    if (value === "") continue
    if (MetadataColumns.has(name)) {
      metadata.push(`${JSON.stringify(name)}:${JSON.stringify(value)}`)
      hasCollection ||= name === "@collection"
    } else {
      members.push(`${JSON.stringify(name)}:${isTyped ? typed(value) : JSON.stringify(value)}`)
    }
  }

  if (!hasCollection && collection !== "") metadata.push(`"@collection":${JSON.stringify(collection)}`)
  if (metadata.length > 0) members.push(`"@metadata":{${metadata.join(",")}}`)
  return `{${members.join(",")}}`
}

/** Numbers stay as written; "007" and "1e5x" are texts. */
function typed(value: string): string {
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(value) || value === "true" || value === "false" || value === "null") return value
  if (/^[[{]/.test(value)) {
    const { node, fault } = parseJson(value)
    if (fault === null && node) return compact(value, node)
  }

  return JSON.stringify(value)
}

/** Converts a CSV file to documents, one a line. The first row has the names. */
export function linesOfCsv(bytes: ReadableStream<Uint8Array>, options: CsvOptions): ReadableStream<Uint8Array> {
  const reader = bytes.getReader()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const encoder = new TextEncoder()
  const rows = new CsvRows()
  let names: string[] | null = null
  let number = 0
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch {
      throw new Error("The file is not UTF-8. Save it as CSV in UTF-8.")
    }
  }
  const convert = (found: readonly string[][]) => {
    let text = ""
    for (const row of found) {
      number++
      if (names === null) names = checkedNames(row)
      else if (row.length > names.length)
        throw new WrongRow(text, `Row ${number} has ${row.length} values, and the first row names ${names.length} columns.`)
      else text += `${documentOfRow(names, row, options)}\n`
    }

    return text
  }
  let trouble: unknown = null
  return new ReadableStream<Uint8Array>({
    async pull(control) {
      // The rows before a wrong one were delivered; now it is told.
      if (trouble !== null) throw trouble
      try {
        for (;;) {
          const { value, done } = await reader.read()
          const text = convert(done ? [...rows.push(decode()), ...rows.finish()] : rows.push(decode(value)))
          if (text !== "") control.enqueue(encoder.encode(text))
          if (done) control.close()
          if (done || text !== "") return
        }
      } catch (failure) {
        if (!(failure instanceof WrongRow) || failure.before === "") throw failure
        trouble = failure
        control.enqueue(encoder.encode(failure.before))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

class WrongRow extends Error {
  constructor(
    readonly before: string,
    message: string,
  ) {
    super(message)
  }
}

function checkedNames(row: readonly string[]): string[] {
  const names = row.map((name) => name.trim())
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (names.includes("")) throw new Error(`Column ${names.indexOf("") + 1} has no name in the first row.`)
  if (twice !== undefined) throw new Error(`Two columns are named ${twice}.`)
  return names
}

/** Returns results as CSV: a column for each member, the id first. Values that are no texts are written as JSON. */
export function csvOf(items: readonly { text: string; node: Node }[]): string {
  const rows = items.map(({ text, node }) => {
    const cells = new Map<string, string>()
    for (const member of node.members ?? []) {
      if (member.name !== "@metadata") cells.set(member.name, cellOf(text, member.value))
    }

    const metadata = node.members?.find((member) => member.name === "@metadata")?.value
    for (const name of ["@id", "@collection"]) {
      const value = metadata?.members?.find((member) => member.name === name)?.value
      if (value) cells.set(name, cellOf(text, value))
    }

    return cells
  })
  const names = new Set(["@id", "@collection"].filter((name) => rows.some((cells) => cells.has(name))))
  for (const cells of rows) for (const name of cells.keys()) names.add(name)
  const lines = [[...names].map(quoted), ...rows.map((cells) => [...names].map((name) => quoted(cells.get(name) ?? "")))]
  return lines.map((line) => `${line.join(",")}\r\n`).join("")
}

function cellOf(text: string, node: Node): string {
  return node.kind === "string" ? stringOf(text, node) : compact(text, node)
}

function quoted(value: string): string {
  return /[",;\t\r\n]|^\s|\s$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}
