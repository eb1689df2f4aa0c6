import { BlockEvents, type EventColumns } from "./event-columns"
import { Micro } from "./node-store"
import type { RollUpColumns } from "./roll-up-columns"

/** Minimum width of an event that is drawn as a box. Narrower events of a pixel are drawn as a sum. */
export const BoxPixels = 2

/**
 * The columns of pixels of one lane: what is drawn in each, and what is below the pointer. Filled for each frame
 * without allocation; the width is in device pixels. Each column records its longest event, so that short events or the
 * zoom cannot hide it.
 */
export class LanePixels {
  width = 0
  /** Microseconds of work in each column, by events that are too narrow for a box, and by roll-ups. */
  busy = new Float64Array(0)
  bytes = new Float64Array(0)
  count = new Float64Array(0)
  longest = new Float64Array(0)
  /**
   * The longest event of each column: its index + 1, negative for an index among the slow events. 0 if there is none,
   * or if it belongs to a roll-up.
   */
  longestEvent = new Int32Array(0)
  /** The event whose box covers each column, encoded in the same way. `inset` has a second, simultaneous event. */
  box = new Int32Array(0)
  inset = new Int32Array(0)
  /** Whether each column shows roll-ups. */
  isSum = new Uint8Array(0)

  begin(width: number): void {
    if (width !== this.width) this.resize(width)
    this.busy.fill(0)
    this.bytes.fill(0)
    this.count.fill(0)
    this.longest.fill(0)
    this.longestEvent.fill(0)
    this.box.fill(0)
    this.inset.fill(0)
    this.isSum.fill(0)
  }

  /**
   * Adds the events of a view. Where many events share a column, adds whole blocks, so that the cost depends on the
   * width and hardly on the number of events.
   */
  addEvents(events: EventColumns, from: number, perPixel: number, since = Number.NEGATIVE_INFINITY): void {
    const to = from + this.width * perPixel
    const { start, duration, bytes, count } = events
    let index = events.firstReaching(Math.max(from, since))
    while (index < count) {
      const begin = start[index] as number
      if (begin >= to) return
      const column = Math.floor((begin - from) / perPixel)
      const block = column >= 0 ? events.wholeBlock(index, from + (column + 1) * perPixel) : -1
      if (block >= 0) {
        const longest = events.longestOfBlock(block)
        this.sum(column, events.durationOfBlock(block), events.bytesOfBlock(block), BlockEvents, duration[longest] as number, longest)
        index += BlockEvents
        continue
      }

      const long = duration[index] as number
      if (long >= BoxPixels * perPixel) this.addBox(events, index, (begin - from) / perPixel, (begin + long - from) / perPixel)
      else
        this.addNarrow(column, (begin + long - from) / perPixel, (begin - from) / perPixel, perPixel, bytes[index] as number, long, index)
      index++
    }
  }

  /** Adds the roll-ups from a second on, except to columns that already have more precise data. */
  addRollUps(
    rollUps: RollUpColumns,
    spanSeconds: number,
    from: number,
    perPixel: number,
    isTaken: Uint8Array,
    sinceSecond = Number.NEGATIVE_INFINITY,
  ): void {
    const span = spanSeconds * Micro
    const to = from + this.width * perPixel
    for (let index = rollUps.firstAt(Math.max(sinceSecond, Math.floor((from - span) / Micro))); index < rollUps.size; index++) {
      const begin = (rollUps.second[index] as number) * Micro
      if (begin >= to) return
      const left = (begin - from) / perPixel
      const right = (begin + span - from) / perPixel
      const perColumn = 1 / (right - left)
      const total = rollUps.total[index] as number
      const last = Math.min(this.width, Math.ceil(right))
      for (let column = Math.max(0, Math.floor(left)); column < last; column++) {
        if (isTaken[column]) continue
        const share = (Math.min(column + 1, right) - Math.max(column, left)) * perColumn
        if (share <= 0) continue
        this.busy[column] = (this.busy[column] as number) + total * share
        this.bytes[column] = (this.bytes[column] as number) + (rollUps.bytes[index] as number) * share
        this.count[column] = (this.count[column] as number) + (rollUps.count[index] as number) * share
        this.isSum[column] = 1
        if ((rollUps.longest[index] as number) > (this.longest[column] as number)) {
          this.longest[column] = rollUps.longest[index] as number
          this.longestEvent[column] = 0
        }
      }
    }
  }

