import { expect, test } from "vitest"
import { bytes, count, milliseconds } from "../src/shell/format"

test("An unknown figure is said as a word, never as zero", () => {
  expect(bytes(null)).toBe("unknown")
  expect(milliseconds(undefined)).toBe("unknown")
  expect(bytes(0)).toBe("0 B")
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
