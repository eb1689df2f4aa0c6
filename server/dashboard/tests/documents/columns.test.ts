import { expect, test } from "vitest"
import { cellAt, columnsOf, fieldsOf, rememberColumns } from "../../src/documents/columns"
import { memberOf, parseJson } from "../../src/documents/json-text"

const answer =
  '{"Results":[{"total":12345678901234567890,"ship":{"city":"Elm","zip":null},"company":"companies/1","lines":[1,2],"@metadata":{"@id":"a"}},{"total":1}]}'
const nodes = memberOf(parseJson(answer).node ?? undefined, "Results")?.items ?? []

test("Fields of documents and of objects in them are offered as columns, the most frequent first", () => {
  expect(fieldsOf(nodes)).toEqual([["total"], ["ship", "city"], ["ship", "zip"], ["company"], ["lines"]])
})

test("A cell has the value as written, the number of items of an array, and nothing for a missing value", () => {
  const cell = (at: number, ...path: string[]) => nodes[at] && cellAt(answer, nodes[at], path)
  expect(cell(0, "total")).toEqual({ text: "12345678901234567890", isNumber: true, link: null })
  expect(cell(0, "company")?.link).toBe("companies/1")
  expect(cell(0, "lines")?.text).toBe("[2]")
  expect([cell(0, "ship", "zip"), cell(1, "ship", "city"), cell(1, "none")]).toEqual([null, null, null])
})

test("The chosen columns are remembered by collection, and damaged ones are none", () => {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
  rememberColumns(storage, "shop", "Orders", [["ship", "city"]])
  expect([columnsOf(storage, "shop", "orders"), columnsOf(storage, "shop", "Users")]).toEqual([[["ship", "city"]], []])
  for (const [key] of stored) stored.set(key, '{"a":1}')
  expect(columnsOf(storage, "shop", "orders")).toEqual([])
})