  /**
   * Adds slow events in columns without single events. They are shown but not counted, because the sums contain them.
   */
  addSlow(slow: EventColumns, from: number, perPixel: number, isCovered: Uint8Array): void {
    const to = from + this.width * perPixel
    for (let index = slow.firstReaching(from); index < slow.count && (slow.start[index] as number) < to; index++) {
      const left = ((slow.start[index] as number) - from) / perPixel
      const right = (slow.end(index) - from) / perPixel
      const isBox = right - left >= BoxPixels
      const first = Math.max(0, isBox ? Math.round(left) : Math.floor(left))
      const last = Math.min(this.width, isBox ? Math.round(right) : first + 1)
      for (let column = first; column < last; column++) {
        if (isCovered[column] || (slow.duration[index] as number) < (this.longest[column] as number)) continue
        this.longest[column] = slow.duration[index] as number
        this.longestEvent[column] = -(index + 1)
        if (isBox) this.box[column] = -(index + 1)
        // For a node that is down, sums may be unknown.
        else if (this.count[column] === 0)
          this.busy[column] = Math.max(this.busy[column] as number, Math.min(perPixel, slow.duration[index] as number))
      }
    }
  }

  private addBox(events: EventColumns, index: number, left: number, right: number): void {
    const first = Math.max(0, Math.round(left))
    const last = Math.min(this.width, Math.round(right))
    if (first >= last) return
    const occupant = this.box[first] as number
    // Another event is still running, so draw both.
    const layer = occupant > 0 && events.end(occupant - 1) > (events.start[index] as number) ? this.inset : this.box
    const long = events.duration[index] as number
    for (let column = first; column < last; column++) {
      layer[column] = index + 1
      if (long > (this.longest[column] as number)) {
        this.longest[column] = long
        this.longestEvent[column] = index + 1
      }
    }

    this.count[first] = (this.count[first] as number) + 1
    this.bytes[first] = (this.bytes[first] as number) + (events.bytes[index] as number)
  }

  private addNarrow(column: number, right: number, left: number, perPixel: number, bytes: number, long: number, index: number): void {
    const last = Math.floor(right)
    if (column >= 0 && last === column) {
      this.sum(column, long, bytes, 1, long, index)
      return
    }

    for (let part = Math.max(0, column); part <= last && part < this.width; part++) {
      const share = Math.min(part + 1, right) - Math.max(part, left)
      if (share <= 0 && long > 0) continue
      // Count the event once: in the column where it begins, or in the first one of the view.
      const isFirst = part === Math.max(0, column)
      this.sum(part, share * perPixel, isFirst ? bytes : 0, isFirst ? 1 : 0, long, index)
    }
  }

  private sum(column: number, busy: number, bytes: number, count: number, longest: number, index: number): void {
    this.busy[column] = (this.busy[column] as number) + busy
    this.bytes[column] = (this.bytes[column] as number) + bytes
    this.count[column] = (this.count[column] as number) + count
    if (longest > (this.longest[column] as number) || this.longestEvent[column] === 0) {
      this.longest[column] = longest
      this.longestEvent[column] = index + 1
    }
  }

  private resize(width: number): void {
    this.width = width
    this.busy = new Float64Array(width)
    this.bytes = new Float64Array(width)
    this.count = new Float64Array(width)
    this.longest = new Float64Array(width)
    this.longestEvent = new Int32Array(width)
    this.box = new Int32Array(width)
    this.inset = new Int32Array(width)
    this.isSum = new Uint8Array(width)
  }
}
