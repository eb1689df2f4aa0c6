import { DayMicroseconds } from "./node-store"

/** The most that is shown at once: a day, and a little on both sides. */
export const WidestMicroseconds = DayMicroseconds * 1.04
/** The least: 200 microseconds over the whole width. */
export const NarrowestMicroseconds = 200

/** The span of time that is shown, the same for all nodes. Microseconds since 1970 UTC. */
export interface View {
  from: number
  span: number
}

/** Where a view may go: what is known of any node. */
export interface Bounds {
  oldest: number
  newest: number
}

/** Magnifies by a factor around a place (0 left, 1 right): what is there stays there. */
export function zoomed(view: View, factor: number, place: number, bounds: Bounds): View {
  const span = Math.min(WidestMicroseconds, Math.max(NarrowestMicroseconds, view.span / factor))
  return kept({ from: view.from + (view.span - span) * place, span }, bounds)
}

/** Moves by a part of its width. */
export function moved(view: View, widths: number, bounds: Bounds): View {
  return kept({ from: view.from + view.span * widths, span: view.span }, bounds)
}

/** Keeps some of what is known in sight: half a width may be empty. */
export function kept(view: View, bounds: Bounds): View {
  const first = Math.min(bounds.oldest, bounds.newest - DayMicroseconds) - view.span / 2
  const last = bounds.newest - view.span / 2
  return { span: view.span, from: Math.max(first, Math.min(last, view.from)) }
}

/** The view between two others, at 0 to 1: spans change by ratio, so that each step looks alike, and the middle of what is approached stays where it is. */
export function between(one: View, other: View, part: number): View {
  if (part >= 1) return other
  const span = one.span * (other.span / one.span) ** part
  // Along a line in (from, span): what both views show at the same place stays at that place.
  const share = other.span === one.span ? part : (span - one.span) / (other.span - one.span)
  return { from: one.from + (other.from - one.from) * share, span }
}

const StepSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** The distance of ticks, in microseconds, so that they are at least a number of pixels apart. */
export function tickStep(perPixel: number, leastPixels: number): number {
  const least = perPixel * leastPixels
  for (let power = 1; power < 1_000_000; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power >= least) return digit * power
  }

  for (const seconds of StepSeconds) if (seconds * 1_000_000 >= least) return seconds * 1_000_000
  return 86_400_000_000
}

let zoneQuarter = Number.NaN
let zoneMinutes = 0

/** How far the clock on the wall is ahead of UTC, in minutes. Asked once for a quarter of an hour: no zone changes within. */
export function zoneOffset(microseconds: number): number {
  const quarter = Math.floor(microseconds / 900_000_000)
  if (quarter !== zoneQuarter) {
    zoneQuarter = quarter
    zoneMinutes = -new Date(microseconds / 1000).getTimezoneOffset()
  }

  return zoneMinutes
}

/** The first tick in a view: hours and days begin where people's clocks say so. */
export function firstTick(from: number, step: number, offsetMinutes: number): number {
  const offset = offsetMinutes * 60_000_000
  return Math.ceil((from + offset) / step) * step - offset
}
