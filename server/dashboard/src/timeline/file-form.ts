import { JournalSync, kinds } from "./kinds"
import { LineNames } from "./lines"
import { type EventRows, indexes, NodeStore, type RollUpRows, type Rows } from "./node-store"

/** Name of the file's format. docs/explanation/io-timeline.md describes the format. */
export const FormName = "rookery-io-timeline"
export const FormVersion = 1

/** Maximum number of events in a file; a browser might not handle more. */
const MostEvents = 1_000_000

const EventColumnNames = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
const RollUpColumnNames = ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"]

type Spans = [number, number][]

/** The data of one node in a file. */
export interface NodeFile {
  Node: string
  NodeName: string
  Devices: { Journal: string; Data: string }
  /** Spans in microseconds in which no event is missing. */
  Covered: Spans
  Events: Rows
  SlowEvents: Rows
  /** `Known`: spans of seconds whose sums are known, including those without operations. */
  RollUps: (RollUpRows & { Known: Spans })[]
  History: { Columns: string[]; Rows: (number | null)[][] }
}

export interface TimelineFile {
  Form: typeof FormName
  Version: number
  Exported: string
  Nodes: NodeFile[]
}

export function toFile(stores: readonly NodeStore[], now: Date): TimelineFile {
  return { Form: FormName, Version: FormVersion, Exported: now.toISOString(), Nodes: stores.map(toNode) }
}

/**
 * Parses a file of {@link toFile}, or a saved answer of /debug/io. Throws an error with a sentence if it is invalid.
 */
export function fromFile(text: string): NodeStore[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    throw new Error("This is not JSON: choose a file that this page exported, or an answer of /debug/io.")
  }

  if (!isObject(content)) throw new Error(notOurs())
  // A saved answer of /debug/io, also from a debug package.
  if (content.Form === undefined && isObject(content.Events) && isObject(content.RollUps)) return [fromAnswer(content)]
  if (content.Form !== FormName) throw new Error(notOurs())
  if (content.Version !== FormVersion) {
    throw new Error(
      `This file has version ${String(content.Version)} of the format, and this page reads version ${FormVersion}. Open it with the release that wrote it, or a newer one.`,
    )
  }

  if (!Array.isArray(content.Nodes) || content.Nodes.length === 0) throw new Error("There is no node in this file.")
  return content.Nodes.map(fromNode)
}

function toNode(store: NodeStore): NodeFile {
  return {
    Node: store.tag,
    NodeName: store.name,
    Devices: { ...store.devices },
    Covered: pairs(store.covered.bounds),
    Events: toRows(store.events),
    SlowEvents: toRows(store.slow),
    RollUps: store.levels.map((level) => ({
      SpanSeconds: level.spanSeconds,
      Known: pairs(level.known.bounds),
      Columns: RollUpColumnNames,
      Rows: level.kinds
        .flatMap((columns, kind) =>
          Array.from({ length: columns.size }, (_, index) => [
            columns.second[index] as number,
            kinds[kind]?.name ?? "unknown",
            columns.count[index] as number,
            kind === JournalSync ? 0 : (columns.bytes[index] as number),
            columns.total[index] as number,
            columns.longest[index] as number,
          ]),
        )
        .sort((one, other) => (one[0] as number) - (other[0] as number)),
    })),
    History: {
      Columns: ["UnixMicroseconds", ...LineNames],
      Rows: Array.from({ length: store.lines.size }, (_, index) => [
        store.lines.time[index] as number,
        ...store.lines.values.map((column) => (Number.isNaN(column[index]) ? null : (column[index] as number))),
      ]),
    },
  }
}

/** Sorts events by their end, which is the order in which the node reports them. */
function toRows(columns: NodeStore["events"]): Rows {
  const rows = columns.flatMap((events, kind) =>
    Array.from({ length: events.count }, (_, index) => [
      kinds[kind]?.name ?? "unknown",
      events.start[index] as number,
      events.duration[index] as number,
      // The bytes of a sync are computed again from the writes before it.
      events.isSync[index] ? 0 : (events.bytes[index] as number),
    ]),
  )
  const end = (row: (string | number)[]) => (row[1] as number) + (row[2] as number)
  return { Columns: EventColumnNames, Rows: rows.sort((one, other) => end(one) - end(other)) }
}

