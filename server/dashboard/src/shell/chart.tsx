import { useSignal } from "@preact/signals"
import { useEffect, useMemo, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import "./chart.css"
import { clipOf } from "./clip"
import { hasFont } from "./font"
import { type Axis, tick } from "./format"
import { colour, isDark } from "./scheme"

export interface Line {
  label: string
  /** The colour, as a role of theme.css. */
  colour: string
  values: (number | null)[]
  dashed?: boolean
}

interface ChartProps {
  /** Label for screen readers. */
  label: string
  times: number[]
  lines: Line[]
  format: (value: number | null | undefined) => string
  /** The format of the axis, if its values would have different units by `format`. */
  axis?: Axis
  /** Charts with the same key show the same moment below the pointer. */
  together?: string
  /** Minimum of the axis' upper end, so that noise is not magnified. */
  atLeast?: number
  /** Whether the axis begins at the smallest value instead of zero, as for temperatures. */
  floats?: boolean
  /** Whether the shown time is past. Then the values beside the names are the last known ones. */
  isOver?: boolean
  /** Whether the ticks are powers of two, as for bytes. */
  binary?: boolean
  /** Whether the axis may end below a few values that are far beyond the others, as for latencies. */
  clips?: boolean
}

const powersOfTwo = Array.from({ length: 50 }, (_, power) => 2 ** power)

const Height = 150

/**
 * A line chart over time. Import it only in lazily loaded pages: uPlot is as large as a third of the initial download.
 */
export function Chart({
  label,
  times,
  lines,
  format,
  axis,
  together,
  atLeast = 0,
  floats = false,
  binary = false,
  isOver = false,
  clips = false,
}: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(undefined)
  const under = useSignal<number | null>(null)
  const look = `${lines.map((line) => line.label + line.colour).join()} ${isDark.value} ${hasFont.value}`
  const data = useMemo(() => [times, ...lines.map((line) => line.values)] as uPlot.AlignedData, [times, lines])

  const showsAll = useSignal(false)
  const clip = useMemo(
    () =>
      clips
        ? clipOf(
            lines.map((line) => line.values),
            atLeast,
          )
        : null,
    [lines, clips, atLeast],
  )
  // The range of the axis is decided whenever the data are set, which happens outside of the rendering.
  const end = useRef<number | null>(null)
  end.current = showsAll.value ? null : clip

  const isKnown = lines.some((line) => line.values.some((value) => value !== null))
  useEffect(() => {
    const box = place.current
    if (!box || !isKnown) return
    const quiet = colour("--quiet")
    const font = `11px ${colour("--text-font")}`
    const grid = { stroke: colour("--line"), width: 1 }
    const made = new uPlot(
      {
        width: Math.max(120, box.clientWidth),
        height: Height,
        padding: [8, 8, 0, 0],
        legend: { show: false },
        cursor: { points: { size: 7 }, drag: { x: false, y: false }, ...(together ? { sync: { key: together } } : {}) },
        scales: {
          y: {
            range: (_, low, high) => {
              if (low == null || high == null) return [0, Math.max(1, atLeast)]
              if (end.current !== null) return [0, end.current]
              const bottom = floats ? Math.max(0, Math.floor(low / 5) * 5 - 5) : 0
              return [bottom, Math.max(bottom + 1e-6, atLeast, high + (high - bottom) * 0.12)]
            },
          },
        },
        axes: [
          {
            stroke: quiet,
            grid: { show: false },
            ticks: { show: false },
            size: 26,
            font,
            values: (_, ticks) => ticks.map(clock),
          },
          {
            stroke: quiet,
            grid,
            ticks: { show: false },
            size: 62,
            gap: 6,
            font,
            values: (_, ticks) => {
              const say = axis?.(Math.max(...ticks)) ?? ((value: number) => tick(format(value)))
              return ticks.map((at) => (at === 0 ? "0" : say(at)))
            },
            space: 34,
            ...(binary ? { incrs: powersOfTwo } : {}),
          },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            stroke: colour(line.colour),
            width: 1.6,
            points: { show: false },
            ...(line.dashed ? { dash: [5, 4] } : {}),
          })),
        ],
        hooks: {
          setCursor: [
            (chart) => {
              under.value = chart.cursor.idx ?? null
            },
          ],
        },
      },
      data,
      box,
    )
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: Math.max(120, box.clientWidth), height: Height }))
    watch.observe(box)
    return () => {
      watch.disconnect()
      made.destroy()
    }
  }, [look, isKnown])

  useEffect(() => {
    plot.current?.setData(data)
  }, [data, showsAll.value])

  const at = under.value !== null && under.value < times.length ? under.value : null
  const valueOf = (line: Line) => (at !== null ? line.values[at] : isOver ? last(line.values) : newest(line.values))
  return (
    <div class="chart">
      <ul class="legend">
        {lines.map((line) => (
          <li key={line.label}>
            <Swatch line={line} />
            {line.label}
            <strong class="number">{format(valueOf(line))}</strong>
          </li>
        ))}
        {clip !== null && (
          <li class="beyond">
            <button
              type="button"
              class="as-link"
              aria-pressed={showsAll.value}
              title={showsAll.value ? "Ends the axis above most values" : "Some values are above the end of the axis"}
              onClick={() => {
                showsAll.value = !showsAll.value
              }}
            >
              {showsAll.value ? "show less" : `up to ${format(highest(lines))}`}
            </button>
          </li>
        )}
        <li class="quiet number when">{at === null ? "" : clockToTheSecond(times[at] ?? 0)}</li>
      </ul>
      {!isKnown && <p class="unknown quiet">Unknown: no node reported it in this time.</p>}
      <div
        ref={place}
        hidden={!isKnown}
        role="img"
        aria-label={`${label}. ${lines.map((line) => `${line.label}: now ${format(newest(line.values))}, at most ${format(most(line.values))}`).join("; ")}.`}
      />
    </div>
  )
}

function Swatch({ line }: { line: Line }) {
  return (
    <svg width="14" height="10" aria-hidden="true">
      <line
        x1="0"
        y1="5"
        x2="14"
        y2="5"
        stroke={`var(${line.colour})`}
        stroke-width="2.5"
        {...(line.dashed ? { "stroke-dasharray": "4 3" } : {})}
      />
    </svg>
  )
}

/** The current value; null if the line has ended, because the node is down. */
function newest(values: (number | null)[]): number | null {
  return values.at(-1) ?? values.at(-2) ?? null
}

function last(values: (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

function most(values: (number | null)[]): number | null {
  return values.reduce<number | null>((top, value) => (value !== null && (top === null || value > top) ? value : top), null)
}

function highest(lines: readonly Line[]): number | null {
  return most(lines.map((line) => most(line.values)))
}

function clock(second: number): string {
  return new Date(second * 1000).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
}

function clockToTheSecond(second: number): string {
  return new Date(second * 1000).toLocaleTimeString("en-GB")
}
