import { describe, expect, it } from "vitest"
import { BlockEvents, EventColumns } from "../src/timeline/event-columns"
import { Intervals } from "../src/timeline/intervals"
import { JournalSync, JournalWrite, kindOf, kinds } from "../src/timeline/kinds"
import { Lines } from "../src/timeline/lines"
import { NodeStore } from "../src/timeline/node-store"
import { RollUpColumns } from "../src/timeline/roll-up-columns"
import { eventsOf, randomOf } from "./timeline-events.mjs"

const Columns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
const RollUpNames = ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"]

describe("known intervals of time", () => {
  it("contain the same times as a plain set of points, whatever is added", () => {
    const random = randomOf(3)
    const spans = new Intervals()
    const points = new Set<number>()
    for (let round = 0; round < 300; round++) {
      const from = Math.floor(random() * 200)
      const to = from + Math.floor(random() * 12)
      spans.add(from, to)
      for (let at = from; at < to; at++) points.add(at)
      const known = Array.from({ length: 215 }, (_, at) => at).filter((at) => spans.has(at + 0.5))
      expect(known).toEqual([...points].sort((one, other) => one - other))
      expect(spans.bounds).toEqual([...new Set(spans.bounds)].sort((one, other) => one - other))
    }
  })

  it("return the first missing part of a range", () => {
    const spans = new Intervals()
    expect(spans.firstMissing(0, 10)).toEqual({ from: 0, to: 10 })
    spans.add(2, 4)
    spans.add(6, 8)
    expect(spans.firstMissing(0, 10)).toEqual({ from: 0, to: 2 })
    expect(spans.firstMissing(2, 10)).toEqual({ from: 4, to: 6 })
    expect(spans.firstMissing(7, 10)).toEqual({ from: 8, to: 10 })
    expect(spans.firstMissing(2, 4)).toBeUndefined()
  })

  it("forget intervals that end before a time, and keep one that contains it", () => {
    const spans = new Intervals()
    spans.add(0, 4)
    spans.add(6, 8)
    spans.forgetBefore(2)
    expect(spans.bounds).toEqual([2, 4, 6, 8])
    spans.forgetBefore(5)
    expect(spans.bounds).toEqual([6, 8])
  })
})

describe("columns of events", () => {
  it("are sorted by start and lose no event, whatever the order of arrival", () => {
    const random = randomOf(5)
    const columns = new EventColumns()
    const plain: [number, number][] = []
    for (let batch = 0; batch < 60; batch++) {
      const starts = Array.from({ length: Math.floor(random() * 90) }, () => Math.floor(random() * 50_000) + batch * 300)
      columns.add(
        starts,
        starts.map((start) => (start * 7) % 1000),
        starts.map((start) => start * 2),
      )
      plain.push(...starts.map((start) => [start, (start * 7) % 1000] as [number, number]))
    }

    plain.sort((one, other) => one[0] - other[0])
    expect(columns.count).toBe(plain.length)
    for (let index = 0; index < columns.count; index++) {
      expect(columns.start[index]).toBe(plain[index]?.[0])
      expect(columns.duration[index]).toBe(plain[index]?.[1])
      expect(columns.bytes[index]).toBe((plain[index]?.[0] as number) * 2)
    }
  })

  it("find by binary search the same events as a linear search", () => {
    const random = randomOf(8)
    const columns = new EventColumns()
    const starts = Array.from({ length: 3000 }, () => Math.floor(random() * 1_000_000))
    columns.add(
      starts,
      starts.map(() => (random() < 0.01 ? 60_000 : Math.floor(random() * 500))),
      starts,
    )
    const ends = Array.from({ length: columns.count }, (_, index) => columns.end(index))
    const sorted = [...columns.start.subarray(0, columns.count)]
    for (let time = -1000; time < 1_010_000; time += 3777) {
      const reaching = ends.findIndex((end) => end > time)
      const from = sorted.findIndex((start) => start >= time)
      expect(columns.firstReaching(time)).toBe(reaching < 0 ? columns.count : reaching)
      expect(columns.firstFrom(time)).toBe(from < 0 ? columns.count : from)
    }
  })

  it("have for each block the sums of its events, also after the oldest were dropped", () => {
    const columns = new EventColumns()
    const random = randomOf(9)
    const starts = Array.from({ length: 1000 }, (_, index) => index * 10)
    columns.add(
      starts,
      starts.map(() => Math.floor(random() * 1000)),
      starts.map(() => Math.floor(random() * 1000)),
    )
    columns.drop(37)
    for (let begin = 0; begin + BlockEvents <= columns.count; begin += BlockEvents) {
      const block = columns.wholeBlock(begin, Number.POSITIVE_INFINITY)
      const durations = [...columns.duration.subarray(begin, begin + BlockEvents)]
      expect(block).toBe(begin / BlockEvents)
      expect(columns.durationOfBlock(block)).toBe(durations.reduce((sum, one) => sum + one, 0))
      expect(columns.duration[columns.longestOfBlock(block)]).toBe(Math.max(...durations))
      expect(columns.bytesOfBlock(block)).toBe([...columns.bytes.subarray(begin, begin + BlockEvents)].reduce((sum, one) => sum + one, 0))
      const end = Math.max(...Array.from({ length: BlockEvents }, (_, index) => columns.end(begin + index)))
      expect(columns.wholeBlock(begin, end)).toBe(block)
      expect(columns.wholeBlock(begin, end - 1)).toBe(-1)
    }
  })
})

