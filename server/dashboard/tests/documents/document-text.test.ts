import { expect, test } from "vitest"
import { documentsOf, newDocumentText, readable } from "../../src/documents/document-text"
import { documentFault } from "../../src/documents/json-text"

const answer =
  '{"Results":[{"n":12345678901234567890.5,"name":"Ann","@metadata":{"@expires":"2027-01-01T00:00:00Z","my":1,"@collection":"Users","@id":"users/1","@change-vector":"A:2-x","@last-modified":"2026-11-25T15:38:07.7464104Z"}},null],"Includes":{}}'

test("A document's text has all digits, and no metadata that the node adds", () => {
  const [document, missing] = documentsOf(answer)
  expect(missing).toBeNull()
  expect(document?.text).toBe(
    '{\n  "n": 12345678901234567890.5,\n  "name": "Ann",\n  "@metadata": {\n    "@expires": "2027-01-01T00:00:00Z",\n    "my": 1,\n    "@collection": "Users"\n  }\n}',
  )
  expect(document).toMatchObject({ id: "users/1", collection: "Users", changeVector: "A:2-x", expires: "2027-01-01T00:00:00Z" })
  expect(document?.preview).toBe('n: 12345678901234567890.5, name: "Ann"')
})

test("A document without a collection and without members is read", () => {
  const [document] = documentsOf('{"Results":[{"@metadata":{"@id":"a","@change-vector":"A:1-x","@last-modified":"2026-11-25T15:38:07Z"}}]}')
  expect(document).toMatchObject({ id: "a", collection: "@empty", expires: null, text: "{}", preview: "" })
})

test("What is deleted with a document and is not in its text is counted", () => {
  const belongings = (metadata: string) => documentsOf(`{"Results":[{"@metadata":{${metadata}"@id":"a"}}]}`)[0]?.belongings
  expect(belongings("")).toBe("")
  expect(belongings('"@attachments":[{"Name":"a"},{"Name":"b"}],"@counters":["likes"],')).toBe("2 attachments and 1 counter")
})

test("The text of a new document names its collection", () => {
  const text = newDocumentText("My users")
  expect(text).toContain('"@collection": "My users"')
  expect(documentFault(text.replace("{\n  \n", '{\n  "a": 1,\n'))).toBeNull()
  expect(newDocumentText("@empty")).not.toContain("@collection")
})

test("Escaped letters are shown as letters, and invisible characters stay escaped", () => {
  expect(readable(String.raw`"K\u00f6ln \ud83d\ude00 \u003c"`)).toBe('"Köln 😀 <"')
  for (const text of [String.raw`"\u0022 \u005c \u0000 \u200b \u202e \ud800 \u00a0 \n"`, String.raw`"\\u00f6"`]) {
    expect(readable(text)).toBe(text)
    expect(JSON.parse(readable(text))).toBe(JSON.parse(text))
  }
})

test("A preview shows short values, lengths of arrays and members of objects, with … for what is left out", () => {
  const preview = (document: string) => documentsOf(`{"Results":[${document}]}`)[0]?.preview
  expect(preview('{"a":1,"lines":[{"x":1},{},{},{}],"at":{"city":"Ulm","zip":1}}')).toBe("a: 1, lines: [4], at: {city, zip}")
  expect(preview('{"o":{"a":1,"b":2,"c":3,"d":4}}')).toBe("o: {a, b, c, …}")
  expect(preview(`{"text":"${"x".repeat(59)}"}`)).toBe(`text: "${"x".repeat(59)}…`)
  expect(preview(`{"text":"${"x".repeat(58)}"}`)).toBe(`text: "${"x".repeat(58)}"`)
  expect(preview(`{"text":"${"x".repeat(58)}😀y"}`)).toBe(`text: "${"x".repeat(58)}…`)
  expect(preview(`{${Array.from({ length: 40 }, (_, n) => `"member${n}":${n}`).join()}}`)).toMatch(/^member0: 0, .{100,150}…$/)
})
