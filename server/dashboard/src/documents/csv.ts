import { type CsvRow, CsvRows, type CsvValue } from "./csv-rows"
import { compact, memberOf, type Node, parseJson, stringOf } from "./json-text"

/** How the rows of a CSV file become documents. */
export interface CsvOptions {
  /** The collection of documents whose row names none; "" for none. */
  collection: string
  /** Whether numbers, true, false and JSON are read as such; otherwise every value is a text. */
  isTyped: boolean
}

/** Columns that become metadata of a document. */
const MetadataColumns = ["@id", "@collection", "@expires"]

/** Number of rows that decide the types of the columns. They are held in memory until then. */
const DecidingRows = 1000

/**
 * The type of a column's values. All columns are "marked" if all names in the first row are quoted, as in the files of
 * this page. Then quotation marks say which values are texts, and the other values are read as JSON.
 */
export type ColumnType = "number" | "boolean" | "json" | "text" | "marked"

/** A row that cannot become a document. The rows after it can. */
export class BadRow extends Error {}

/** Returns the types of the columns. The values of a column of several kinds become texts, which are comparable. */
export function typesOf(names: readonly CsvValue[], rows: readonly CsvRow[], isTyped: boolean): ColumnType[] {
  if (!isTyped) return names.map(() => "text")
  if (names.every((name) => name.isQuoted)) return names.map(() => "marked")
  return names.map((_, at) => {
    const kinds = new Set(rows.flatMap(({ values }) => kindOf(values[at]) ?? []))
    const [only = "text"] = kinds
    return kinds.size === 1 ? only : "text"
  })
}

/** The kind of a value in a column that is not marked; null if it says nothing about the column. */
function kindOf(value: CsvValue | undefined): "number" | "boolean" | "json" | "text" | null {
  if (value === undefined || isMissing(value)) return null
  const { text, isQuoted } = value
  if (holdsJson(text)) return "json"
  if (isQuoted) return "text"
  if (text === "null") return null
  if (isPlainNumber(text)) return "number"
  return text === "true" || text === "false" ? "boolean" : "text"
}

/** Whether a value is missing: then the document has no such member. A quoted empty value is an empty text. */
const isMissing = ({ text, isQuoted }: CsvValue) => text === "" && !isQuoted

// Numbers have up to 15 digits, which every program reads exactly. Longer ones are mostly numbers of accounts and
// cards, and 007 and 12E3 are mostly codes: these stay texts.
const isPlainNumber = (text: string) => /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && text.replace(/\D/g, "").length <= 15

/** Whether an unquoted text is a number, true, false or null in JSON. */
const isScalar = (text: string) =>
  /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) || text === "true" || text === "false" || text === "null"

/**
 * Whether a value is an array or an object, or a text that is written as a JSON string because it looks like one. CSV
 * cannot tell the two apart otherwise, because both must be quoted.
 */
