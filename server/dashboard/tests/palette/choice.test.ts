import { expect, test } from "vitest"
import { optionId, placeOfChosen } from "../../src/palette/choice"

const items = (...keys: string[]) => keys.map((key) => ({ key }))

test("The chosen item stays chosen when other items arrive before it", () => {
  expect(placeOfChosen(items("a", "b"), "b")).toBe(1)
  expect(placeOfChosen(items("x", "y", "a", "b"), "b")).toBe(3)
  expect(placeOfChosen(items("x", "y"), "b")).toBe(0)
  expect(placeOfChosen(items("x"), null)).toBe(0)
  expect(placeOfChosen([], "b")).toBe(0)
})

test("Each item has its own option id, which has no white space", () => {
  const keys = ["document shop a b", "document shop a_20_b", "document shop ä/\u{1f426}"]
  const ids = keys.map((key) => optionId(":r1:", key))
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(id).toMatch(/^\S+$/)
})
