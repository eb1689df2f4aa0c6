interface MeterProps {
  /** The value, from 0 to 1; null is unknown and draws an empty bar. */
  ratio: number | null | undefined
  /** Values from which the bar is drawn as a warning, and as bad. */
  warnFrom?: number
  badFrom?: number
}

/** A thin bar beside a value in text. Screen readers ignore it. */
export function Meter({ ratio, warnFrom = 0.8, badFrom = 0.95 }: MeterProps) {
  const tone = ratio == null ? "" : ratio >= badFrom ? "bad" : ratio >= warnFrom ? "warning" : ""
  return (
    <div class={`meter ${tone}`} aria-hidden="true">
      {ratio != null && <span style={{ width: `${Math.min(100, Math.max(0, ratio * 100))}%` }} />}
    </div>
  )
}
