/** How much larger than most values the largest must be, before a chart clips it. */
const Ratio = 4
/** The share of the values that decides what most values are. */
const Share = 0.9
const FewValues = 20

/**
 * Returns the upper end of an axis that shows most values well; null if none of the values is far beyond it. One sync
 * of two seconds would press an hour of milliseconds flat.
 */
export function clipOf(lines: readonly (readonly (number | null)[])[], atLeast: number): number | null {
  let top: number | null = null
  let highest = 0
  for (const values of lines) {
    const known = values.filter((value) => value !== null).sort((left, right) => left - right)
    if (known.length === 0) continue
    highest = Math.max(highest, known.at(-1) ?? 0)
    // Few values have no outliers. Each line counts alone: a slower node is no outlier of a faster one.
    const most = known[known.length < FewValues ? known.length - 1 : Math.floor((known.length - 1) * Share)] ?? 0
    top = Math.max(top ?? 0, most)
  }

  if (top === null) return null
  const end = Math.max(atLeast, top * 1.6)
  return highest > Math.max(end, top * Ratio) ? end : null
}
