import { type Signal, useSignal, useSignalEffect } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { live, type Sample } from "./live"
import { ask } from "./request"

interface Answer {
  Node: string
  SpanSeconds: number
  LastSeen: string | null
  IsObserved: boolean
  Columns: string[]
  Rows: (number | null)[][]
}

/** What history tells beside the figures of a sample: how much of the time power or firmware complained. */
type Name = Extract<keyof Sample, string> | "UnderVoltageRatio" | "ThrottledRatio"

/** Figures of some nodes over the same times; null where a node was off, or did not know. */
export interface History {
  times: number[]
  /** A row for each time, by node and figure. */
  of: (tag: string, name: Name) => (number | null)[]
  /** When a node was heard of last, by those who saw it. */
  lastSeen: (tag: string) => Date | null
}

const MostPoints = 360
const RefreshSeconds = 300

/** What some nodes said of themselves in the last `seconds`, or in those before `to`; it grows with the live figures. */
export function useHistory(
  tags: readonly string[],
  names: readonly Name[],
  seconds: number,
  to?: number,
): { history: Signal<History | null>; trouble: Signal<unknown> } {
  const table = useSignal<Table | null>(null)
  const history = useSignal<History | null>(null)
  const trouble = useSignal<unknown>(null)
  const key = `${tags.join()} ${names.join()} ${seconds} ${to ?? ""}`
  useEffect(() => {
    let isCurrent = true
    const load = async () => {
      if (document.hidden || tags.length === 0) return
      const end = to ?? nowSeconds()
      const from = Math.floor(end - seconds)
      try {
        const answers = await Promise.all(
          tags.map((tag) =>
            ask<Answer>(
              `/dashboard/history?node=${encodeURIComponent(tag)}&from=${from}${to ? `&to=${Math.ceil(to)}` : ""}&points=${MostPoints}&columns=${names.join()}`,
            ),
          ),
        )
        if (!isCurrent) return
        table.value = align(answers, from, end, seconds)
        history.value = shown(table.value)
        trouble.value = null
      } catch (failure) {
        if (isCurrent) trouble.value = failure
      }
    }
    void load()
    const timer = setInterval(load, RefreshSeconds * 1000)
    return () => {
      isCurrent = false
      clearInterval(timer)
    }
  }, [key])
  useSignalEffect(() => {
    const state = live.value
    if (!state || to !== undefined || !table.value) return
    const at = Date.parse(state.Time) / 1000
    for (const tag of tags) {
      const node = state.Nodes.find((one) => one.Tag === tag)
      if (node?.State === "up" && node.Sample) append(table.value, tag, names, at, node.Sample)
    }
    history.value = shown(table.value)
  })
  return { history, trouble }
}

/** The cluster's now, not this browser's. */
export function nowSeconds(): number {
  const state = live.peek()
  return (state ? Date.parse(state.Time) : Date.now()) / 1000
}

interface Table {
  from: number
  span: number
  /** How much of the past is shown. */
  seconds: number
  columns: Map<string, (number | null)[]>
  seen: Map<string, Date | null>
  count: number
}

/** Nodes sample at moments of their own: rows of about the same time come to stand under each other. */
export function align(answers: Answer[], from: number, to: number, seconds: number): Table {
  const span = Math.max(10, ...answers.map((answer) => answer.SpanSeconds))
  const count = Math.max(1, Math.floor((to - from) / span) + 1)
  const table: Table = { from, span, seconds, columns: new Map(), seen: new Map(), count }
  for (const answer of answers) {
    const time = answer.Columns.indexOf("UnixSecond")
    table.seen.set(answer.Node, answer.LastSeen ? new Date(answer.LastSeen) : null)
    answer.Columns.forEach((name, at) => {
      if (at === time) return
      const values = new Array<number | null>(count).fill(null)
      for (const row of answer.Rows) {
        const slot = Math.floor(((row[time] ?? 0) - from) / span)
        if (slot >= 0 && slot < count) values[slot] = row[at] ?? null
      }
      bridge(values)
      table.columns.set(`${answer.Node} ${name}`, values)
    })
  }

  return table
}

/** One time that a node missed by its own beat is no outage. */
function bridge(values: (number | null)[]): void {
  for (let at = 1; at < values.length - 1; at++) {
    if (values[at] === null && values[at - 1] !== null && values[at + 1] !== null) values[at] = values[at - 1] ?? null
  }
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
    return sample.Throttled && Number(sample.Throttled.some((one) => one === "throttled" || one === "frequency_capped"))
  return sample[name]
}

function shown(table: Table): History {
  const most = Math.ceil(table.seconds / table.span) + 1
  const skipped = Math.max(0, table.count - most)
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
