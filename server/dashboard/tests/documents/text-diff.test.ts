import { expect, test } from "vitest"
import { diffLines, withoutFarLines } from "../../src/documents/text-diff"

const said = (left: string, right: string) =>
  diffLines(left, right).map((line) => `${{ same: " ", left: "-", right: "+" }[line.kind]}${line.text}`)

test("Common lines are the same, and the other lines belong to the left or right text", () => {
  expect(said("a\nb\nc\nd", "a\nx\nc\nd\ne")).toEqual([" a", "-b", "+x", " c", " d", "+e"])
  expect(said("", "a")).toEqual(["-", "+a"])
  expect(said("a", "a")).toEqual([" a"])
})

test("Both texts can be restored from their difference", () => {
  let seed = 7
  const random = (below: number) => {
    seed = (seed * 48271) % 2147483647
    return seed % below
  }
  for (let round = 0; round < 200; round++) {
    const left = Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n")
    const right = Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n")
    const lines = diffLines(left, right)
    expect(
      lines
        .filter((line) => line.kind !== "right")
        .map((line) => line.text)
        .join("\n"),
    ).toBe(left)
    expect(
      lines
        .filter((line) => line.kind !== "left")
        .map((line) => line.text)
        .join("\n"),
    ).toBe(right)
    expect(lines.flatMap((line) => line.leftNumber ?? [])).toEqual(left.split("\n").map((_, at) => at + 1))
  }
})

test("Texts that are too long to compare line by line differ in all lines", () => {
  const left = Array.from({ length: 3000 }, (_, at) => `l${at}`).join("\n")
  const right = Array.from({ length: 3000 }, (_, at) => `r${at}`).join("\n")
  expect(diffLines(left, right)).toHaveLength(6000)
})

test("Equal lines far from a difference are left out", () => {
  const text = Array.from({ length: 40 }, (_, at) => `${at}`)
  const changed = text.with(20, "x")
  const shown = withoutFarLines(diffLines(text.join("\n"), changed.join("\n")), 2)
  expect(shown.map((line) => line?.text ?? "…")).toEqual(["…", "18", "19", "20", "x", "21", "22", "…"])
  expect(withoutFarLines(diffLines("a\nb\nc\nd", "x\nb\nc\nd"), 2).map((line) => line?.text ?? "…")).toEqual(["a", "x", "b", "c", "d"])
})
