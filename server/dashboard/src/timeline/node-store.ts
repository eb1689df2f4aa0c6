import { EventColumns } from "./event-columns"
import { Intervals } from "./intervals"
import { JournalSync, JournalWrite, kindOf, kinds } from "./kinds"
import { Lines } from "./lines"
import { RollUpLevel, RollUpSpans } from "./roll-up-columns"

/** A table of /debug/io: names of columns and rows of values. */
export interface Rows {
  Columns: string[]
  Rows: (string | number)[][]
}

export interface EventRows extends Rows {
  FromUnixMicroseconds?: number
  UntilUnixMicroseconds?: number
}

export interface RollUpRows extends Rows {
  SpanSeconds: number
}

/** The answer of /debug/io. */
export interface IoAnswer {
  Node: string
  NodeName: string
  Devices: { Journal: string; Data: string }
  Events: EventRows
  SlowEvents: EventRows
  RollUps: RollUpRows
}

/** A sync of this length is marked on any device. A card takes 4 to 12 ms, and writers wait for it. */
export const SlowSyncMicroseconds = 100_000
/** A sync of this length has the colour of errors. The node logs it too. */
export const VerySlowSyncMicroseconds = 1_000_000
/**
 * An event that the node reports as slow for its kind (p99.9) is marked from this length on. 2 ms may be slow for a
 * fast disk, but delay no writer noticeably.
 */
export const ReportedSyncMicroseconds = 10_000

export const Micro = 1_000_000
/** Time for which a node keeps roll-ups. */
export const DayMicroseconds = 86_400 * Micro

const SlowEventsPerKind = 4096

/**
 * The known disk operations of one node: all events, slow events, roll-ups, and lines. For a live node it keeps a
 * maximum number of events and removes the oldest.
 */
export class NodeStore {
  readonly events = kinds.map(() => new EventColumns())
  readonly slow = kinds.map(() => new EventColumns())
  readonly levels = RollUpSpans.map((span) => new RollUpLevel(span, kinds.length))
  readonly lines = new Lines()
  /** Spans in microseconds in which no event is missing. */
  readonly covered = new Intervals()
  devices = { Journal: "unknown", Data: "unknown" }
  /** Bytes written since the last sync, by kind. */
  private readonly unsynced = new Float64Array(kinds.length)

  constructor(
    readonly tag: string,
    public name: string,
    private readonly mostEvents = 200_000,
  ) {}

  get eventCount(): number {
    return this.events.reduce((sum, columns) => sum + columns.count, 0)
  }

  /** End of the known data, in microseconds; undefined without data. */
  get newest(): number | undefined {
    const ends = [
      this.covered.last,
      ...this.levels.map((level) => level.known.last).map((second) => (second === undefined ? second : second * Micro)),
    ]
    const known = ends.filter((end) => end !== undefined)
    return known.length > 0 ? Math.max(...known) : undefined
  }

  /** Beginning of the known data, in microseconds; undefined without data. */
  get oldest(): number | undefined {
    const begins = [
      this.covered.first,
      ...this.levels.flatMap((level) =>
        level.kinds.filter((columns) => columns.size > 0).map((columns) => (columns.second[0] as number) * Micro),
      ),
      ...[...this.events, ...this.slow].filter((columns) => columns.count > 0).map((columns) => columns.start[0]),
    ].filter((begin) => begin !== undefined)
    return begins.length > 0 ? Math.min(...begins) : undefined
  }

  /**
   * Returns the columns that contain the event of a lane's reference: all events if it is positive, slow events if it
   * is negative. The index in them is |reference| - 1.
   */
  columnsOf(kind: number, reference: number): EventColumns {
    return (reference > 0 ? this.events[kind] : this.slow[kind]) as EventColumns
  }

  /** Returns the bytes of the event of a lane's reference. */
  bytesOf(kind: number, reference: number): number {
    return this.columnsOf(kind, reference).bytes[Math.abs(reference) - 1] as number
  }

  /** Adds events, and the span in which they are complete. */
  addEvents(rows: EventRows): void {
    this.addTo(this.events, rows)
    const from = rows.FromUnixMicroseconds
    const until = rows.UntilUnixMicroseconds
    if (from !== undefined && until !== undefined) this.covered.add(from, until)
    this.forgetOldest()
  }

  addSlowEvents(rows: EventRows): void {
    this.addTo(this.slow, rows)
    for (const columns of this.slow) columns.drop(columns.count - SlowEventsPerKind)
  }

