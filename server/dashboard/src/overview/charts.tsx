import { signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { Chart, type Line } from "../shell/chart"
import { Choice } from "../shell/choice"
import { ErrorSentence } from "../shell/error-sentence"
import { type Axis, celsius, count, milliseconds, millisecondsAxis, syncsTook } from "../shell/format"
import { type History, useHistory } from "../shell/history"
import { isLive, live } from "../shell/live"
import { nodeColour } from "../shell/node-words"
import { Panel } from "../shell/panel"

const ranges = [
  { value: 600, title: "10 min" },
  { value: 3600, title: "1 h" },
  { value: 6 * 3600, title: "6 h" },
  { value: 24 * 3600, title: "24 h" },
]

const range = signal(3600)

const figures = [
  "WritesPerSecond",
  "ReadsPerSecond",
  "WriteP50Milliseconds",
  "WriteP99Milliseconds",
  "ReadP50Milliseconds",
  "ReadP99Milliseconds",
  "SyncP99Milliseconds",
  "TemperatureCelsius",
] as const

type Name = (typeof figures)[number]

/** Charts of rates and latencies of the cluster, and of syncs and temperature of each node. */
export function Charts() {
  const nodes = live.value?.Nodes ?? []
  const tags = nodes.map((node) => node.Tag)
  const { history, trouble } = useHistory(tags, figures, range.value)
  const shown = history.value
  const lines = useMemo(
    () =>
      shown && {
        rates: [
          whole("Writes", "--node-2", shown, tags, "WritesPerSecond", sum),
          whole("Reads", "--node-1", shown, tags, "ReadsPerSecond", sum),
        ],
        latency: [
          whole("Write p99", "--node-2", shown, tags, "WriteP99Milliseconds", worst),
          { ...whole("p50", "--node-2", shown, tags, "WriteP50Milliseconds", worst), dashed: true },
          whole("Read p99", "--node-1", shown, tags, "ReadP99Milliseconds", worst),
          { ...whole("p50 ", "--node-1", shown, tags, "ReadP50Milliseconds", worst), dashed: true },
        ],
        syncs: nodes.map((node) => ({
          label: node.Name || node.Tag,
          colour: nodeColour(nodes, node.Tag),
          values: shown.of(node.Tag, "SyncP99Milliseconds"),
        })),
        heat: nodes.map((node) => ({
          label: node.Name || node.Tag,
          colour: nodeColour(nodes, node.Tag),
          values: shown.of(node.Tag, "TemperatureCelsius"),
        })),
      },
    [shown],
  )
  const stale = !isLive.value
  return (
    <section class="stack" aria-label="Over time">
      <div class="title-row">
        <h2 class="grow">Over time</h2>
        <Choice
          label="How far back"
          options={ranges}
          chosen={range.value}
          onChoose={(value) => {
            range.value = value
          }}
        />
      </div>
      <ErrorSentence of={trouble.value} />
      <div class="chart-grid">
        <Panel title="Requests a second" stale={stale}>
          <Draw label="Requests a second of all nodes" shown={shown} lines={lines?.rates} format={count} atLeast={10} />
        </Panel>
        <Panel title="Latency, of the slowest node" stale={stale}>
          <Draw
            label="Latency of requests"
            shown={shown}
            lines={lines?.latency}
            format={milliseconds}
            axis={millisecondsAxis}
            atLeast={5}
            clips
          />
        </Panel>
        <Panel title="Journal syncs of 10 s: 99 % took at most" stale={stale}>
          <Draw
            label="Time of journal syncs, 99th percentile"
            shown={shown}
            lines={lines?.syncs}
            format={syncsTook}
            axis={millisecondsAxis}
            atLeast={10}
            clips
          />
        </Panel>
        <Panel title="Temperature" stale={stale}>
          <Draw label="Temperature" shown={shown} lines={lines?.heat} format={celsius} floats />
        </Panel>
      </div>
    </section>
  )
}

interface DrawProps {
  label: string
  shown: History | null
  lines: Line[] | null | undefined
  format: (value: number | null | undefined) => string
  axis?: Axis
  atLeast?: number
  floats?: boolean
  clips?: boolean
}

function Draw({ label, shown, lines, format, axis, atLeast = 0, floats = false, clips = false }: DrawProps) {
  if (!shown || !lines) return <div class="chart-room" />
  return (
    <Chart
      label={label}
      times={shown.times}
      lines={lines}
      format={format}
      together="overview"
      atLeast={atLeast}
      floats={floats}
      clips={clips}
      {...(axis ? { axis } : {})}
    />
  )
}

/** Combines the lines of all nodes to one; null where no node has a value. */
function whole(label: string, colour: string, shown: History, tags: string[], name: Name, fold: (a: number, b: number) => number): Line {
  const columns = tags.map((tag) => shown.of(tag, name))
  const values = shown.times.map((_, at) =>
    columns.reduce<number | null>((folded, column) => {
      const value = column[at] ?? null
      return value === null ? folded : folded === null ? value : fold(folded, value)
    }, null),
  )
  return { label, colour, values }
}

const sum = (a: number, b: number) => a + b
const worst = (a: number, b: number) => Math.max(a, b)
