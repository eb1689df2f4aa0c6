import type { LanePixels } from "./lane-pixels"
import { Micro, type NodeStore } from "./node-store"
import { RollUpSpans } from "./roll-up-columns"

/** Maximum width of a span in pixels before a finer level is used. */
const WidestSpanPixels = 4

/** From this zoom on, sums are drawn instead of single events if both are known. */
export const SumsFromPerPixel = 2 * Micro

/** Returns the level that fits a zoom: an index of {@link RollUpSpans}. */
export function levelFor(perPixel: number): number {
  const fitting = RollUpSpans.findIndex((span) => span * Micro <= perPixel * WidestSpanPixels)
  return fitting < 0 ? RollUpSpans.length - 1 : fitting
}

/**
 * Chooses the data for each column of pixels: events, roll-ups of the level that fits the zoom, finer ones where that
 * level is not complete yet, or coarser ones until it is fetched.
 */
export class SumLayers {
  /** Columns that show single events. */
  covered = new Uint8Array(0)
  /** Events that end before this time are not drawn, because sums are. */
  eventsFrom = Number.NEGATIVE_INFINITY
  /** By level: columns for which better data exist. */
  private readonly taken = RollUpSpans.map(() => new Uint8Array(0))
  /** By level: spans before this second are drawn from a level that fits better. */
  private readonly since = new Float64Array(RollUpSpans.length)
  private fitting = 0

  resize(width: number): void {
    this.covered = new Uint8Array(width)
    for (let level = 0; level < this.taken.length; level++) this.taken[level] = new Uint8Array(width)
  }

  prepare(store: NodeStore, from: number, perPixel: number): void {
    this.fitting = levelFor(perPixel)
    this.eventsFrom = perPixel >= SumsFromPerPixel ? sumsUntil(store) : Number.NEGATIVE_INFINITY
    this.covered.fill(0)
    const { bounds } = store.covered
    for (let index = 0; index < bounds.length; index += 2) {
      mark(this.covered, Math.max(bounds[index] as number, this.eventsFrom), bounds[index + 1] as number, from, perPixel)
    }

    let since = Number.NEGATIVE_INFINITY
    for (let level = this.fitting; level < store.levels.length; level++) {
      this.taken[level]?.set(this.covered)
      this.since[level] = since
      since = Math.max(since, store.levels[level]?.known.last ?? Number.NEGATIVE_INFINITY)
    }

    for (let level = this.fitting - 1; level >= 0; level--) {
      const taken = this.taken[level] as Uint8Array
      taken.set(this.taken[level + 1] as Uint8Array)
      this.since[level] = Number.NEGATIVE_INFINITY
      const known = store.levels[level + 1]?.known.bounds ?? []
      for (let index = 0; index < known.length; index += 2)
        mark(taken, (known[index] as number) * Micro, (known[index + 1] as number) * Micro, from, perPixel)
    }
  }

  fill(store: NodeStore, lane: LanePixels, kind: number, from: number, perPixel: number): void {
    const events = store.events[kind]
    if (events) lane.addEvents(events, from, perPixel, this.eventsFrom)
    for (let index = 0; index < store.levels.length; index++) {
      const level = store.levels[index]
      const columns = level?.kinds[kind]
      if (level && columns)
        lane.addRollUps(columns, level.spanSeconds, from, perPixel, this.taken[index] as Uint8Array, this.since[index] as number)
    }

    const slow = store.slow[kind]
    if (slow) lane.addSlow(slow, from, perPixel, this.covered)
  }
}

function sumsUntil(store: NodeStore): number {
  let until = Number.NEGATIVE_INFINITY
  for (const level of store.levels) until = Math.max(until, (level.known.last ?? Number.NEGATIVE_INFINITY) * Micro)
  return until
}

/** Marks the columns whose middle is in a span of time. */
function mark(columns: Uint8Array, begin: number, end: number, from: number, perPixel: number): void {
  const first = Math.max(0, Math.round((begin - from) / perPixel))
  const last = Math.min(columns.length, Math.round((end - from) / perPixel))
  if (first < last) columns.fill(1, first, last)
}
