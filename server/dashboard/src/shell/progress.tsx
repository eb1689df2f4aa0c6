import { useRef } from "preact/hooks"
import { count, duration } from "./format"

interface ProgressProps {
  label: string
  done: number
  /** The total; null if unknown. */
  total: number | null
  /** The counted unit, such as "documents"; empty if `format` writes the unit. */
  unit?: string
  format?: (value: number) => string
  /** Rate and remaining time from the server; otherwise they are computed from the last ten seconds. */
  perSecond?: number | null
  secondsLeft?: number | null
}

const WindowMilliseconds = 10_000

/** A progress bar with count, rate and remaining time; "time left unknown" until it can be estimated. */
export function Progress({ label, done, total, unit = "", format = count, perSecond, secondsLeft }: ProgressProps) {
  const seen = useRef<{ at: number; done: number }[]>([])
  const rate = perSecond === undefined ? rateOf(seen.current, done) : perSecond
  const left = secondsLeft !== undefined ? secondsLeft : rate && total !== null ? (total - done) / rate : null
  const isDone = total !== null && done >= total
  return (
    <div class="progress">
      <div>
        <span>{label}</span>
        <span class="number quiet">
          {format(done)}
          {total === null ? "" : ` of ${format(total)}`} {unit}
        </span>
      </div>
      <progress aria-label={label} {...(total === null ? {} : { value: done, max: Math.max(total, 1) })} />
      <div class="quiet number">
        <span>{rate == null ? "" : `${format(rate)} ${unit} a second`}</span>
        <span>{isDone ? "done" : left == null ? "time left unknown" : `${duration(left)} left`}</span>
      </div>
    </div>
  )
}

function rateOf(seen: { at: number; done: number }[], done: number): number | null {
  const now = performance.now()
  if (seen.at(-1)?.done !== done) seen.push({ at: now, done })
  while (seen.length > 2 && now - (seen[0]?.at ?? now) > WindowMilliseconds) seen.shift()
  const first = seen[0]
  return first && now - first.at >= 500 && done > first.done ? ((done - first.done) * 1000) / (now - first.at) : null
}
