import { effect, signal } from "@preact/signals"
import { kinds } from "./kinds"
import { DayMicroseconds, Micro } from "./node-store"
import { type Palette, readPalette } from "./palette"
import type { TrackCanvas } from "./track-canvas"
import { type Bounds, between, kept, moved, type View, zoomed } from "./view"

const GlideMilliseconds = 220
const SettleMilliseconds = 150
const FollowedSettleMilliseconds = 1000
/** Delay of the followed view. Events arrive once a second, so a shorter delay would show an empty edge. */
const LagMicroseconds = 1.3 * Micro
/** A narrower view is not followed, because events would pass too fast to read. */
export const LeastFollowedMicroseconds = 2 * Micro
/** Share of the width that stays free at the right while long spans are followed. */
const FollowedMargin = 0.01

/** A store of data, and their range in microseconds; undefined without data. */
export interface Known {
  readonly oldest: number | undefined
  readonly newest: number | undefined
}

/** Draws a part of the page besides the tracks, together with them: the axis, or the strip of the day. */
export type Drawing = (view: View, palette: Palette) => void

/**
 * The time axis that all nodes share: its view, the view's movement, and the drawing of frames. A frame is drawn only
 * after a change.
 */
export class Stage {
  view: View
  readonly tracks = new Set<TrackCanvas>()
  readonly drawings = new Set<Drawing>()
  /** Whether the view follows the newest events. */
  readonly isFollowing = signal(true)
  readonly hidden = signal<ReadonlySet<number>>(new Set(kinds.flatMap((kind, index) => (kind.isFolded ? [index] : []))))
  /** Called when the view has not moved for a moment. */
  settled: () => void = () => {}
  shown: number[] = []
  /** Number of calls of {@link addKnown}. */
  additions = 0
  private palette: Palette | undefined
  private goal: { from: View; to: View; begun: number } | undefined
  private frame = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private settling: ReturnType<typeof setTimeout> | undefined
  /** The clock of the followed node minus this browser's, in microseconds. */
  private ahead = 0
  /** The range of the known data of each store, which forgets data and may be removed. */
  private readonly known = new Map<Known, Bounds>()
  private isStill = false
  private isStopped = false
  private readonly stops: (() => void)[] = []

  constructor() {
    const now = Date.now() * 1000
    this.view = { from: now - 60 * Micro, span: 60 * Micro }
    this.stops.push(
      effect(() => {
        this.shown = kinds.map((_, index) => index).filter((index) => !this.hidden.value.has(index))
        this.request()
      }),
    )
    const schemes = matchMedia("(prefers-color-scheme: dark)")
    const repaint = () => {
      this.palette = undefined
      this.request()
    }
    schemes.addEventListener("change", repaint)
    // The root element may have an attribute that sets the colour scheme.
    const watcher = new MutationObserver(repaint)
    watcher.observe(document.documentElement, { attributes: true })
    const seen = () => {
      if (!document.hidden) this.request()
    }
    document.addEventListener("visibilitychange", seen)
    this.stops.push(
      () => schemes.removeEventListener("change", repaint),
      () => watcher.disconnect(),
      () => document.removeEventListener("visibilitychange", seen),
    )
  }

  /** Stops all drawing, because the page is left. */
  stop(): void {
    this.isStopped = true
    for (const stop of this.stops) stop()
    cancelAnimationFrame(this.frame)
    clearTimeout(this.timer)
    clearTimeout(this.settling)
  }

  /** Width in device pixels, the same for all tracks. */
  get width(): number {
    for (const track of this.tracks) return track.width
    return 1
  }

  get bounds(): Bounds {
    const newest = this.isStill ? this.newest : Math.max(this.now(), this.newest)
    const oldest = Math.min(...[...this.known.values()].map((bounds) => bounds.oldest))
    return { oldest: Math.min(oldest, newest - 60 * Micro), newest }
  }

  private get newest(): number {
    return Math.max(...[...this.known.values()].map((bounds) => bounds.newest))
  }

  /** Sets the range of a store's known data, and draws it. `until` is the end of the data that a live node has just sent. */
  addKnown(store: Known, until?: number): void {
    this.additions++
    const { oldest = Number.POSITIVE_INFINITY, newest = Number.NEGATIVE_INFINITY } = store
    this.known.set(store, { oldest, newest })
    if (until !== undefined) {
      const ahead = until - Date.now() * 1000
      // The time on the network varies by milliseconds, so ignore small differences.
      if (Math.abs(ahead - this.ahead) > 0.25 * Micro) this.ahead = ahead
    }

    this.request()
  }

