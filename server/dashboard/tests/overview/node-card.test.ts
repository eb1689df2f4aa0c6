import { expect, test, vi } from "vitest"
import type { LiveNode, Sample } from "../../src/shell/live"

vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }))
vi.stubGlobal("location", { hash: "", pathname: "/" })
vi.stubGlobal("addEventListener", () => {})
vi.stubGlobal("localStorage", { getItem: () => null })
vi.stubGlobal("history", { state: null })
const { unknownOf } = await import("../../src/overview/node-card")

const known = {
  TemperatureCelsius: 50,
  MachineCpuRatio: 0.2,
  MachineMemoryUsedBytes: 1,
  MachineMemoryBytes: 2,
  DiskFreeBytes: 1,
  DiskSizeBytes: 2,
  Throttled: [],
  DeviceWrittenBytes: 0,
  LifeLeftDays: 100,
} as unknown as Sample
const node = (more: object, sample: object = {}): LiveNode =>
  ({ Role: "voter", State: "up", LagEntries: 0, SpareBytes: 1, ...more, Sample: { ...known, ...sample } }) as LiveNode

test("A card lists the values that its node does not measure, and no value that is zero", () => {
  expect(unknownOf(node({}))).toEqual([])
  expect(unknownOf(node({}, { TemperatureCelsius: null, Throttled: null, LifeLeftDays: null }))).toEqual([
    "temperature",
    "power",
    "life left of the card",
  ])
  expect(unknownOf(node({ LagEntries: null }))).toEqual(["how far behind"])
  expect(unknownOf(node({ Role: "leader", LagEntries: null }))).toEqual([])
})

test("A card of a node that is off lists no unknown values", () => {
  expect(unknownOf(node({ State: "down", LagEntries: null, SpareBytes: null }))).toEqual([])
  expect(unknownOf({ ...node({}), Sample: null })).toEqual([])
})
