/** Events per block. At a zoom where the events of a block share a pixel, its summary is drawn instead. */
export const BlockEvents = 16

const FirstCapacity = 256

/**
 * Disk operations of one kind in columns, sorted by start. There is no object per event, so 200,000 events are a few
 * arrays that a frame reads in order. All times are microseconds since 1970 UTC, which a double represents exactly.
 */
export class EventColumns {
  count = 0
  start = new Float64Array(FirstCapacity)
  duration = new Float64Array(FirstCapacity)
  /** Bytes of each event; for a sync, the bytes that it made durable. */
  bytes = new Float64Array(FirstCapacity)
  /** Whether each event is a sync, which transfers no bytes itself. */
  isSync = new Uint8Array(FirstCapacity)
  /**
   * The latest end of an event and all earlier ones. It never decreases, so a binary search finds the first event that
   * reaches into a span.
   */
  private reach = new Float64Array(FirstCapacity)
  private blockLongest = new Int32Array(FirstCapacity / BlockEvents)
  private blockDuration = new Float64Array(FirstCapacity / BlockEvents)
  private blockBytes = new Float64Array(FirstCapacity / BlockEvents)
  private blockEnd = new Float64Array(FirstCapacity / BlockEvents)

  end(index: number): number {
    return (this.start[index] as number) + (this.duration[index] as number)
  }

  /** Adds events in any order. Usually they follow the present ones, and no event is moved. */
  add(starts: ArrayLike<number>, durations: ArrayLike<number>, bytes: ArrayLike<number>, isSync?: ArrayLike<number>): void {
    const { length } = starts
    if (length === 0) return
    const order = orderOf(starts, length)
    this.reserve(this.count + length)
    let kept = this.count - 1
    let place = this.count + length - 1
    for (let next = length - 1; next >= 0; place--) {
      const from = order ? (order[next] as number) : next
      if (kept >= 0 && (this.start[kept] as number) > (starts[from] as number)) {
        this.start[place] = this.start[kept] as number
        this.duration[place] = this.duration[kept] as number
        this.bytes[place] = this.bytes[kept] as number
        this.isSync[place] = this.isSync[kept] as number
        kept--
      } else {
        this.start[place] = starts[from] as number
        this.duration[place] = durations[from] as number
        this.bytes[place] = bytes[from] as number
        this.isSync[place] = isSync?.[from] ?? 0
        next--
      }
    }

    this.count += length
    this.summarise(place + 1)
  }

  /** Removes the first events. */
  drop(events: number): void {
    if (events <= 0) return
    for (const column of [this.start, this.duration, this.bytes, this.isSync]) column.copyWithin(0, events, this.count)
    this.count -= events
    this.summarise(0)
  }

  /** Returns the first event that ends after a time. All events before it end at that time or earlier. */
  firstReaching(time: number): number {
    return firstAbove(this.reach, this.count, time)
  }

  /** Returns the first event that starts at a time or later. */
  firstFrom(time: number): number {
    let low = 0
    let high = this.count
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.start[middle] as number) < time) low = middle + 1
      else high = middle
    }

    return low
  }

  /**
   * Returns the block that begins at an event if it is full and its events end by a time, so that it can be drawn as
   * one; otherwise -1.
   */
  wholeBlock(index: number, endsBy: number): number {
    if (index % BlockEvents !== 0 || index + BlockEvents > this.count) return -1
    const block = index / BlockEvents
    return (this.blockEnd[block] as number) <= endsBy ? block : -1
  }

  longestOfBlock(block: number): number {
    return this.blockLongest[block] as number
  }

  durationOfBlock(block: number): number {
    return this.blockDuration[block] as number
  }

  bytesOfBlock(block: number): number {
    return this.blockBytes[block] as number
  }

  private summarise(from: number): void {
    let reach = from > 0 ? (this.reach[from - 1] as number) : Number.NEGATIVE_INFINITY
    for (let index = from; index < this.count; index++) {
      reach = Math.max(reach, this.end(index))
      this.reach[index] = reach
    }

    for (let begin = from - (from % BlockEvents); begin + BlockEvents <= this.count; begin += BlockEvents) this.summariseBlock(begin)
  }

  private summariseBlock(begin: number): void {
    let longest = begin
    let duration = 0
    let bytes = 0
    let end = Number.NEGATIVE_INFINITY
    for (let index = begin; index < begin + BlockEvents; index++) {
      duration += this.duration[index] as number
      bytes += this.bytes[index] as number
      end = Math.max(end, this.end(index))
      if ((this.duration[index] as number) > (this.duration[longest] as number)) longest = index
    }

    const block = begin / BlockEvents
    this.blockLongest[block] = longest
    this.blockDuration[block] = duration
    this.blockBytes[block] = bytes
    this.blockEnd[block] = end
  }

  private reserve(events: number): void {
    if (events <= this.start.length) return
    let capacity = this.start.length
    while (capacity < events) capacity *= 2
    this.start = grown(this.start, capacity)
    this.duration = grown(this.duration, capacity)
    this.bytes = grown(this.bytes, capacity)
    this.reach = grown(this.reach, capacity)
    const isSync = new Uint8Array(capacity)
    isSync.set(this.isSync)
    this.isSync = isSync
    const blocks = capacity / BlockEvents
    this.blockDuration = grown(this.blockDuration, blocks)
    this.blockBytes = grown(this.blockBytes, blocks)
    this.blockEnd = grown(this.blockEnd, blocks)
    const longest = new Int32Array(blocks)
    longest.set(this.blockLongest)
    this.blockLongest = longest
  }
}

/** Returns the index of the first of sorted values that is above a limit. */
export function firstAbove(values: Float64Array, count: number, limit: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if ((values[middle] as number) <= limit) low = middle + 1
    else high = middle
  }

  return low
}

export function grown(column: Float64Array<ArrayBuffer>, capacity: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(capacity)
  larger.set(column)
  return larger
}

/** Returns the ascending order of values; undefined if they are in order. */
function orderOf(starts: ArrayLike<number>, length: number): Uint32Array | undefined {
  for (let index = 1; index < length; index++) {
    if ((starts[index] as number) >= (starts[index - 1] as number)) continue
    return Uint32Array.from({ length }, (_, at) => at).sort((one, other) => (starts[one] as number) - (starts[other] as number))
  }

  return undefined
}
