import { signal } from "@preact/signals"
import { useMemo } from "preact/hooks"
import { Chart, type Line } from "../shell/chart"
import { bytes, bytesAxis, celsius, count, milliseconds, millisecondsAxis, ratio, syncsTook } from "../shell/format"
import { useHistory } from "../shell/history"
import { isLive, nodeOf } from "../shell/live"
import { Choice, ErrorSentence, Panel } from "../shell/parts"
import { SlowEvents } from "./slow-events"

const ranges = [
  { value: 1800, title: "30 min" },
  { value: 3 * 3600, title: "3 h" },
  { value: 12 * 3600, title: "12 h" },
  { value: 24 * 3600, title: "24 h" },
]

const range = signal(3 * 3600)

const figures = [
  "TemperatureCelsius",
  "UnderVoltageRatio",
  "ThrottledRatio",
  "SyncP50Milliseconds",
  "SyncP99Milliseconds",
  "WritesPerSecond",
  "ReadsPerSecond",
  "WriteP99Milliseconds",
  "ReadP99Milliseconds",
  "MachineCpuRatio",
  "MachineMemoryUsedBytes",
  "MachineMemoryBytes",
  "DeviceWrittenBytesPerSecond",
  "JournalBytesPerSecond",
] as const

type Name = (typeof figures)[number]

const EndMargin = 60

/** Charts of one node; for a node that is down, of the time before it stopped answering. */
export function NodeCharts({ tag }: { tag: string }) {
  const node = nodeOf(tag)
  const isDown = node?.State === "down"
  const lastSampleAt = node?.Sample?.UnixMilliseconds
  const to = isDown && lastSampleAt ? Math.round(lastSampleAt / 1000) + EndMargin : undefined
  const { history, trouble } = useHistory([tag], figures, range.value, to)
  const shown = history.value
  const charts = useMemo(() => {
    if (!shown) return null
    const line = (label: string, role: string, name: Name, scale = 1): Line => ({
      label,
      colour: role,
      values: scale === 1 ? shown.of(tag, name) : shown.of(tag, name).map((value) => (value === null ? null : value * scale)),
    })
    const memory = shown.of(tag, "MachineMemoryBytes")
    const used = shown.of(tag, "MachineMemoryUsedBytes").map((value, at) => (value === null || !memory[at] ? null : value / memory[at]))
    return [
      { title: "Temperature", lines: [line("SoC", "--node-2", "TemperatureCelsius")], format: celsius, floats: true },
      {
        title: "Journal syncs of 10 s each",
        lines: [
          line("p99", "--journal-sync", "SyncP99Milliseconds"),
          { ...line("p50", "--journal-sync", "SyncP50Milliseconds"), dashed: true },
        ],
        format: syncsTook,
        axis: millisecondsAxis,
        clips: true,
        atLeast: 10,
      },
      {
        title: "Power and throttling, share of the time",
        lines: [line("under-voltage", "--bad", "UnderVoltageRatio"), line("throttled", "--node-5", "ThrottledRatio")],
        format: ratio,
        atLeast: 1,
      },
      {
        title: "Requests a second",
        lines: [line("Writes", "--node-2", "WritesPerSecond"), line("Reads", "--node-1", "ReadsPerSecond")],
        format: count,
        atLeast: 10,
      },
      {
        title: "Latency, p99",
        lines: [line("Writes", "--node-2", "WriteP99Milliseconds"), line("Reads", "--node-1", "ReadP99Milliseconds")],
        format: milliseconds,
        axis: millisecondsAxis,
        clips: true,
        atLeast: 5,
      },
      {
        title: "CPU and memory of the machine",
        lines: [line("CPU", "--node-1", "MachineCpuRatio"), { label: "Memory", colour: "--node-4", values: used }],
        format: ratio,
        atLeast: 1,
      },
      {
        title: "Written a second",
        lines: [line("device", "--node-3", "DeviceWrittenBytesPerSecond"), line("journal", "--journal-write", "JournalBytesPerSecond")],
        format: bytes,
        axis: bytesAxis,
        atLeast: 1024,
        binary: true,
      },
    ]
  }, [shown, tag])
  return (
    <section class="stack" aria-label="Over time">
      <div class="title-row">
        <h2 class="grow">{isDown ? "Its last hours" : "Over time"}</h2>
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
        {charts?.map(({ title, ...chart }) => (
          <Panel key={title} title={title} stale={!isDown && !isLive.value}>
            <Chart
              label={`${title} of ${node?.Name ?? tag}`}
              times={shown?.times ?? []}
              together={`node-${tag}`}
              isOver={isDown}
              {...chart}
            />
          </Panel>
        )) ?? <div class="chart-room" />}
        <SlowEvents tag={tag} />
      </div>
    </section>
  )
}
