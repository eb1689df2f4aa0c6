import { JournalSync } from "./kinds"
import type { LanePixels } from "./lane-pixels"
import { type NodeStore, ReportedSyncMicroseconds, SlowSyncMicroseconds, VerySlowSyncMicroseconds } from "./node-store"

export const MarkSlow = 1
export const MarkVerySlow = 2

/**
 * Marks the columns of the lane of syncs that show a slow sync, at any zoom: a slow event, an event that the node
 * reports as slow for its kind, or a roll-up whose longest sync was slow.
 */
export function findMarks(store: NodeStore, lane: LanePixels, from: number, perPixel: number, marks: Uint8Array): void {
  marks.fill(0)
  let column = 0
  while (column < lane.width) {
    const longest = lane.longest[column] as number
    const event = lane.longestEvent[column] as number
    let end = column + 1
    if (longest >= SlowSyncMicroseconds) {
      if (event === 0) {
        // The position within the span is unknown. Mark its middle, unless the event itself is known.
        while (end < lane.width && lane.longest[end] === longest && lane.longestEvent[end] === 0) end++
        if (!knowsSlowIn(store, from + column * perPixel, from + end * perPixel)) raise(marks, (column + end) >> 1, markOf(longest))
      } else {
        raise(marks, column, markOf(longest))
      }
    }

    column = end
  }

  const slow = store.slow[JournalSync]
  if (!slow) return
  for (let index = slow.firstReaching(from); index < slow.count; index++) {
    const begin = ((slow.start[index] as number) - from) / perPixel
    if (begin >= lane.width) return
    if ((slow.duration[index] as number) < ReportedSyncMicroseconds) continue
    const last = Math.min(lane.width - 1, Math.max(Math.round(begin), Math.round((slow.end(index) - from) / perPixel) - 1))
    for (let marked = Math.max(0, Math.round(begin)); marked <= last; marked++) raise(marks, marked, markOf(slow.duration[index] as number))
  }
}

function markOf(microseconds: number): number {
  return microseconds >= VerySlowSyncMicroseconds ? MarkVerySlow : MarkSlow
}

function raise(marks: Uint8Array, column: number, mark: number): void {
  if (mark > (marks[column] as number)) marks[column] = mark
}

function knowsSlowIn(store: NodeStore, from: number, to: number): boolean {
  const slow = store.slow[JournalSync]
  if (!slow) return false
  const index = slow.firstReaching(from)
  return index < slow.count && (slow.start[index] as number) < to
}
