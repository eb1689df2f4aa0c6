import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { qrCode } from "../../src/cluster/qr"

const rowsOf = (modules: boolean[][]) => modules.map((row) => row.map((dark) => (dark ? "#" : ".")).join(""))
const textOf = (length: number) => "rook".repeat(103).slice(0, length)

// Drawn by another encoder (npm's qrcode 1.5.4, byte mode, level M, mask 3), whose codes zbarimg can read.
const smallest = `
#######.#.##..#######
#.....#.#.#...#.....#
#.###.#...#...#.###.#
#.###.#.###...#.###.#
#.###.#....#..#.###.#
#.....#..##...#.....#
#######.#.#.#.#######
........###.#........
#.##.###...##.#..#.##
.####....##...####..#
.#.####.#....#.#..###
###.#....##.#..#.#.##
.#..#.###.#.###.#....
........###.#.#.#.##.
#######.####.######..
#.....#.####.#..###.#
#.###.#....##..#####.
#.###.#.#.#.#.#...##.
#.###.#.#.#####..#...
#.....#..##.###.#...#
#######.##.####.###..`

test("A text that fills the smallest code gives the same code as another encoder", () => {
  expect(rowsOf(qrCode(textOf(14), 3))).toEqual(smallest.trim().split("\n"))
})

test.each([
  [7, 122, "da39d67ae7bdb2e1a85c4db2317d5b86b1f04746eb13ed9de108df36ad504f6b"],
  [10, 213, "04b789eb93be88cea9807088a8f4d0e5c2da0c59d6ab9172464f6e0825f8ab43"],
  [15, 412, "0311e7feede606949693f4a3246ba661525cd8f0868cea110f178820bb62b284"],
])("Version %i, full with %i bytes, gives the same code as another encoder", (version, length, hash) => {
  const rows = rowsOf(qrCode(textOf(length), 3))
  expect(rows.length).toBe(version * 4 + 17)
  expect(createHash("sha256").update(rows.join("\n")).digest("hex")).toBe(hash)
})

test("One byte more needs the next version, and a text that is too long for every version is refused", () => {
  expect(qrCode(textOf(15)).length).toBe(25)
  expect(() => qrCode("x".repeat(413))).toThrow("413 bytes")
})
