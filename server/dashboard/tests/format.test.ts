import { expect, test } from "vitest"
import { bytes, bytesAxis, count, figure, milliseconds, millisecondsAxis, offset, room, syncTime, tick } from "../src/shell/format"

test("An unknown figure is shown as a word, never as zero", () => {
  expect(bytes(null)).toBe("unknown")
  expect(milliseconds(undefined)).toBe("unknown")
  expect(bytes(0)).toBe("0 B")
  expect([syncTime(null, null), syncTime({}, null), syncTime({}, 1.7)]).toEqual(["unknown", "idle", "1.7 ms"])
})

test("A duration is shown in seconds from one second on", () => {
  expect([0.42, 0.9996, 5, 9.96, 14.4, 999, 999.6, 5000, 10_000].map(milliseconds)).toEqual([
    "420 µs",
    "1.0 ms",
    "5.0 ms",
    "10 ms",
    "14 ms",
    "999 ms",
    "1.0 s",
    "5.0 s",
    "10.0 s",
  ])
})

test("Whole figures beside an axis have no decimal", () => {
  expect(["5.0 ms", "10 ms", "2.5 s", "10.0 s", "4.0 MiB", "100 %", "3.05 s"].map(tick)).toEqual([
    "5 ms",
    "10 ms",
    "2.5 s",
    "10 s",
    "4 MiB",
    "100 %",
    "3.05 s",
  ])
})

test("A count is grouped by thousands, and has a decimal below ten only", () => {
  expect([0, 0.04, -0.04, 3.14, 9.96, 10.4, 999, 999.6, 1_234_567, -5000].map(count)).toEqual([
    "0",
    "0",
    "0",
    "3.1",
    "10",
    "10",
    "999",
    "1,000",
    "1,234,567",
    "-5,000",
  ])
  expect(count(null)).toBe("unknown")
})

test("Bytes, clock offsets and sums are written as by the command line", () => {
  expect([1023, 1023.6 * 1024, 99.96 * 1024, -0.4, -(2 ** 30), 2 ** 50].map(bytes)).toEqual([
    "1023 B",
    "1.0 MiB",
    "100 KiB",
    "0 B",
    "−1.0 GiB",
    "1.0 PiB",
  ])
  expect([136 << 20, 13707 * 2 ** 20, 1024, 99.94 * 1024, 1536 * 2 ** 20].map(bytes)).toEqual([
    "136 MiB",
    "13.4 GiB",
    "1.0 KiB",
    "99.9 KiB",
    "1.5 GiB",
  ])
  expect([-13 * 2 ** 30, 0, 2 ** 30, null].map(room)).toEqual(["none: 13.0 GiB below its reserve", "0 B", "1.0 GiB", "unknown"])
  expect([0, 0.0312, -4.26, -71_323_793, null].map(offset)).toEqual(["0 s", "0.031 s", "−4.3 s", "−826 days", "unknown"])
  expect(["899.6300000000001", "0.30000000000000004", "12.5", "9007199254740993", "1.5e300"].map(figure)).toEqual([
    "899.63",
    "0.3",
    "12.5",
    "9007199254740993",
    "1.5e300",
  ])
})

test("All values of an axis are in the unit of the largest", () => {
  expect([0.5, 1, 2].map(millisecondsAxis(2))).toEqual(["0.5 ms", "1 ms", "2 ms"])
  expect([250, 500, 1000].map(millisecondsAxis(1000))).toEqual(["0.25 s", "0.5 s", "1 s"])
  expect([0.2, 0.4].map(millisecondsAxis(0.4))).toEqual(["200 µs", "400 µs"])
  expect([512 << 10, 1 << 20].map(bytesAxis(1 << 20))).toEqual(["0.5 MiB", "1 MiB"])
  expect([0, 256].map(bytesAxis(256))).toEqual(["0 B", "256 B"])
})