function fromNode(given: unknown, place: number): NodeStore {
  const where = `Node ${place + 1} of this file`
  if (!isObject(given)) throw new Error(`${where} is not an object.`)
  const store = begin(given)
  store.addEvents(rowsOf(given.Events, `${where}: "Events"`, EventColumnNames))
  store.addSlowEvents(rowsOf(given.SlowEvents, `${where}: "SlowEvents"`, EventColumnNames))
  for (const [from, to] of spansOf(given.Covered, `${where}: "Covered"`)) store.covered.add(from, to)
  if (!Array.isArray(given.RollUps)) throw new Error(`${where}: "RollUps" is not a list.`)
  given.RollUps.forEach((level: unknown, index: number) => {
    const path = `${where}: "RollUps" ${index + 1}`
    const rows = rowsOf(level, path, RollUpColumnNames)
    const { SpanSeconds, Known } = level as { SpanSeconds: unknown; Known: unknown }
    for (const [from, to] of spansOf(Known, path)) store.addRollUps({ ...rows, SpanSeconds: spanOf(SpanSeconds, path) }, from, to)
  })
  const history = rowsOf(given.History, `${where}: "History"`, ["UnixMicroseconds"])
  addHistory(store, history)
  return store
}

function fromAnswer(answer: Record<string, unknown>): NodeStore {
  const store = begin(answer)
  store.addEvents(rowsOf(answer.Events, `"Events"`, EventColumnNames) as EventRows)
  if (answer.SlowEvents !== undefined) store.addSlowEvents(rowsOf(answer.SlowEvents, `"SlowEvents"`, EventColumnNames))
  const rows = rowsOf(answer.RollUps, `"RollUps"`, RollUpColumnNames)
  const span = spanOf((answer.RollUps as { SpanSeconds: unknown }).SpanSeconds, `"RollUps"`)
  const [second] = indexes(rows, "UnixSecond")
  const seconds = rows.Rows.map((row) => Number(row[second as number]))
  if (seconds.length > 0) store.addRollUps({ ...rows, SpanSeconds: span }, least(seconds), most(seconds) + span)
  return store
}

function begin(given: Record<string, unknown>): NodeStore {
  const store = new NodeStore(wordOf(given.Node, "?"), wordOf(given.NodeName, ""), MostEvents)
  if (isObject(given.Devices)) {
    store.devices = { Journal: wordOf(given.Devices.Journal, "unknown"), Data: wordOf(given.Devices.Data, "unknown") }
  }

  return store
}

function addHistory(store: NodeStore, history: Rows): void {
  const [time] = indexes(history, "UnixMicroseconds")
  const columns = LineNames.map((name) => history.Columns.indexOf(name))
  const samples = history.Rows.map((row) => ({
    time: Number(row[time as number]),
    values: columns.map((column) => (column < 0 || row[column] === null ? null : Number(row[column]))),
  }))
  store.lines.replace(samples.sort((one, other) => one.time - other.time))
}

/** Validates columns and rows: all named columns must exist, and all values except kinds must be numbers. */
function rowsOf(given: unknown, where: string, names: string[]): Rows {
  if (!isObject(given) || !Array.isArray(given.Columns) || !Array.isArray(given.Rows)) throw new Error(`${where} needs Columns and Rows.`)
  const rows = given as unknown as Rows
  if (rows.Rows.length > MostEvents) throw new Error(`${where} has ${rows.Rows.length} rows; this page takes ${MostEvents}.`)
  let places: number[]
  try {
    places = indexes(rows, ...names)
  } catch (wrong) {
    throw new Error(`${where}: ${(wrong as Error).message}`)
  }

  rows.Rows.forEach((row, index) => {
    const wrong = !Array.isArray(row)
      ? "row"
      : names.find((name, at) => (name === "Kind" ? typeof row[places[at] as number] !== "string" : !isCount(row[places[at] as number])))
    if (wrong) throw new Error(`${where}, row ${index + 1}: "${wrong}" is not as it should be.`)
  })
  return rows
}

function spansOf(given: unknown, where: string): Spans {
  const isFine =
    Array.isArray(given) && given.every((span) => Array.isArray(span) && span.length === 2 && span.every((bound) => Number.isFinite(bound)))
  if (!isFine) throw new Error(`${where} needs a list of [from, until].`)
  return given as Spans
}

function spanOf(given: unknown, where: string): number {
  if (!isCount(given) || !Number.isInteger(given) || given < 1 || given > 86_400) {
    throw new Error(`${where}: "SpanSeconds" must be a whole number from 1 to 86400.`)
  }

  return given
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function wordOf(value: unknown, fallback: string): string {
  return typeof value === "string" && value !== "" ? value.slice(0, 100) : fallback
}

function notOurs(): string {
  return "This file is not an IO timeline: choose one that this page exported, or an answer of /debug/io."
}

function pairs(bounds: readonly number[]): Spans {
  return Array.from({ length: bounds.length / 2 }, (_, index) => [bounds[2 * index] as number, bounds[2 * index + 1] as number])
}

function least(values: number[]): number {
  return values.reduce((one, other) => Math.min(one, other))
}

function most(values: number[]): number {
  return values.reduce((one, other) => Math.max(one, other))
}
