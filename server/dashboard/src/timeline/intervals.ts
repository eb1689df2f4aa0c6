/** A set of spans of time with known data: disjoint, in order. */
export class Intervals {
  /** Begin, end, begin, end … */
  readonly bounds: number[] = []

  add(from: number, to: number): void {
    if (to <= from) return
    const first = this.indexAfter(from, false)
    const last = this.indexAfter(to, true)
    // An odd index is inside a span, which grows. An even index is between two spans.
    const begin = first % 2 === 1 ? [] : [from]
    const end = last % 2 === 1 ? [] : [to]
    this.bounds.splice(first, last - first, ...begin, ...end)
  }

  has(at: number): boolean {
    return this.indexAfter(at, true) % 2 === 1
  }

  /** Returns the first part of a span without known data. */
  firstMissing(from: number, to: number): { from: number; to: number } | undefined {
    const index = this.indexAfter(from, true)
    const begin = index % 2 === 1 ? (this.bounds[index] as number) : from
    if (begin >= to) return undefined
    const next = this.bounds[index % 2 === 1 ? index + 1 : index]
    return { from: begin, to: Math.min(to, next ?? to) }
  }

  forgetBefore(time: number): void {
    const index = this.indexAfter(time, true)
    if (index % 2 === 1) {
      this.bounds.splice(0, index)
      this.bounds.unshift(time)
    } else {
      this.bounds.splice(0, index)
    }
  }

  get first(): number | undefined {
    return this.bounds[0]
  }

  get last(): number | undefined {
    return this.bounds[this.bounds.length - 1]
  }

  /**
   * Returns the number of bounds before a time, optionally including those at it, so that touching spans are joined.
   */
  private indexAfter(time: number, including: boolean): number {
    let low = 0
    let high = this.bounds.length
    while (low < high) {
      const middle = (low + high) >> 1
      const bound = this.bounds[middle] as number
      if (including ? bound <= time : bound < time) low = middle + 1
      else high = middle
    }

    return low
  }
}
