import { describe, expect, it } from "vitest"
import { fromFile, toFile } from "../src/timeline/file-form"
import { kindOf } from "../src/timeline/kinds"
import { fileOf } from "./timeline-events.mjs"

const file = () => fileOf({ count: 3000 })
const first = <T>(values: T[]): T => values[0] as T

describe("the file", () => {
  it("is the same after reading and writing it again", () => {
    const [store] = fromFile(JSON.stringify(file()))
    if (!store) throw new Error("nothing was read")
    const once = toFile([store], new Date(0))
    const twice = toFile(fromFile(JSON.stringify(once)), new Date(0))
    expect(twice).toEqual(once)
    expect(store.eventCount).toBe(3000)
    expect(first(once.Nodes).Events).toEqual(first(file().Nodes).Events)
    expect(first(once.Nodes).SlowEvents.Rows).toHaveLength(first(file().Nodes).SlowEvents.Rows.length)
    expect(first(once.Nodes).Covered).toEqual(first(file().Nodes).Covered)
    expect(first(once.Nodes).History.Rows).toEqual(first(file().Nodes).History.Rows)
    for (const level of first(file().Nodes).RollUps) {
      const read = first(once.Nodes).RollUps.find((one) => one.SpanSeconds === level.SpanSeconds)
      expect(read?.Known).toEqual(level.Known)
      expect([...(read?.Rows ?? [])].map(String).sort()).toEqual(level.Rows.map(String).sort())
    }
  })

  it("may hold several nodes", () => {
    const two = { ...file(), Nodes: [...file().Nodes, ...fileOf({ count: 200, tag: "B", name: "pi-2" }).Nodes] }
    expect(fromFile(JSON.stringify(two)).map((store) => store.tag)).toEqual(["A", "B"])
  })

  it("may be a saved answer of /debug/io", () => {
    const node = first(file().Nodes)
    const answer = {
      Node: "C",
      NodeName: "pi-3",
      Devices: { Journal: "mmcblk0p2", Data: "sda1" },
      Events: { FromUnixMicroseconds: 5, UntilUnixMicroseconds: 10, ...node.Events },
      SlowEvents: node.SlowEvents,
      RollUps: node.RollUps[0],
    }
    const [store] = fromFile(JSON.stringify(answer))
    expect(store?.name).toBe("pi-3")
    expect(store?.devices.Data).toBe("sda1")
    expect(store?.eventCount).toBe(3000)
    expect(store?.covered.bounds).toEqual([5, 10])
    expect(store?.levels[0]?.kinds[0]?.size).toBeGreaterThan(100)
  })

  it("may contain roll-ups of any span", () => {
    const Columns = ["UnixSecond", "Kind", "Count", "Bytes", "TotalMicroseconds", "MaxMicroseconds"]
    const answer = (span: number) => ({
      Node: "A",
      Events: { Columns: ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"], Rows: [] },
      RollUps: { SpanSeconds: span, Columns, Rows: [[86_400 * 3, "read", 70, 7000, 14_000, 500]] },
    })
    for (const [span, level, parts] of [
      [7, 2, 7],
      [300, 0, 5],
      [90, 1, 9],
    ] as const) {
      const [store] = fromFile(JSON.stringify(answer(span)))
      const columns = store?.levels[level]?.kinds[kindOf("read")]
      expect(columns?.size).toBe(parts)
      expect([...(columns?.total.subarray(0, parts) ?? [])].reduce((sum, one) => sum + one, 0)).toBeCloseTo(14_000, 6)
    }
  })

  it.each([
    ["no JSON", "hello", "This is not JSON: choose a file that this page exported, or an answer of /debug/io."],
    ["another JSON", "[1]", "This file is not an IO timeline: choose one that this page exported, or an answer of /debug/io."],
    [
      "a newer version",
      JSON.stringify({ ...fileOf({ count: 10 }), Version: 2 }),
      "This file has version 2 of the format, and this page reads version 1. Open it with the release that wrote it, or a newer one.",
    ],
    ["no node", JSON.stringify({ ...fileOf({ count: 10 }), Nodes: [] }), "There is no node in this file."],
  ])("is refused with a sentence when it is %s", (_, text, sentence) => {
    expect(() => fromFile(text)).toThrow(sentence)
  })

  it.each([
    [
      "Events",
      { Columns: ["Kind"], Rows: [] },
      `Node 1 of this file: "Events": The column "StartUnixMicroseconds" is missing; there are Kind.`,
    ],
    [
      "Events",
      {
        Columns: ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"],
        Rows: [
          ["read", 1, 2, 3],
          ["read", 1, "soon", 3],
        ],
      },
      `Node 1 of this file: "Events", row 2: "DurationMicroseconds" is not as it should be.`,
    ],
    ["Covered", [[1]], `Node 1 of this file: "Covered" needs a list of [from, until].`],
    ["RollUps", 7, `Node 1 of this file: "RollUps" is not a list.`],
    ["History", null, `Node 1 of this file: "History" needs Columns and Rows.`],
  ])("names the place where %s is wrong", (name, wrong, sentence) => {
    const broken = fileOf({ count: 10 })
    expect(() => fromFile(JSON.stringify({ ...broken, Nodes: [{ ...first(broken.Nodes), [name]: wrong }] }))).toThrow(sentence)
  })
})
