import { expect, test } from "vitest"
import { align } from "../../src/shell/align"

const answer = (Node: string, Rows: (number | null)[][]) => ({
  Node,
  SpanSeconds: 10,
  LastSeen: null,
  IsObserved: false,
  Columns: ["UnixSecond", "TemperatureCelsius"],
  Rows,
})

test("Nodes that sample at moments of their own come to stand under each other", () => {
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

test("One missed beat is bridged, an outage stays unknown and is never zero", () => {
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

test("The widest span of all answers holds for all", () => {
  const wide = { ...answer("B", [[1000, 60]]), SpanSeconds: 30 }
  const table = align([answer("A", [[1000, 50]]), wide], 1000, 1059, 60)
  expect(table.span).toBe(30)
  expect(table.columns.get("A TemperatureCelsius")).toEqual([50, null])
})
