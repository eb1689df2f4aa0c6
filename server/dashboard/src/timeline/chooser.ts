import { signal } from "@preact/signals"
import type { EventColumns } from "./event-columns"
import { durableBytes, eventOf, type FoundEvent } from "./found"
import { JournalSync } from "./kinds"
import { type NodeStore, ReportedSyncMicroseconds, SlowSyncMicroseconds } from "./node-store"
import type { Stage } from "./stage"

/** Share of the width that an event takes after zooming into it. */
const EventShare = 0.4

/** The event that the user chose by keyboard or click, and its lane. */
export class Chooser {
  readonly chosen = signal<FoundEvent | null>(null)
  readonly lane = signal<number | null>(null)

  constructor(
    private readonly store: NodeStore,
    private readonly stage: Stage,
  ) {}

  choose(event: FoundEvent | null): void {
    this.chosen.value = event
    if (event) this.lane.value = event.kind
  }

  /** Moves to the lane above or below. */
  changeLane(step: number): void {
    const { shown } = this.stage
    const place = this.lane.value === null ? -1 : shown.indexOf(this.lane.value)
    const next = place < 0 ? (step > 0 ? 0 : shown.length - 1) : Math.max(0, Math.min(shown.length - 1, place + step))
    this.lane.value = shown[next] ?? null
    this.chosen.value = null
    this.step(1)
  }

  /** Moves to the next or previous event of the lane. If none is chosen, chooses the one in the middle of the view. */
  step(direction: 1 | -1): void {
    const kind = this.lane.value ?? this.stage.shown[0]
    if (kind === undefined) return
    this.lane.value = kind
    const { view } = this.stage
    const events = this.store.events[kind] as EventColumns
    const from = this.chosen.value?.start ?? view.from + view.span / 2
    const isFirst = this.chosen.value === null
    const next = isFirst
      ? Math.min(events.firstFrom(from), events.count - 1)
      : direction > 0
        ? events.firstFrom(from + 1)
        : events.firstFrom(from) - 1
    if (next >= 0 && next < events.count) this.show(eventOf(events, kind, next))
  }

  /** Moves to the next slow sync. */
  stepSlow(direction: 1 | -1): void {
    const { view } = this.stage
    const from = this.chosen.value?.start ?? view.from + view.span / 2
    const found = [
      nextSlow(this.store.slow[JournalSync] as EventColumns, from, direction, ReportedSyncMicroseconds),
      nextSlow(this.store.events[JournalSync] as EventColumns, from, direction, SlowSyncMicroseconds),
    ].filter((event) => event !== null)
    const nearest = found.sort((one, other) => (one.start - other.start) * direction)[0]
    if (nearest) this.show({ ...nearest, bytes: durableBytes(this.store, nearest.start) })
  }

  /** Zooms into the chosen event. */
  enter(): void {
    const event = this.chosen.value
    if (!event) return
    this.stage.isFollowing.value = false
    const span = Math.max(event.duration, 20) / EventShare
    this.stage.go({ from: event.start + event.duration / 2 - span / 2, span }, true)
  }

  /** Chooses an event, and scrolls the view to it. */
  show(event: FoundEvent): void {
    this.choose(event)
    const { view } = this.stage
    if (event.start >= view.from && event.start + event.duration <= view.from + view.span) {
      this.stage.request()
      return
    }

    this.stage.isFollowing.value = false
    const span = Math.max(view.span, event.duration / EventShare)
    this.stage.go({ from: event.start + event.duration / 2 - span / 2, span }, true)
  }
}

function nextSlow(events: EventColumns, from: number, direction: 1 | -1, least: number): FoundEvent | null {
  let index = direction > 0 ? events.firstFrom(from + 1) : events.firstFrom(from) - 1
  for (; index >= 0 && index < events.count; index += direction) {
    if ((events.duration[index] as number) >= least) return eventOf(events, JournalSync, index)
  }

  return null
}
