interface MeterProps {
  /** Between 0 and 1; null is unknown and draws an empty track. */
  ratio: number | null | undefined
  /** From here on it is drawn as a warning, and as bad. */
  warnFrom?: number
  badFrom?: number
}

/** A thin bar beside a figure that is written out: only for the eye. */
export function Meter({ ratio, warnFrom = 0.8, badFrom = 0.95 }: MeterProps) {
  const tone = ratio == null ? "" : ratio >= badFrom ? "bad" : ratio >= warnFrom ? "warning" : ""
  return (
    <div class={`meter ${tone}`} aria-hidden="true">
      {ratio != null && <span style={{ width: `${Math.min(100, Math.max(0, ratio * 100))}%` }} />}
    </div>
  )
}
