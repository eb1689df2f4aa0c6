import { describe, expect, it } from "vitest"
import type { EventColumns } from "../src/timeline/event-columns"
import { findIn, linesOf } from "../src/timeline/found"
import { JournalSync, kindOf, kinds } from "../src/timeline/kinds"
import { LanePixels } from "../src/timeline/lane-pixels"
import { findMarks, MarkSlow, MarkVerySlow } from "../src/timeline/marks"
import { NodeStore } from "../src/timeline/node-store"
import { levelOf } from "../src/timeline/palette"
import { slowestIn } from "../src/timeline/slowest"
import { levelFor, SumLayers } from "../src/timeline/sum-layers"
import { eventsOf } from "./timeline-events.mjs"

const Columns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
const RollUpNames = ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"]
const Width = 1000
const End = 1_790_000_000_000_000

function storeOf(rows: (string | number)[][], from?: number, until?: number): NodeStore {
  const store = new NodeStore("A", "pi-1", 1_000_000)
  store.addEvents({
    Columns,
    Rows: rows,
    ...(from === undefined ? {} : { FromUnixMicroseconds: from }),
    ...(until === undefined ? {} : { UntilUnixMicroseconds: until }),
  })
  return store
}

function laneOf(store: NodeStore, kind: number, from: number, perPixel: number): LanePixels {
  const lane = new LanePixels()
  lane.begin(Width)
  lane.addEvents(store.events[kind] as EventColumns, from, perPixel)
  return lane
}

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((one, other) => one + other, 0)

describe("a lane of pixels", () => {
  const rows = eventsOf({ count: 20_000, end: End }) as [string, number, number, number][]
  const store = storeOf(rows)
  const first = Math.min(...rows.map((row) => row[1]))

  it("has in each column the longest event that touches it, at every zoom", () => {
    for (const span of [End - first, 20_000_000, 1_000_000, 20_000]) {
      const from = End - span
      const perPixel = span / Width
      for (const kind of [JournalSync, kindOf("read"), kindOf("compaction")]) {
        const lane = laneOf(store, kind, from, perPixel)
        const longest = new Float64Array(Width)
        for (const [name, start, duration] of rows) {
          if (kindOf(name) !== kind) continue
          const isBox = duration >= 2 * perPixel
          const left = isBox ? Math.round((start - from) / perPixel) : Math.floor((start - from) / perPixel)
          const right = isBox ? Math.round((start + duration - from) / perPixel) - 1 : Math.floor((start + duration - from) / perPixel)
          for (let column = Math.max(0, left); column <= Math.min(Width - 1, right); column++) {
            // A narrow event that ends exactly where a column begins does not touch this column.
            if (!isBox && column > left && (start + duration - from) / perPixel - column <= 0) continue
            longest[column] = Math.max(longest[column] as number, duration)
          }
        }

        expect([...lane.longest]).toEqual([...longest])
      }
    }
  })

  it("counts every event and all its bytes once when all fit into the width", () => {
    const from = first - 1000
    const perPixel = (End - from + 1000) / Width
    for (const kind of kinds.keys()) {
      const mine = rows.filter((row) => kindOf(row[0]) === kind)
      const lane = laneOf(store, kind, from, perPixel)
      expect(sum(lane.count)).toBe(mine.length)
      expect(sum(lane.bytes)).toBeCloseTo(sum((store.events[kind] as EventColumns).bytes.subarray(0, mine.length)), 3)
      const narrow = mine.filter((row) => row[2] < 2 * perPixel)
      expect(sum(lane.busy)).toBeCloseTo(sum(narrow.map((row) => row[2])), -1)
    }
  })

  it("counts the same events by blocks as one by one", () => {
    // A block is counted as a whole only if it is within one column.
    const perPixel = (End - first) / 7
    const lane = new LanePixels()
    lane.begin(8)
    lane.addEvents(store.events[JournalSync] as EventColumns, first, perPixel)
    const counts = new Float64Array(8)
    for (const [name, start] of rows) if (kindOf(name) === JournalSync) counts[Math.floor((start - first) / perPixel)]!++
    expect([...lane.count]).toEqual([...counts])
  })

  it("shows both of two events that run at the same time", () => {
    const both = storeOf([
      ["read", 100, 500, 1],
      ["read", 300, 100, 1],
    ])
    const lane = laneOf(both, kindOf("read"), 0, 1)
    expect(lane.box[350]).toBe(1)
    expect(lane.inset[350]).toBe(2)
    expect(lane.inset[450]).toBe(0)
  })

  it("shows an event of no duration", () => {
    const lane = laneOf(storeOf([["manifest", 500, 0, 4096]]), kindOf("manifest"), 0, 1)
    expect(lane.count[500]).toBe(1)
    expect(lane.longestEvent[500]).toBe(1)
  })
})