describe("the store of a node", () => {
  it("keeps the newest events up to its limit, and forgets that earlier times were known", () => {
    const store = new NodeStore("A", "pi-1", 10_000)
    const rows = eventsOf({ count: 30_000, end: 2_000_000_000_000_000 }) as [string, number, number, number][]
    for (let from = 0; from < rows.length; from += 500) {
      const batch = rows.slice(from, from + 500)
      const end = (row: [string, number, number, number]) => row[1] + row[2]
      store.addEvents({
        Columns,
        Rows: batch,
        FromUnixMicroseconds: from === 0 ? end(batch[0] as never) - 1 : end(rows[from - 1] as never),
        UntilUnixMicroseconds: end(batch[batch.length - 1] as never),
      })
      expect(store.eventCount).toBeLessThanOrEqual(10_000)
    }

    const first = store.covered.first as number
    expect(store.eventCount).toBeGreaterThan(8000)
    expect(store.covered.bounds).toHaveLength(2)
    // Every event that began since the known time is kept.
    expect(store.eventCount).toBe(rows.filter((row) => row[1] >= first).length)
  })

  it("gives a sync the bytes that were written since the previous sync", () => {
    const store = new NodeStore("A", "")
    store.addEvents({
      Columns,
      Rows: [
        ["journal_write", 100, 10, 4096],
        ["journal_write", 120, 10, 8192],
        ["journal_sync", 130, 500, 0],
        ["journal_write", 700, 10, 512],
        ["journal_sync", 710, 500, 0],
      ],
    })
    expect([...(store.events[JournalSync] as EventColumns).bytes.subarray(0, 2)]).toEqual([12_288, 512])
    expect((store.events[JournalWrite] as EventColumns).count).toBe(2 + 1)
  })

  it("gives the sync of a run the bytes that were written to the run", () => {
    const store = new NodeStore("A", "")
    store.addEvents({
      Columns,
      Rows: [
        ["run_write", 100, 10, 4096],
        ["run_write", 120, 10, 8192],
        ["journal_write", 125, 10, 512],
        ["run_write", 130, 500, 0],
      ],
    })
    const runs = store.events[kindOf("run_write")] as EventColumns
    expect([...runs.bytes.subarray(0, 3)]).toEqual([4096, 8192, 12_288])
    expect([...runs.isSync.subarray(0, 3)]).toEqual([0, 0, 1])
  })

  it("stores events of an unknown kind as other work", () => {
    expect(kinds[kindOf("teleport")]?.title).toBe("Other work")
    const store = new NodeStore("A", "")
    store.addEvents({ Columns, Rows: [["teleport", 100, 10, 4096]] })
    expect(store.eventCount).toBe(1)
  })

  it("says which column an answer lacks", () => {
    const store = new NodeStore("A", "")
    expect(() => store.addEvents({ Columns: ["Kind"], Rows: [["read"]] })).toThrow(
      `The column "StartUnixMicroseconds" is missing; there are Kind.`,
    )
  })

  it("replaces the roll-up of a span by a newer one, and ignores rows outside the complete spans", () => {
    const store = new NodeStore("A", "")
    const rows = (count: number): (string | number)[][] => [
      [60, "journal_write", count, 1000 * count, 10, 10],
      [60, "journal_sync", count, 0, 10, 10],
    ]
    store.addRollUps({ SpanSeconds: 1, Columns: RollUpNames, Rows: rows(2) }, 60, 61)
    store.addRollUps({ SpanSeconds: 1, Columns: RollUpNames, Rows: rows(5) }, 60, 61)
    store.addRollUps({ SpanSeconds: 1, Columns: RollUpNames, Rows: [[61, "read", 1, 1, 1, 1]] }, 60, 61)
    const seconds = store.levels[2]
    expect(seconds?.kinds[JournalSync]?.size).toBe(1)
    expect(seconds?.kinds[JournalSync]?.count[0]).toBe(5)
    // A sync transfers no bytes itself: it gets the bytes that were written in its span.
    expect(seconds?.kinds[JournalSync]?.bytes[0]).toBe(5000)
    expect(seconds?.kinds[kindOf("read")]?.size).toBe(0)
    expect(seconds?.known.bounds).toEqual([60, 61])
  })
})

