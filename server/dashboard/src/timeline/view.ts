import { DayMicroseconds } from "./node-store"

/** The widest view: a day, and a little on both sides. */
export const WidestMicroseconds = DayMicroseconds * 1.04
/** The narrowest view: 200 microseconds. */
export const NarrowestMicroseconds = 200

/** The shown span of time, the same for all nodes, in microseconds since 1970 UTC. */
export interface View {
  from: number
  span: number
}

/** The range of views: the known data of all nodes. */
export interface Bounds {
  oldest: number
  newest: number
}

/** Zooms by a factor around a place (0 is left, 1 is right), which stays at its position. */
export function zoomed(view: View, factor: number, place: number, bounds: Bounds): View {
  const span = Math.min(WidestMicroseconds, Math.max(NarrowestMicroseconds, view.span / factor))
  return kept({ from: view.from + (view.span - span) * place, span }, bounds)
}

/** Moves a view by a number of widths. */
export function moved(view: View, widths: number, bounds: Bounds): View {
  return kept({ from: view.from + view.span * widths, span: view.span }, bounds)
}

/** Limits a view so that at most half of it is outside the known data, or outside the day before their end. */
export function kept(view: View, bounds: Bounds): View {
  const first = Math.min(bounds.oldest, bounds.newest - DayMicroseconds) - view.span / 2
  const last = bounds.newest - view.span / 2
  return { span: view.span, from: Math.max(first, Math.min(last, view.from)) }
}

/**
 * Interpolates between two views (0 to 1). Spans change by a constant factor, so that the zoom looks even, and the
 * target's middle stays at its place.
 */
export function between(one: View, other: View, part: number): View {
  if (part >= 1) return other
  const span = one.span * (other.span / one.span) ** part
  // Interpolates (from, span) linearly, so that the point that both views show at the same place stays there.
  const share = other.span === one.span ? part : (span - one.span) / (other.span - one.span)
  return { from: one.from + (other.from - one.from) * share, span }
}

const StepSeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

/** Returns the distance of ticks in microseconds, so that they are at least a number of pixels apart. */
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

/**
 * Returns the minutes by which local time is ahead of UTC. Cached for each quarter of an hour, because no zone changes
 * within one.
 */
export function zoneOffset(microseconds: number): number {
  const quarter = Math.floor(microseconds / 900_000_000)
  if (quarter !== zoneQuarter) {
    zoneQuarter = quarter
    zoneMinutes = -new Date(microseconds / 1000).getTimezoneOffset()
  }

  return zoneMinutes
}

/** Returns the first tick in a view. Hours and days begin in local time. */
export function firstTick(from: number, step: number, offsetMinutes: number): number {
  const offset = offsetMinutes * 60_000_000
  return Math.ceil((from + offset) / step) * step - offset
}
