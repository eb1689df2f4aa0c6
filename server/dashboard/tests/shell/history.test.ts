import { expect, test } from "vitest"
import { align, isBeyond } from "../../src/shell/align"

const answer = (Node: string, Rows: (number | null)[][]) => ({
  Node,
  SpanSeconds: 10,
  LastSeen: null,
  IsObserved: false,
  Columns: ["UnixSecond", "TemperatureCelsius"],
  Rows,
})

test("Samples that nodes took at different seconds are aligned in common rows", () => {
  const table = align(
    [
      answer("A", [
        [1000, 50],
        [1010, 51],
        [1020, 52],
      ]),
      answer("B", [
        [1003, 60],
        [1013, 61],
        [1023, 62],
      ]),
    ],
    1000,
    1029,
    30,
  )
  expect(table.columns.get("A TemperatureCelsius")).toEqual([50, 51, 52])
  expect(table.columns.get("B TemperatureCelsius")).toEqual([60, 61, 62])
})

test("One missing sample is filled in, and an outage stays unknown, never zero", () => {
  const table = align(
    [
      answer("A", [
        [1000, 50],
        [1020, 52],
        [1060, 56],
      ]),
    ],
    1000,
    1069,
    70,
  )
  expect(table.columns.get("A TemperatureCelsius")).toEqual([50, 50, 52, null, null, null, 56])
})

test("All columns have the widest span of the answers", () => {
  const wide = { ...answer("B", [[1000, 60]]), SpanSeconds: 30 }
  const table = align([answer("A", [[1000, 50]]), wide], 1000, 1059, 60)
  expect(table.span).toBe(30)
  expect(table.columns.get("A TemperatureCelsius")).toEqual([50, null])
})

test("A time after a jump of the cluster's clock is beyond the table, and one after a pause is not", () => {
  const table = align([answer("A", [[1000, 50]])], 1000, 4600, 3600)
  expect([4610, 8000, 10_000, 1000 + 2 * 365 * 86_400].map((time) => isBeyond(table, time))).toEqual([false, false, true, true])
})