describe("A store that forgets what is older than a time", () => {
  it("keeps no events, covered spans and lines from before", () => {
    const store = new NodeStore("A", "")
    const Columns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
    const rows = [100, 200, 300].map((start) => ["read", start, 10, 1])
    store.addEvents({ Columns, Rows: rows, FromUnixMicroseconds: 50, UntilUnixMicroseconds: 400 })
    store.lines.replace([100, 200, 300].map((time) => ({ time, values: [time, time, time] })))
    store.forgetBefore(150)
    expect([store.eventCount, store.oldest, store.lines.size, store.lines.time[0], store.lines.values[2]?.[0]]).toEqual([
      2, 150, 2, 200, 200,
    ])
  })
})

describe("roll-ups", () => {
  it("are sorted by time, whatever the order of arrival", () => {
    const columns = new RollUpColumns()
    const random = randomOf(2)
    const seconds = new Map<number, number>()
    for (let round = 0; round < 700; round++) {
      const second = Math.floor(random() * 500)
      columns.set(second, round, 1, 2, 3)
      seconds.set(second, round)
    }

    const expected = [...seconds].sort((one, other) => one[0] - other[0])
    expect([...columns.second.subarray(0, columns.size)]).toEqual(expected.map(([second]) => second))
    expect([...columns.count.subarray(0, columns.size)]).toEqual(expected.map(([, round]) => round))
  })
})

describe("lines", () => {
  it("are replaced by finer samples of the same time, and stay before and after it", () => {
    const lines = new Lines()
    lines.replace([0, 100, 200, 300].map((time) => ({ time, values: [time, null, time] })))
    lines.replace([90, 100, 110, 120].map((time) => ({ time, values: [1, 2, undefined] })))
    expect([...lines.time.subarray(0, lines.size)]).toEqual([0, 90, 100, 110, 120, 200, 300])
    expect([...(lines.values[0] as Float64Array).subarray(0, lines.size)]).toEqual([0, 1, 1, 1, 1, 200, 300])
    expect((lines.values[1] as Float64Array)[0]).toBeNaN()
    expect((lines.values[2] as Float64Array)[1]).toBeNaN()
  })
})
