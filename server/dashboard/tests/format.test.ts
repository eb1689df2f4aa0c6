import { expect, test } from "vitest"
import { bytes, milliseconds } from "../src/shell/format"

test("An unknown figure is said as a word, never as zero", () => {
  expect(bytes(null)).toBe("unknown")
  expect(milliseconds(undefined)).toBe("unknown")
  expect(bytes(0)).toBe("0 B")
})