function holdsJson(text: string): boolean {
  if (!/^[[{"]/.test(text)) return false
  const { node } = parseJson(text)
  return node?.kind === "string" ? holdsJson(stringOf(text, node)) : node !== null
}

/** Returns a document as JSON on one line, from the values of a row. Throws {@link BadRow}. */
export function documentOfRow(
  names: readonly CsvValue[],
  types: readonly ColumnType[],
  { number, values }: CsvRow,
  collection: string,
): string {
  if (values.length > names.length)
    throw new BadRow(`Row ${number} has ${values.length} values, and the first row names ${names.length} columns.`)
  const members: string[] = []
  const metadata: string[] = []
  let hasCollection = false
  for (const [at, value] of values.entries()) {
    const name = names[at]?.text ?? ""
    if (isMissing(value)) continue
    if (MetadataColumns.includes(name)) {
      if (value.text === "") continue
      metadata.push(`${JSON.stringify(name)}:${JSON.stringify(value.text)}`)
      hasCollection ||= name === "@collection"
      continue
    }

    const json = jsonOf(value, types[at] ?? "text")
    if (json === null) {
      const what = { number: "numbers", boolean: "true or false", json: "JSON", text: "texts", marked: "values" }[types[at] ?? "text"]
      throw new BadRow(
        `Row ${number}: the values of column ${name} in the first rows are ${what}, and this one is ` +
          `${JSON.stringify(value.text.slice(0, 100))}. Correct it, or import all values as texts.`,
      )
    }

    members.push(`${JSON.stringify(name)}:${json}`)
  }

  if (!hasCollection && collection !== "") metadata.push(`"@collection":${JSON.stringify(collection)}`)
  if (metadata.length > 0) members.push(`"@metadata":{${metadata.join(",")}}`)
  return `{${members.join(",")}}`
}

/** Returns a value as JSON, numbers as written; null if it is not of the column's type. */
function jsonOf(value: CsvValue, type: ColumnType): string | null {
  const { text, isQuoted } = value
  if (type === "text") return JSON.stringify(text)
  if (type === "marked") {
    if (holdsJson(text)) return heldJson(text)
    return !isQuoted && isScalar(text) ? text : JSON.stringify(text)
  }

  const kind = kindOf(value)
  if (kind === null) return text
  if (kind !== type) return null
  return kind === "json" ? heldJson(text) : text
}

function heldJson(text: string): string {
  const { node } = parseJson(text)
  return node ? compact(text, node) : JSON.stringify(text)
}

/**
 * Converts a CSV file to documents, one a line. The first row has the names. A row that cannot become a document
 * becomes an empty line, whose number is reported to `onBad`.
 */
export function linesOfCsv(
  bytes: ReadableStream<Uint8Array>,
  { collection, isTyped }: CsvOptions,
  onBad: (line: number, reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = bytes.getReader()
  const decoder = new TextDecoder("utf-8", { fatal: true })
  const encoder = new TextEncoder()
  const rows = new CsvRows()
  let names: CsvValue[] | null = null
  let types: ColumnType[] | null = null
  let held: CsvRow[] = []
  let lines = 0
  const decode = (chunk?: Uint8Array) => {
    try {
      return chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode()
    } catch {
      throw new Error("The file is not UTF-8. Save it as CSV in UTF-8.")
    }
  }
  const lineOf = (row: CsvRow, known: CsvValue[], of: ColumnType[]) => {
    lines++
    try {
      return documentOfRow(known, of, row, collection)
    } catch (failure) {
      if (!(failure instanceof BadRow)) throw failure
      onBad(lines, failure.message)
      return ""
    }
  }
  const convert = (found: readonly CsvRow[], isEnd: boolean) => {
    for (const row of found) {
      if (names === null) names = checkedNames(row.values)
      else held.push(row)
    }

    if (names === null || (types === null && held.length < DecidingRows && !isEnd)) return ""
    const known = names
    types ??= typesOf(known, held.slice(0, DecidingRows), isTyped)
    const of = types
    const text = held.map((row) => `${lineOf(row, known, of)}\n`).join("")
    held = []
    return text
  }
  return new ReadableStream<Uint8Array>({
    async pull(control) {
      for (;;) {
        const { value, done } = await reader.read()
        const text = convert(done ? [...rows.push(decode()), ...rows.finish()] : rows.push(decode(value)), done)
        if (text !== "") control.enqueue(encoder.encode(text))
        if (done) control.close()
        if (done || text !== "") return
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

function checkedNames(row: readonly CsvValue[]): CsvValue[] {
  const names = row.map(({ text, isQuoted }) => ({ text: isQuoted ? text : text.trim(), isQuoted }))
  const texts = names.map(({ text }) => text)
  const twice = texts.find((name, at) => texts.indexOf(name) !== at)
  if (names.some(isMissing)) throw new Error(`Column ${names.findIndex(isMissing) + 1} has no name in the first row.`)
  if (twice !== undefined) throw new Error(`Two columns are named ${twice}.`)
  return names
}

/** The columns of results as CSV: the id first, the others in the order of their first occurrence. */
export class CsvColumns {
  private readonly names = new Set<string>()

  /** Adds the columns of a result. */
  add(text: string, node: Node): void {
    for (const name of cellsOf(text, node).keys()) this.names.add(name)
  }

  get all(): string[] {
    const first = [...MetadataColumns, ProjectedId]
    return [...first.filter((name) => this.names.has(name)), ...[...this.names].filter((name) => !first.includes(name))]
  }
}

/** The column with the id of a projection's document. Under `@id`, an import would replace the whole document. */
const ProjectedId = "id()"

/** Returns the first row. All names are quoted, which tells an import that unquoted values are not texts. */
export function csvHead(names: readonly string[]): string {
  return `${names.map(quoted).join(",")}\r\n`
}

/** Returns a result as a row. */
export function csvRow(names: readonly string[], text: string, node: Node): string {
  const cells = cellsOf(text, node)
  return `${names.map((name) => cells.get(name) ?? "").join(",")}\r\n`
}

/** Returns the values of a result by their columns, as CSV writes them. */
function cellsOf(text: string, node: Node): Map<string, string> {
  const cells = new Map<string, string>()
  const metadata = memberOf(node, "@metadata")
  const projection = memberOf(metadata, "@projection")
  const isProjection = projection !== undefined && compact(text, projection) === "true"
  for (const member of node.members ?? []) {
    if (member.name === "@metadata") continue
    // Refused, because the metadata would overwrite the member without notice.
    if (MetadataColumns.includes(member.name))
      throw new Error(`A result has a member ${member.name}, which CSV keeps for metadata. Download JSON or NDJSON.`)
    cells.set(member.name, cellOf(text, member.value))
  }

  for (const name of MetadataColumns) {
    const value = memberOf(metadata, name)
    const column = isProjection && name === "@id" ? ProjectedId : name
    if (value && !cells.has(column)) cells.set(column, cellOf(text, value))
  }

  return cells
}

function cellOf(text: string, node: Node): string {
  if (node.kind !== "string") return ifNeeded(compact(text, node))
  const value = stringOf(text, node)
  if (holdsJson(value)) return quoted(JSON.stringify(value))
  return value === "" || isScalar(value) ? quoted(value) : ifNeeded(value)
}

const ifNeeded = (value: string) => (/[",;\t\r\n]|^\s|\s$/.test(value) ? quoted(value) : value)

const quoted = (value: string) => `"${value.replaceAll('"', '""')}"`
