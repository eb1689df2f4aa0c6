import { firstAbove, grown } from "./event-columns"
import { Intervals } from "./intervals"

/** Lengths of the requested spans in seconds: for a day, for some hours, and for an hour. */
export const RollUpSpans = [60, 10, 1] as const

/** Sums of the operations of one kind by spans of time, in columns sorted by second. */
export class RollUpColumns {
  size = 0
  second = new Float64Array(64)
  count = new Float64Array(64)
  /** Bytes of each span; for syncs, the bytes written to the journal in the span, which they made durable. */
  bytes = new Float64Array(64)
  total = new Float64Array(64)
  longest = new Float64Array(64)

  /** Inserts a span. Replaces its earlier values, because the current span grows. */
  set(second: number, count: number, bytes: number, total: number, longest: number): void {
    let place = this.firstAt(second)
    if (place === this.size || this.second[place] !== second) place = this.open(place)
    this.second[place] = second
    this.count[place] = count
    this.bytes[place] = bytes
    this.total[place] = total
    this.longest[place] = longest
  }

  /** Returns the first span that begins at a second or later. */
  firstAt(second: number): number {
    // Seconds are integers, so the first value above second - 0.5 is the first at the second or later.
    return firstAbove(this.second, this.size, second - 0.5)
  }

  drop(spans: number): void {
    if (spans <= 0) return
    for (const column of this.columns()) column.copyWithin(0, spans, this.size)
    this.size -= spans
  }

  private open(place: number): number {
    if (this.size === this.second.length) {
      const capacity = this.size * 2
      this.second = grown(this.second, capacity)
      this.count = grown(this.count, capacity)
      this.bytes = grown(this.bytes, capacity)
      this.total = grown(this.total, capacity)
      this.longest = grown(this.longest, capacity)
    }

    if (place < this.size) for (const column of this.columns()) column.copyWithin(place + 1, place, this.size)
    this.size++
    return place
  }

  private columns(): Float64Array[] {
    return [this.second, this.count, this.bytes, this.total, this.longest]
  }
}

/** The roll-ups of all kinds for one length of span, and the seconds for which they are known. */
export class RollUpLevel {
  readonly known = new Intervals()
  readonly kinds: RollUpColumns[]

  constructor(
    readonly spanSeconds: number,
    kindCount: number,
  ) {
    this.kinds = Array.from({ length: kindCount }, () => new RollUpColumns())
  }
}
