import { bytes, count, ratio } from "../shell/format"
import type { EventColumns } from "./event-columns"
import { JournalSync, kinds } from "./kinds"
import type { LanePixels } from "./lane-pixels"
import { type NodeStore, NotedSyncMicroseconds } from "./node-store"
import { durationText, speedText, timeText } from "./text"

/** One piece of work that was pointed at or chosen. */
export interface FoundEvent {
  kind: number
  start: number
  duration: number
  /** Of a sync: what it made durable, 0 when that is not known. */
  bytes: number
  isSync: boolean
}

/** What is under the pointer: an event, and how many share its pixel; or the sum of a span in which single events are not known. */
export interface Found extends FoundEvent {
  count: number
  isSum: boolean
  /** Of a sum: the part of the time in which this work was done, and where it lies. */
  busy: number
}

const ReachPixels = 4

/** What a lane shows at a column of pixels, or near it: the longest, as that is what was aimed at. `low` is whether the pointer is in the lane's lower half, where a box that runs at the same time is drawn. */
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

/** Label and value of everything that is known of it, in the order in which it is read. */
export function linesOf(found: Found): [string, string][] {
  const title = kinds[found.kind]?.title ?? ""
  if (found.isSum) {
    return [
      [title, `${count(Math.max(1, found.count))} pieces in this pixel`],
      ["from", timeText(found.start, 1_000_000)],
      ["at work", ratio(found.busy)],
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

/** As one sentence, for who hears it. */
export function sentenceOf(found: Found): string {
  return `${linesOf(found)
    .map(([label, value], index) => (index === 0 ? `${label}${value ? `, ${value}` : ""}` : `${label} ${value}`))
    .join(", ")}.`
}

function eventAt(store: NodeStore, kind: number, reference: number, many: number): Found | null {
  const events = store.columnsOf(kind, reference)
  const index = Math.abs(reference) - 1
  // The oldest may have been forgotten since the lane was filled.
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
    if (isThere && (best < 0 || (lane.longest[near] as number) > (lane.longest[best] as number))) best = near
  }

  return best
}

/** The longest sync that stands out in a span. The ring of events may have the same one, and then knows what it made durable. */
function slowNear(store: NodeStore, from: number, to: number): FoundEvent | null {
  const slow = store.slow[JournalSync]
  if (!slow) return null
  let best = -1
  for (let index = slow.firstReaching(from); index < slow.count && (slow.start[index] as number) < to; index++) {
    const isLonger = best < 0 || (slow.duration[index] as number) > (slow.duration[best] as number)
    if (isLonger && (slow.duration[index] as number) >= NotedSyncMicroseconds) best = index
  }

  if (best < 0) return null
  const found = eventOf(slow, JournalSync, best)
  return { ...found, bytes: durableBytes(store, found.start) }
}

/** What the sync that began at a time made durable; 0 when its writes are not known. */
export function durableBytes(store: NodeStore, start: number): number {
  const events = store.events[JournalSync]
  const same = events?.firstFrom(start) ?? 0
  return events && same < events.count && events.start[same] === start ? (events.bytes[same] as number) : 0
}
