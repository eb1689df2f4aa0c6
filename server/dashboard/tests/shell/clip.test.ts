import { expect, test } from "vitest"
import { clipOf } from "../../src/shell/clip"

const usual = Array.from({ length: 300 }, (_, at) => 5 + (at % 3))

test("A chart clips a few values that are far beyond the others", () => {
  expect(clipOf([[...usual, 2000, null]], 10)).toBeCloseTo(11.2)
  expect(clipOf([[...usual, 12]], 10)).toBeNull()
  // The usual minimum of the axis shows it.
  expect(clipOf([usual.map((value) => value / 100), [0.5]], 10)).toBeNull()
})

test("A chart does not clip what lasts, what another line always has, and a few values", () => {
  expect(clipOf([[...usual, ...usual.map(() => 2000)]], 10)).toBeNull()
  expect(clipOf([usual, usual.map(() => 900)], 10)).toBeNull()
  expect(clipOf([[5, 5, 900]], 10)).toBeNull()
  expect(clipOf([[null]], 10)).toBeNull()
})
