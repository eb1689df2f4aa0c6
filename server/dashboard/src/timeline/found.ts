import { bytes, count, ratio } from "../shell/format"
import type { EventColumns } from "./event-columns"
import { JournalSync, kinds } from "./kinds"
import type { LanePixels } from "./lane-pixels"
import { type NodeStore, ReportedSyncMicroseconds } from "./node-store"
import { durationText, speedText, timeText } from "./text"

/** A disk operation that the user pointed at or chose. */
export interface FoundEvent {
  kind: number
  start: number
  duration: number
  /** Bytes of the operation. For a sync, the bytes that it made durable, 0 if unknown. */
  bytes: number
  isSync: boolean
}

/**
 * What is drawn below the pointer: an event, with the number of events in its pixel, or the sum of a span whose events
 * are unknown.
 */
export interface Found extends FoundEvent {
  count: number
  isSum: boolean
  /** For a sum: the share of its span with operations of this kind, and the span. */
  busy: number
}

const ReachPixels = 4

/**
 * Finds the longest event that a lane shows at a column of pixels or near it. `low` tells whether the pointer is in the
 * lane's lower half, where a second, simultaneous event is drawn.
 */
export function findIn(
  store: NodeStore,
  lane: LanePixels,
  kind: number,
  column: number,
  low: boolean,
  from: number,
  perPixel: number,
  ratioOfPixels = 1,
): Found | null {
  const reach = Math.round(ReachPixels * ratioOfPixels)
  const slow = kind === JournalSync ? slowNear(store, from + (column - reach) * perPixel, from + (column + reach) * perPixel) : null
  if (slow) return { ...slow, count: 1, isSum: false, busy: 1 }
  const inside = (low && lane.inset[column]) || lane.box[column]
  if (inside) return eventAt(store, kind, inside, 1)
  const nearest = longestNear(lane, column, reach)
  if (nearest < 0) return null
  const event = lane.longestEvent[nearest] as number
  if (event !== 0) return eventAt(store, kind, event, Math.max(1, Math.round(lane.count[nearest] as number)))
  return {
    kind,
    start: from + nearest * perPixel,
    duration: lane.longest[nearest] as number,
    bytes: lane.bytes[nearest] as number,
    isSync: kind === JournalSync,
    count: lane.count[nearest] as number,
    isSum: true,
    busy: Math.min(1, (lane.busy[nearest] as number) / perPixel),
  }
}

/** Returns labels and values that describe a found event or sum, in reading order. */
export function linesOf(found: Found): [string, string][] {
  const title = kinds[found.kind]?.title ?? ""
  if (found.isSum) {
    return [
      [title, `${count(Math.max(1, found.count))} operations in this pixel`],
      ["from", timeText(found.start, 1_000_000)],
      ["busy", ratio(found.busy)],
      ["longest", durationText(found.duration)],
      [found.isSync ? "made durable" : "bytes", bytes(found.bytes)],
    ]
  }

  const lines: [string, string][] = [
    [title, found.count > 1 ? `the longest of ${count(found.count)} here` : ""],
    ["start", timeText(found.start, 1)],
    ["took", durationText(found.duration)],
  ]
  if (found.bytes > 0) {
    lines.push([found.isSync ? "made durable" : "bytes", bytes(found.bytes)])
    const speed = speedText(found.bytes, found.duration)
    if (speed) lines.push(["speed", speed])
  }

  return lines
}

/** Describes a found event or sum in one sentence, for screen readers. */
export function sentenceOf(found: Found): string {
  return `${linesOf(found)
    .map(([label, value], index) => (index === 0 ? `${label}${value ? `, ${value}` : ""}` : `${label} ${value}`))
    .join(", ")}.`
}

function eventAt(store: NodeStore, kind: number, reference: number, many: number): Found | null {
  const events = store.columnsOf(kind, reference)
  const index = Math.abs(reference) - 1
  // The oldest events may have been removed since the lane was filled.
  if (index >= events.count) return null
  return { ...eventOf(events, kind, index), count: many, isSum: false, busy: 1 }
}

export function eventOf(events: EventColumns, kind: number, index: number): FoundEvent {
  return {
    kind,
    start: events.start[index] as number,
    duration: events.duration[index] as number,
    bytes: events.bytes[index] as number,
    isSync: events.isSync[index] === 1,
  }
}

function longestNear(lane: LanePixels, column: number, reach: number): number {
  let best = -1
  for (let near = Math.max(0, column - reach); near <= Math.min(lane.width - 1, column + reach); near++) {
    const isThere = (lane.count[near] as number) > 0 || (lane.busy[near] as number) > 0 || lane.longestEvent[near] !== 0
    if (!isThere) continue
    const longer = best < 0 ? 1 : (lane.longest[near] as number) - (lane.longest[best] as number)
    // If the longest event of a sum is known itself, in a column beside it, prefer the event.
    if (longer > 0 || (longer === 0 && lane.longestEvent[best] === 0 && lane.longestEvent[near] !== 0)) best = near
  }

  return best
}

/** Returns the longest slow sync in a span. If the same sync is among all events, its bytes are known there. */
function slowNear(store: NodeStore, from: number, to: number): FoundEvent | null {
  const slow = store.slow[JournalSync]
  if (!slow) return null
  let best = -1
  for (let index = slow.firstReaching(from); index < slow.count && (slow.start[index] as number) < to; index++) {
    const isLonger = best < 0 || (slow.duration[index] as number) > (slow.duration[best] as number)
    if (isLonger && (slow.duration[index] as number) >= ReportedSyncMicroseconds) best = index
  }

  if (best < 0) return null
  const found = eventOf(slow, JournalSync, best)
  return { ...found, bytes: durableBytes(store, found.start) }
}

/** Returns the bytes that the sync with a start time made durable; 0 if its writes are unknown. */
export function durableBytes(store: NodeStore, start: number): number {
  const events = store.events[JournalSync]
  const same = events?.firstFrom(start) ?? 0
  return events && same < events.count && events.start[same] === start ? (events.bytes[same] as number) : 0
}
