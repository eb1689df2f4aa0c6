import { grown } from "./event-columns"

/** The figures that are drawn as lines above the lanes. */
export const LineNames = ["WriteP99Milliseconds", "ReadP99Milliseconds", "TemperatureCelsius"] as const
export const Temperature = 2

/** Request latency and temperature of a node over time, sorted by time in microseconds. NaN means unknown. */
export class Lines {
  size = 0
  time = new Float64Array(64)
  readonly values = LineNames.map(() => new Float64Array(64))

  /** Inserts samples, which are in order of time, and replaces the earlier, possibly coarser samples of their span. */
  replace(samples: readonly { time: number; values: readonly (number | null | undefined)[] }[]): void {
    const first = samples[0]
    const last = samples[samples.length - 1]
    if (!first || !last) return
    const from = this.firstFrom(first.time)
    const to = this.firstFrom(last.time + 1)
    const tail = this.size - to
    const size = from + samples.length + tail
    this.reserve(size)
    for (const column of [this.time, ...this.values]) column.copyWithin(from + samples.length, to, this.size)
    samples.forEach((sample, index) => {
      this.time[from + index] = sample.time
      this.values.forEach((column, line) => {
        column[from + index] = sample.values[line] ?? Number.NaN
      })
    })
    this.size = size
  }

  /** Returns the first sample at a time or later. */
  firstFrom(time: number): number {
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.time[middle] as number) < time) low = middle + 1
      else high = middle
    }

    return low
  }

  forgetBefore(time: number): void {
    const from = this.firstFrom(time)
    if (from === 0) return
    for (const column of [this.time, ...this.values]) column.copyWithin(0, from, this.size)
    this.size -= from
  }

  private reserve(size: number): void {
    if (size <= this.time.length) return
    let capacity = this.time.length
    while (capacity < size) capacity *= 2
    this.time = grown(this.time, capacity)
    this.values.forEach((column, line) => {
      this.values[line] = grown(column, capacity)
    })
  }
}