describe("a slow sync", () => {
  it("is marked at every zoom, from a day to its own width", () => {
    const rows = eventsOf({ count: 30_000, end: End }) as [string, number, number, number][]
    const store = storeOf(rows)
    const slow = rows.filter(([name, , duration]) => name === "journal_sync" && duration >= 100_000)
    expect(slow.length).toBeGreaterThan(3)
    const marks = new Uint8Array(Width)
    for (const span of [86_400e6, 3600e6, 60e6, 1e6]) {
      for (const [, start, duration] of slow) {
        const from = start + duration / 2 - span / 2
        const perPixel = span / Width
        findMarks(store, laneOf(store, JournalSync, from, perPixel), from, perPixel, marks)
        const column = Math.floor((start + duration / 2 - from) / perPixel)
        const near = marks.subarray(Math.max(0, column - 1), column + 2)
        expect(Math.max(...near)).toBeGreaterThanOrEqual(duration >= 1_000_000 ? MarkVerySlow : MarkSlow)
      }
    }
  })

  it("is marked where only a roll-up with its longest duration is known", () => {
    const store = new NodeStore("A", "")
    store.addRollUps({ SpanSeconds: 60, Columns: RollUpNames, Rows: [[1200, "journal_sync", 500, 0, 4_000_000, 1_400_000]] }, 0, 3600)
    const lane = new LanePixels()
    const layers = new SumLayers()
    const marks = new Uint8Array(Width)
    layers.resize(Width)
    for (const span of [86_400e6, 3600e6, 120e6]) {
      const from = 1230e6 - span / 2
      lane.begin(Width)
      layers.prepare(store, from, span / Width)
      layers.fill(store, lane, JournalSync, from, span / Width)
      findMarks(store, lane, from, span / Width, marks)
      expect(Math.max(...marks)).toBe(MarkVerySlow)
      // One column is marked, not the whole minute.
      expect(marks.filter((mark) => mark > 0)).toHaveLength(1)
    }
  })

  it("is marked and found at its own time where the node also reported it as a slow event", () => {
    const store = new NodeStore("A", "")
    store.addRollUps({ SpanSeconds: 60, Columns: RollUpNames, Rows: [[1200, "journal_sync", 500, 0, 4_000_000, 1_400_000]] }, 0, 3600)
    store.addSlowEvents({ Columns, Rows: [["journal_sync", 1_210e6, 1_400_000, 0]] })
    const lane = new LanePixels()
    const layers = new SumLayers()
    const marks = new Uint8Array(Width)
    const from = 1200e6
    const perPixel = 60e6 / Width
    layers.resize(Width)
    lane.begin(Width)
    layers.prepare(store, from, perPixel)
    layers.fill(store, lane, JournalSync, from, perPixel)
    findMarks(store, lane, from, perPixel, marks)
    expect(marks.findIndex((mark) => mark > 0)).toBe(Math.round(10e6 / perPixel))
    const found = findIn(store, lane, JournalSync, Math.round(10.5e6 / perPixel), false, from, perPixel)
    expect(found).toMatchObject({ start: 1_210e6, duration: 1_400_000, isSum: false })
  })
})

describe("a slow event of another kind", () => {
  it("is shown and found among roll-ups, and counted only once", () => {
    const store = new NodeStore("A", "")
    const kind = kindOf("compaction")
    store.addRollUps({ SpanSeconds: 1, Columns: RollUpNames, Rows: [[1200, "compaction", 5, 5000, 400_000, 300_000]] }, 0, 3600)
    store.addSlowEvents({ Columns, Rows: [["compaction", 1200.2e6, 300_000, 700]] })
    const lane = new LanePixels()
    const layers = new SumLayers()
    layers.resize(Width)
    for (const [span, reference] of [
      [2e6, -1],
      [3600e6, -1],
    ] as const) {
      const from = 1200.2e6 - span / 2
      lane.begin(Width)
      layers.prepare(store, from, span / Width)
      layers.fill(store, lane, kind, from, span / Width)
      expect(lane.longestEvent[Width / 2]).toBe(reference)
      expect(findIn(store, lane, kind, Width / 2, false, from, span / Width)).toMatchObject({
        start: 1200.2e6,
        duration: 300_000,
        bytes: 700,
      })
      expect(sum(lane.count)).toBeCloseTo(5, 6)
    }
  })

  it("is not shown twice where the events themselves are known", () => {
    const store = storeOf([["compaction", 1200.2e6, 300_000, 700]], 1000e6, 2000e6)
    store.addSlowEvents({ Columns, Rows: [["compaction", 1200.2e6, 300_000, 700]] })
    const lane = new LanePixels()
    const layers = new SumLayers()
    layers.resize(Width)
    lane.begin(Width)
    layers.prepare(store, 1200e6, 1000)
    layers.fill(store, lane, kindOf("compaction"), 1200e6, 1000)
    expect(lane.box[300]).toBe(1)
  })
})

