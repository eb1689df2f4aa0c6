import { BlockEvents, type EventColumns } from "./event-columns"
import { eventOf, type FoundEvent } from "./found"
import type { NodeStore } from "./node-store"

/** Returns the longest events of a span of time, longest first. */
export function slowestIn(store: NodeStore, shown: readonly number[], from: number, to: number, most: number): FoundEvent[] {
  const best: FoundEvent[] = []
  for (const kind of shown) {
    for (const events of [store.events[kind], store.slow[kind]]) if (events) collect(events, kind, from, to, most, best)
  }

  return best
}

function collect(events: EventColumns, kind: number, from: number, to: number, most: number, best: FoundEvent[]): void {
  let index = events.firstReaching(from)
  while (index < events.count && (events.start[index] as number) < to) {
    const least = best.length === most ? (best[most - 1] as FoundEvent).duration : -1
    const block = index % BlockEvents === 0 ? events.wholeBlock(index, to) : -1
    if (block >= 0 && (events.duration[events.longestOfBlock(block)] as number) <= least) {
      index += BlockEvents
      continue
    }

    const duration = events.duration[index] as number
    if (duration > least && events.end(index) > from) {
      insert(eventOf(events, kind, index), best, most)
    }

    index++
  }
}

function insert(event: FoundEvent, best: FoundEvent[], most: number): void {
  // A slow event is also in the list of slow events, without the bytes that it made durable.
  const same = best.find(
    (candidate) => candidate.kind === event.kind && candidate.start === event.start && candidate.duration === event.duration,
  )
  if (same) return
  const place = best.findIndex((candidate) => candidate.duration < event.duration)
  best.splice(place < 0 ? best.length : place, 0, event)
  if (best.length > most) best.pop()
}
