import { type Signal, useSignal, useSignalEffect } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import { type Answer, align, bridge, isBeyond, type Table } from "./align"
import { live, type Sample } from "./live"
import { ask } from "./request"

/** Columns of a history: the figures of a sample, and the share of time with under-voltage and throttling. */
type Name = Extract<keyof Sample, string> | "UnderVoltageRatio" | "ThrottledRatio"

/** Figures of nodes at common times; null where a node was off, or did not know the value. */
export interface History {
  times: number[]
  /** Returns the values of a figure of a node, one for each time. */
  of: (tag: string, name: Name) => (number | null)[]
  /** Returns when other members last heard a node. */
  lastSeen: (tag: string) => Date | null
}

const MostPoints = 360
const RefreshSeconds = 300
const MinShownSeconds = 600

/** Loads the history of nodes for the `seconds` before `to`, or without `to` for the last ones, with live samples. */
export function useHistory(
  tags: readonly string[],
  names: readonly Name[],
  seconds: number,
  to?: number,
): { history: Signal<History | null>; trouble: Signal<unknown> } {
  const table = useSignal<Table | null>(null)
  const history = useSignal<History | null>(null)
  const trouble = useSignal<unknown>(null)
  const reload = useRef<() => Promise<void>>(async () => {})
  const key = `${tags.join()} ${names.join()} ${seconds} ${to ?? ""}`
  useEffect(() => {
    const leaving = new AbortController()
    const load = async () => {
      if (document.hidden || tags.length === 0) return
      const end = to ?? nowSeconds()
      const from = Math.floor(end - seconds)
      try {
        const answers = await Promise.all(
          tags.map((tag) =>
            ask<Answer>(
              `/dashboard/history?node=${encodeURIComponent(tag)}&from=${from}${to ? `&to=${Math.ceil(to)}` : ""}&points=${MostPoints}`,
              { signal: leaving.signal },
            ),
          ),
        )
        if (leaving.signal.aborted) return
        table.value = align(answers, from, end, seconds)
        history.value = shown(table.value)
        trouble.value = null
      } catch (failure) {
        if (!leaving.signal.aborted) trouble.value = failure
      }
    }
    reload.current = load
    void load()
    const timer = setInterval(load, RefreshSeconds * 1000)
    // Loads the samples missed while the page was hidden. Otherwise the gap would look like an outage.
    const back = () => void load()
    document.addEventListener("visibilitychange", back)
    return () => {
      leaving.abort()
      clearInterval(timer)
      document.removeEventListener("visibilitychange", back)
    }
  }, [key])
  useSignalEffect(() => {
    const state = live.value
    if (!state || to !== undefined || !table.value) return
    const at = Date.parse(state.Time) / 1000
    if (isBeyond(table.value, at)) {
      table.value = null
      void reload.current()
      return
    }

    for (const tag of tags) {
      const node = state.Nodes.find((candidate) => candidate.Tag === tag)
      if (node?.State === "up" && node.Sample) append(table.value, tag, names, at, node.Sample)
    }
    history.value = shown(table.value)
  })
  return { history, trouble }
}

/** Returns the cluster's current time, not this browser's. */
export function nowSeconds(): number {
  const state = live.peek()
  return (state ? Date.parse(state.Time) : Date.now()) / 1000
}

function append(table: Table, tag: string, names: readonly Name[], at: number, sample: Sample): void {
  const slot = Math.floor((at - table.from) / table.span)
  if (slot < 0) return
  table.count = Math.max(table.count, slot + 1)
  for (const name of names) {
    const key = `${tag} ${name}`
    const values = table.columns.get(key) ?? []
    while (values.length < table.count) values.push(null)
    const value = figureOf(sample, name)
    values[slot] = typeof value === "number" ? value : null
    bridge(values)
    table.columns.set(key, values)
  }
}

function figureOf(sample: Sample, name: Name): unknown {
  if (name === "UnderVoltageRatio") return sample.Throttled && Number(sample.Throttled.includes("under_voltage"))
  if (name === "ThrottledRatio")
    return sample.Throttled && Number(sample.Throttled.some((candidate) => candidate === "throttled" || candidate === "frequency_capped"))
  return sample[name]
}

/** Returns the index of the first slot with a known value. Charts begin there: a new cluster shows no empty day. */
function firstKnown(table: Table): number {
  const firsts = [...table.columns.values()].map((values) => values.findIndex((value) => value !== null)).filter((at) => at >= 0)
  return firsts.length === 0 ? 0 : Math.min(...firsts)
}

function shown(table: Table): History {
  const most = Math.ceil(table.seconds / table.span) + 1
  const skipped = Math.max(0, table.count - most, Math.min(firstKnown(table), table.count - Math.ceil(MinShownSeconds / table.span)))
  const count = table.count - skipped
  return {
    times: Array.from({ length: count }, (_, at) => table.from + (skipped + at) * table.span),
    of: (tag, name) => {
      const values = table.columns.get(`${tag} ${name}`) ?? []
      return Array.from({ length: count }, (_, at) => values[skipped + at] ?? null)
    },
    lastSeen: (tag) => table.seen.get(tag) ?? null,
  }
}