describe("roll-ups and events", () => {
  const perSecond = (second: number): (string | number)[] => [second, "journal_sync", 100, 0, 500_000, 9000]

  it("never count the same time twice", () => {
    const store = storeOf([["journal_sync", 150_000_000, 10_000, 0]], 120_000_000, 180_000_000)
    store.addRollUps({ SpanSeconds: 1, Columns: RollUpNames, Rows: Array.from({ length: 200 }, (_, second) => perSecond(second)) }, 0, 180)
    store.addRollUps(
      { SpanSeconds: 60, Columns: RollUpNames, Rows: [0, 60].map((second) => [second, "journal_sync", 6000, 0, 30_000_000, 9000]) },
      0,
      120,
    )
    const lane = new LanePixels()
    const layers = new SumLayers()
    layers.resize(Width)
    const fill = (from: number, perPixel: number) => {
      lane.begin(Width)
      layers.prepare(store, from, perPixel)
      layers.fill(store, lane, JournalSync, from, perPixel)
      return sum(lane.count)
    }
    // Zoomed in: events where they are known, and roll-ups of seconds before them.
    expect(fill(100e6, 80_000)).toBeCloseTo(20 * 100 + 1, 6)
    // A day: roll-ups of minutes as far as they are known, then of seconds, which include the one event.
    expect(fill(-80_000e6, 86_400e6 / Width)).toBeCloseTo(180 * 100, 6)
  })

  it("are shown in wider spans until the spans that fit the zoom are fetched", () => {
    const store = new NodeStore("A", "")
    store.addRollUps(
      { SpanSeconds: 60, Columns: RollUpNames, Rows: [0, 60, 120].map((second) => [second, "journal_sync", 6000, 0, 30_000_000, 9000]) },
      0,
      180,
    )
    store.addRollUps(
      { SpanSeconds: 1, Columns: RollUpNames, Rows: Array.from({ length: 60 }, (_, second) => perSecond(60 + second)) },
      60,
      120,
    )
    const lane = new LanePixels()
    const layers = new SumLayers()
    layers.resize(Width)
    lane.begin(Width)
    layers.prepare(store, 0, 180e6 / Width)
    layers.fill(store, lane, JournalSync, 0, 180e6 / Width)
    // At each of the two borders a column of 180 ms is counted by one of the two spans only.
    expect(Math.abs(sum(lane.count) - 18_000)).toBeLessThan(2 * 0.18 * 100)
  })

  it("are fetched in spans that fit the zoom", () => {
    expect(levelFor(86_400e6 / 1200)).toBe(0)
    expect(levelFor((3 * 3600e6) / 1200)).toBe(1)
    expect(levelFor(600e6 / 1200)).toBe(2)
    expect(levelFor(10)).toBe(2)
  })
})

describe("the event under the pointer", () => {
  const store = storeOf([
    ["journal_write", 1000, 200, 4096],
    ["journal_sync", 1200, 8000, 0],
  ])

  it("is shown with its duration, bytes and speed", () => {
    const lane = laneOf(store, JournalSync, 0, 10)
    const found = findIn(store, lane, JournalSync, 500, false, 0, 10)
    expect(found && Object.fromEntries(linesOf(found))).toMatchObject({ took: "8.00 ms", "made durable": "4.0 KiB", speed: "500 KiB/s" })
  })

  it("may be a few pixels away, and is null where no event is near", () => {
    const lane = laneOf(store, 0, 0, 500)
    expect(findIn(store, lane, 0, 5, false, 0, 500)?.start).toBe(1000)
    expect(findIn(store, lane, 0, 9, false, 0, 500)).toBeNull()
  })

  it("is the longest of the events in a pixel, with their number", () => {
    const many = storeOf(Array.from({ length: 40 }, (_, index) => ["read", 1000 + index, index === 17 ? 90 : 5, 1]))
    const found = findIn(many, laneOf(many, kindOf("read"), 0, 1000), kindOf("read"), 1, false, 0, 1000)
    expect(found).toMatchObject({ duration: 90, count: 40, isSum: false })
  })
})

describe("the slowest events in view", () => {
  it("are the same as the first of all events sorted by duration", () => {
    const rows = eventsOf({ count: 20_000, end: End }) as [string, number, number, number][]
    const store = storeOf(rows)
    store.addSlowEvents({ Columns, Rows: rows.filter((row) => row[2] > 200_000) })
    const shown = [...kinds.keys()]
    for (const [from, to] of [
      [End - 30e6, End - 3e6],
      [0, End + 1],
    ] as const) {
      const expected = rows
        .filter(([, start, duration]) => start < to && start + duration > from)
        .map((row) => row[2])
        .sort((one, other) => other - one)
        .slice(0, 20)
      expect(slowestIn(store, shown, from, to, 20).map((event) => event.duration)).toEqual(expected)
    }
  })
})

describe("brightness", () => {
  it("grows with bytes, by the same step for each doubling, from 1 KiB to 4 MiB", () => {
    expect([0, 512, 1024].map(levelOf)).toEqual([0, 0, 0])
    expect([4 << 20, 64 << 20].map(levelOf)).toEqual([15, 15])
    for (let power = 10; power < 22; power++) expect(levelOf(2 ** (power + 1))).toBeGreaterThan(levelOf(2 ** power))
  })
})