  /** Forgets the ranges of all other stores. */
  keepKnown(stores: ReadonlySet<Known>): void {
    for (const store of this.known.keys()) if (!stores.has(store)) this.known.delete(store)
  }

  /** Stops following, for pages that only show files. */
  standStill(isStill: boolean): void {
    this.isStill = isStill
    if (isStill) this.isFollowing.value = false
  }

  zoom(factor: number, place: number, glide = false): void {
    const goal = zoomed(this.goalView, factor, this.isFollowing.value ? this.followedPlace(this.goalView.span) : place, this.bounds)
    if (goal.span < LeastFollowedMicroseconds) this.isFollowing.value = false
    this.go(goal, glide)
  }

  pan(widths: number, glide = false): void {
    this.isFollowing.value = false
    this.go(moved(this.goalView, widths, this.bounds), glide)
  }

  /** Shows a span: up to the newest events while they are followed, otherwise around the middle. */
  showSpan(span: number): void {
    if (this.isFollowing.value && span >= LeastFollowedMicroseconds) {
      this.go(this.followedView(span), true)
      return
    }

    const middle = this.isFollowing.value ? this.followedEdge(span) - span / 2 : this.goalView.from + this.goalView.span / 2
    this.isFollowing.value = false
    this.go(kept({ from: middle - span / 2, span }, this.bounds), true)
  }

  /** Shows a day, up to now. */
  showDay(): void {
    if (this.isFollowing.value) this.showSpan(DayMicroseconds)
    else this.go(kept({ from: this.bounds.newest - DayMicroseconds * 1.01, span: DayMicroseconds * 1.02 }, this.bounds), true)
  }

  showNow(): void {
    if (this.isStill) {
      this.go(kept({ from: this.newest - this.goalView.span * 0.98, span: this.goalView.span }, this.bounds), true)
      return
    }

    this.isFollowing.value = true
    this.go(this.followedView(Math.max(this.goalView.span, LeastFollowedMicroseconds)), true)
  }

  /** Shows a view, with an animation or at once. */
  go(view: View, glide: boolean): void {
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches
    if (glide && !isCalm) {
      this.goal = { from: this.view, to: view, begun: performance.now() }
    } else {
      this.goal = undefined
      this.view = view
    }

    this.request()
  }

  /** Requests a drawing in the next frame. */
  request(): void {
    if (this.frame === 0 && !document.hidden && !this.isStopped) this.frame = requestAnimationFrame(this.draw)
  }

  private get goalView(): View {
    return this.goal?.to ?? this.view
  }

  private readonly draw = (time: number): void => {
    this.frame = 0
    this.palette ??= readPalette()
    this.move(time)
    for (const track of this.tracks) track.draw(this.view, this.shown, this.palette)
    for (const drawing of this.drawings) drawing(this.view, this.palette)
    this.expectNext()
  }

  private move(time: number): void {
    if (this.goal) {
      const part = Math.max(0, Math.min(1, (time - this.goal.begun) / GlideMilliseconds))
      const to = this.isFollowing.value ? this.followedView(this.goal.to.span) : this.goal.to
      this.view = between(this.goal.from, to, 1 - (1 - part) ** 3)
      if (part >= 1) this.goal = undefined
    } else if (this.isFollowing.value) {
      this.view = this.followedView(this.view.span)
    }
  }

  private expectNext(): void {
    clearTimeout(this.timer)
    if (this.goal) {
      this.request()
    } else if (this.isFollowing.value) {
      // Draw as often as the followed view moves by a pixel.
      const milliseconds = this.view.span / this.width / 1000
      if (milliseconds <= 20) this.request()
      else this.timer = setTimeout(() => this.request(), Math.min(milliseconds, 60_000))
    }

    // A followed view always moves, so report it once a second.
    const isRunning = this.isFollowing.value && !this.goal
    if (isRunning && this.settling !== undefined) return
    clearTimeout(this.settling)
    this.settling = setTimeout(this.settle, isRunning ? FollowedSettleMilliseconds : SettleMilliseconds)
  }

  private readonly settle = (): void => {
    this.settling = undefined
    this.settled()
  }

  private now(): number {
    return Date.now() * 1000 + this.ahead
  }

  private followedEdge(span: number): number {
    return this.now() - (span < 600 * Micro ? LagMicroseconds : 0)
  }

  private followedView(span: number): View {
    return { from: this.followedEdge(span) - span * this.followedPlace(span), span }
  }

  private followedPlace(span: number): number {
    return span < 600 * Micro ? 1 : 1 - FollowedMargin
  }
}