  /**
   * Adds roll-ups, and the seconds for which they are complete. Leaves out a span that extends beyond these seconds,
   * because it is incomplete. Divides spans of a length that is not in {@link RollUpSpans}.
   */
  addRollUps(rows: RollUpRows, fromSecond: number, untilSecond: number): void {
    const level = this.levels.find((candidate) => rows.SpanSeconds % candidate.spanSeconds === 0)
    if (!level) return
    const parts = rows.SpanSeconds / level.spanSeconds
    const [second, kind, count, bytes, total, longest] = indexes(
      rows,
      "UnixSecond",
      "Kind",
      "Count",
      "Bytes",
      "TotalMicroseconds",
      "MaxMicroseconds",
    )
    let written = 0
    let writtenSecond = 0
    for (const row of rows.Rows) {
      const index = kindOf(String(row[kind as number]))
      const at = Number(row[second as number])
      if (at < fromSecond || at + rows.SpanSeconds > untilSecond) continue
      let moved = Number(row[bytes as number])
      // The rows of a second are in the order of kinds, so a sync follows the writes that it made durable.
      if (index === JournalWrite) {
        written = moved
        writtenSecond = at
      } else if (index === JournalSync && writtenSecond === at) {
        moved = written
      }

      for (let part = 0; part < parts; part++) {
        const share = (column: number | undefined) => Number(row[column as number]) / parts
        level.kinds[index]?.set(at + part * level.spanSeconds, share(count), moved / parts, share(total), Number(row[longest as number]))
      }
    }

    level.known.add(fromSecond, untilSecond)
  }

  /** Removes data that are older than a node keeps them. */
  forgetBefore(time: number): void {
    const second = Math.floor(time / Micro)
    for (const level of this.levels) {
      level.known.forgetBefore(second)
      for (const columns of level.kinds) columns.drop(columns.firstAt(second))
    }

    for (const columns of [...this.events, ...this.slow]) columns.drop(columns.firstFrom(time))
    this.covered.forgetBefore(time)
    this.lines.forgetBefore(time)
  }

  private addTo(columns: EventColumns[], rows: EventRows): void {
    const [kind, start, duration, bytes] = indexes(rows, "Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes")
    const batches = columns.map(() => ({
      starts: [] as number[],
      durations: [] as number[],
      bytes: [] as number[],
      isSync: [] as number[],
    }))
    for (const row of inOrderOfEnd(rows.Rows, start as number, duration as number)) {
      const index = kindOf(String(row[kind as number]))
      const moved = Number(row[bytes as number])
      const batch = batches[index] as (typeof batches)[number]
      batch.starts.push(Number(row[start as number]))
      batch.durations.push(Number(row[duration as number]))
      batch.bytes.push(columns === this.events ? this.shownBytes(index, moved) : moved)
      batch.isSync.push(moved === 0 ? 1 : 0)
    }

    batches.forEach((batch, index) => {
      columns[index]?.add(batch.starts, batch.durations, batch.bytes, batch.isSync)
    })
  }

  /**
   * Returns the bytes to show. A sync transfers no bytes itself, so it shows the bytes that were written since the
   * previous sync: those of the same kind, or for a journal_sync those of journal_write.
   */
  private shownBytes(kind: number, bytes: number): number {
    const written = kind === JournalSync ? JournalWrite : kind
    const before = this.unsynced[written] as number
    this.unsynced[written] = bytes > 0 ? before + bytes : 0
    return bytes > 0 ? bytes : before
  }

  /** Removes a tenth of the events at once, so that removals are rare. */
  private forgetOldest(): void {
    const count = this.eventCount
    if (count <= this.mostEvents) return
    const excess = count - this.mostEvents * 0.9
    let low = Math.min(...this.events.filter((columns) => columns.count > 0).map((columns) => columns.start[0] as number))
    let high =
      Math.max(...this.events.filter((columns) => columns.count > 0).map((columns) => columns.start[columns.count - 1] as number)) + 1
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.events.reduce((sum, columns) => sum + columns.firstFrom(middle), 0) < excess) low = middle
      else high = middle
    }

    for (const columns of this.events) columns.drop(columns.firstFrom(high))
    this.covered.forgetBefore(high)
  }
}

/** Returns the positions of named columns. Throws an error with a sentence if one is missing. */
export function indexes(rows: Rows, ...names: string[]): number[] {
  return names.map((name) => {
    const index = rows.Columns.indexOf(name)
    if (index < 0) throw new Error(`The column "${name}" is missing; there are ${rows.Columns.join(", ")}.`)
    return index
  })
}

function inOrderOfEnd(rows: (string | number)[][], start: number, duration: number): (string | number)[][] {
  const end = (row: (string | number)[]) => Number(row[start]) + Number(row[duration])
  for (let index = 1; index < rows.length; index++) {
    if (end(rows[index] as (string | number)[]) < end(rows[index - 1] as (string | number)[]))
      return [...rows].sort((one, other) => end(one) - end(other))
  }

  return rows
}
