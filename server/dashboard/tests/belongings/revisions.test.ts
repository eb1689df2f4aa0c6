import { expect, test } from "vitest"
import { namesOf } from "../../src/belongings/revisions"
import { isSameName } from "../../src/belongings/upload"
import { documentsOf, revisionsOf } from "../../src/documents/document-text"

const answer =
  '{"Results":[{"a":1,"@metadata":{"@attachments":[{"Name":"x","Size":1},{"Name":"y","Size":2}],"@counters-snapshot":{"likes":1},"@flags":"HasCounters, Revision","own":1,"@id":"a"}}]}'

test("The text of a document omits what belongs to it, and that of a revision shows it", () => {
  expect(documentsOf(answer)[0]?.text).toBe('{\n  "a": 1,\n  "@metadata": {\n    "own": 1\n  }\n}')
  const lines = revisionsOf(answer)[0]?.text.split("\n") ?? []
  expect(lines).toContain('      {"Name":"x","Size":1},')
  expect(lines).toContain('      "likes": 1')
  expect(documentsOf(answer)[0]?.flags).toEqual(new Set(["HasCounters", "Revision"]))
  expect(documentsOf(answer)[0]?.attachments.map(({ Name }) => Name)).toEqual(["x", "y"])
})

test("Revisions of the same second have names with milliseconds", () => {
  const at = (changeVector: string, lastModified: string) => ({ changeVector, lastModified, isDeletion: false, isForced: false })
  const names = namesOf([
    at("a", "2026-01-02T03:04:05.1239999Z"),
    at("b", "2026-01-02T03:04:05.0000000Z"),
    at("c", "2026-01-02T03:04:06.5000000Z"),
  ])
  expect([...names.values()].map((name) => name.slice(name.indexOf(":") + 1))).toEqual(["04:05.123", "04:05.000", "04:06"])
})

test("Names of attachments differ in the casing of other letters than those of ASCII", () => {
  expect(isSameName("Photo.PNG", "photo.png")).toBe(true)
  expect(isSameName("Ärger", "ärger")).toBe(false)
})
