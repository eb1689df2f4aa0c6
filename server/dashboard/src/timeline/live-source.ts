import { signal } from "@preact/signals"
import { ask, Refusal } from "../shell/request"
import { Intervals } from "./intervals"
import { LineNames } from "./lines"
import { DayMicroseconds, type IoAnswer, indexes, Micro, type NodeStore, type Rows } from "./node-store"
import { RollUpSpans } from "./roll-up-columns"
import { levelFor } from "./sum-layers"
import type { View } from "./view"

const PollMilliseconds = 1000
const RetryMilliseconds = 5000
/** Maximum number of spans in an answer of the node. */
const MostSpans = 4096
const HistoryPoints = 600
/** A view narrower than this needs a finer history than the day's. */
const FineHistoryMicroseconds = 6 * 3600 * Micro

interface History {
  SpanSeconds: number
  Columns: string[]
  Rows: (number | null)[][]
}

/**
 * Follows one node: fetches its events once a second while the page is visible, and sums and lines for the current
 * view. If the node is down, fetches what other members kept.
 */
export class LiveSource {
  /** Why there are no new data; empty while there are. */
  readonly trouble = signal("")
  private since = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private isAsking = false
  private readonly leaving = new AbortController()
  private hasSlowOfOthers = false
  private readonly knownHistory = new Intervals()
  private historyRefusedUntil = 0

  constructor(
    readonly store: NodeStore,
    private readonly changed: () => void,
  ) {
    void this.poll()
  }

  stop(): void {
    this.leaving.abort()
    clearTimeout(this.timer)
  }

  private get isStopped(): boolean {
    return this.leaving.signal.aborted
  }

  /** Fetches data that a view lacks, one request at a time. */
  async want(view: View, perPixel: number): Promise<void> {
    if (this.isAsking || this.isStopped || this.since === 0) return
    this.isAsking = true
    try {
      if ((await this.wantSums(view, perPixel)) || (await this.wantHistory(view))) this.changed()
    } catch {
      // The poll reports the error and retries. So does the next change of the view.
    } finally {
      this.isAsking = false
    }
  }

  private async poll(): Promise<void> {
    let wait = PollMilliseconds
    if (!document.hidden) {
      try {
        await this.pollOnce()
        this.trouble.value = ""
      } catch (failure) {
        if (this.isStopped) return
        wait = RetryMilliseconds
        this.trouble.value = failure instanceof Error ? failure.message : String(failure)
        await this.askOtherMembers()
      }
    }

    if (!this.isStopped) this.timer = setTimeout(() => void this.poll(), wait)
  }

  private async pollOnce(): Promise<void> {
    const isFirst = this.since === 0
    const answer = await this.askIo(isFirst ? "span=60" : `since=${this.since}&span=1`)
    if (this.isStopped) return
    const until = answer.Events.UntilUnixMicroseconds ?? 0
    // If the node's clock was set back, keeps the known events, and requests new ones from the clock's current time on.
    const from = Math.min(this.since, until)
    this.store.name = answer.NodeName || this.store.name
    this.store.devices = answer.Devices
    this.store.addEvents(answer.Events)
    this.store.addSlowEvents(answer.SlowEvents)
    const second = Math.floor(until / Micro)
    if (isFirst) {
      const day = 86_400 / 60
      const minute = Math.floor(second / 60)
      this.store.addRollUps(answer.RollUps, (minute - day) * 60, minute * 60)
    } else {
      // After the page was hidden for long, the answer has only the newest seconds. Others are fetched when they come
      // into view.
      this.store.addRollUps(answer.RollUps, Math.max(Math.floor(from / Micro), second + 2 - MostSpans), second)
    }

    this.store.forgetBefore(until - DayMicroseconds - 3600 * Micro)
    this.since = until
    this.changed()
    if (isFirst) {
      // The sums of the seconds of the current minute, so that those of later seconds follow without a gap.
      await this.addSums(2, Math.floor(second / 60) * 60, second)
      await this.addHistory(until - DayMicroseconds, until)
      this.changed()
    }
  }

