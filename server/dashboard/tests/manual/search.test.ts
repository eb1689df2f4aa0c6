import { expect, test } from "vitest"
import { parseArchive } from "../../src/manual/archive"
import { contentsOf } from "../../src/manual/contents"
import { search, sectionsOf } from "../../src/manual/search"
import { packedManual } from "../mock/manual.mjs"

const texts = parseArchive(packedManual())
const sections = sectionsOf(texts, contentsOf(texts))
const placesOf = (asked: string) => search(sections, asked).map(({ path, anchor }) => (anchor === "" ? path : `${path}#${anchor}`))

test("A search for the title of a page or section finds it first", () => {
  expect(placesOf("upgrade")[0]).toBe("how-to/upgrade.md")
  expect(placesOf("disk_full")[0]).toBe("reference/alerts.md#disk_full")
  expect(placesOf("Uptime Kuma")[0]).toBe("how-to/uptime-kuma.md")
  expect(placesOf("give access")[0]).toBe("how-to/give-access.md")
})

test("All words must occur, in upper or lower case, singular or plural", () => {
  expect(placesOf("compare exchange")).toEqual(placesOf("COMPARE  exchange"))
  expect(placesOf("static INDEXES").length).toBeGreaterThan(0)
  expect(placesOf("upgrade xyzzyplugh")).toEqual([])
  expect(placesOf("  ")).toEqual([])
})

test("A search text is not a regular expression", () => {
  expect(placesOf("(.*").length).toBeLessThan(5)
  expect(placesOf("--data").length).toBeGreaterThan(0)
})

test("An excerpt has the words marked and contains no Markdown", () => {
  const [first] = search(sections, "fingerprint")
  expect(first?.excerpt.some(({ text, isWord }) => isWord && text.toLowerCase() === "fingerprint")).toBe(true)
  const all = sections.flatMap(({ path, text }) => (/\]\(|\*\*|\|\s*-{3}/.test(text) ? [path] : []))
  expect([...new Set(all)]).toEqual([])
})