  private ask<T>(path: string): Promise<T> {
    return ask<T>(path, { signal: this.leaving.signal })
  }

  private async askIo(query: string): Promise<IoAnswer> {
    const answer = await this.ask<IoAnswer>(`/debug/io?node=${encodeURIComponent(this.store.tag)}&${query}`)
    if (answer.Node !== this.store.tag) {
      throw new Refusal(
        0,
        `Node ${answer.Node} cannot ask node ${this.store.tag}, and answered for itself. Open this page on node ${this.store.tag}.`,
      )
    }

    return answer
  }

  /** Fetches missing sums; returns whether a request was sent. */
  private async wantSums(view: View, perPixel: number): Promise<boolean> {
    const index = levelFor(perPixel)
    const level = this.store.levels[index]
    const span = RollUpSpans[index]
    if (!level || !span) return false
    const end = this.since / Micro
    // Whole spans only. The current one is covered by shorter spans.
    const from = Math.floor(Math.max(view.from / Micro, end - 86_400) / span) * span
    const to = Math.floor(Math.min((view.from + view.span) / Micro, end) / span) * span
    const missing = level.known.firstMissing(from, to)
    if (!missing) return false
    await this.addSums(index, Math.max(missing.from, missing.to - MostSpans * span), missing.to)
    return true
  }

  private async addSums(index: number, fromSecond: number, toSecond: number): Promise<void> {
    if (fromSecond >= toSecond) return
    const span = RollUpSpans[index] as number
    const answer = await this.askIo(`only=rollups&since=${fromSecond * Micro}&until=${toSecond * Micro - 1}&span=${span}`)
    this.store.addRollUps(answer.RollUps, fromSecond, toSecond)
  }

  private async wantHistory(view: View): Promise<boolean> {
    if (view.span > FineHistoryMicroseconds) return false
    const from = Math.floor(Math.max(view.from - view.span / 2, this.since - DayMicroseconds) / Micro)
    const to = Math.floor(Math.min(view.from + view.span * 1.5, this.since - 20 * Micro) / Micro)
    const missing = this.knownHistory.firstMissing(from, to)
    if (!missing || missing.to - missing.from < 30) return false
    if (!(await this.addHistory(missing.from * Micro, missing.to * Micro))) return false
    this.knownHistory.add(missing.from, missing.to)
    return true
  }

  private async addHistory(from: number, to: number): Promise<boolean> {
    if (Date.now() < this.historyRefusedUntil) return false
    try {
      const query = `node=${encodeURIComponent(this.store.tag)}&from=${Math.floor(from / Micro)}&to=${Math.ceil(to / Micro)}&points=${HistoryPoints}`
      this.store.lines.replace(samplesOf(await this.ask<History>(`/dashboard/history?${query}`)))
      return true
    } catch {
      // Retry later. The lanes work without latency and temperature.
      this.historyRefusedUntil = Date.now() + 60_000
      return false
    }
  }

  /** Fetches the slow events and last hours of a node that does not answer, which other members keep. */
  private async askOtherMembers(): Promise<void> {
    if (this.hasSlowOfOthers) return
    try {
      const slow = await this.ask<Rows>(`/dashboard/slow?node=${encodeURIComponent(this.store.tag)}`)
      this.hasSlowOfOthers = true
      this.store.addSlowEvents(slow)
      const now = Date.now() * 1000
      await this.addHistory(now - DayMicroseconds, now)
      this.changed()
    } catch {
      // No member has its data. The poll's message stays.
    }
  }
}

/** Converts rows of /dashboard/history to points of the lines. */
export function samplesOf(history: History): { time: number; values: (number | null)[] }[] {
  const [second] = indexes(history as unknown as Rows, "UnixSecond")
  const columns = LineNames.map((name) => history.Columns.indexOf(name))
  return history.Rows.map((row) => ({
    time: Number(row[second as number]) * Micro,
    values: columns.map((column) => (column < 0 ? null : (row[column] ?? null))),
  }))
}
