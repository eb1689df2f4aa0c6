import { expect, test } from "vitest"
import { memberOf, parseJson } from "../../src/documents/json-text"
import { errorOfQuery } from "../../src/query/error-place"
import { forgetHistory, readHistory, remember } from "../../src/query/history"
import { columnsOf, fieldsOf, rowsOf } from "../../src/query/results"

const answer =
  '{"Results":[{"n":12345678901234567890,"company":"companies/1","@metadata":{"@id":"users/1"}},{"company":"none","tags":["a", "b"],"address":{"city":"Ulm"},"lines":[{"q":1}]}]}'
const { node } = parseJson(answer)
const results = memberOf(node ?? undefined, "Results")?.items ?? []

test("Rows keep the digits of numbers, and link to documents by id", () => {
  const [first, second] = rowsOf(answer, results)
  expect(first?.id).toBe("users/1")
  expect(first?.cells.get("n")?.text).toBe("12345678901234567890")
  expect(first?.cells.get("company")?.link).toBe("companies/1")
  expect(second?.id).toBeNull()
  expect(second?.cells.get("tags")?.text).toBe('["a","b"]')
  expect(second?.cells.get("company")?.link).toBeNull()
})

test("Columns are sorted by how many rows have them, then by first occurrence", () => {
  expect(columnsOf(rowsOf(answer, results))).toEqual(["company", "n", "tags", "address", "lines"])
})

test("Fields are named by their RQL paths", () => {
  expect(fieldsOf(results)).toEqual(["n", "company", "tags", "address", "address.city", "lines", "lines[].q"])
})

test("A node's error message is split into the message and the offset in the query", () => {
  expect(errorOfQuery("'>' stands where a value must stand.\nLine 2, column 7:\nwhere > > 5\n      ^", "from Users\nwhere > > 5")).toEqual({
    message: "'>' stands where a value must stand.",
    at: 17,
  })
  expect(errorOfQuery("There is no database 'x'.", "from Users")).toEqual({ message: "There is no database 'x'.", at: null })
})

test("The history keeps each query once, newest first, and is empty if the storage is broken", () => {
  const kept = new Map<string, string>()
  const store = { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => void kept.set(key, value) }
  const query = (text: string) => ({ text, parameters: "", at: 1, milliseconds: 2, total: 3, index: null })
  remember(store, "Shop", query("from A"))
  remember(store, "shop", query("from B"))
  remember(store, "shop", query("from A"))
  expect(readHistory(store, "shop").map((one) => one.text)).toEqual(["from A", "from B"])
  for (let i = 0; i < 60; i++) remember(store, "shop", query(`from C${i}`))
  expect(readHistory(store, "shop")).toHaveLength(50)
  kept.set("rookery.queries.shop", "{")
  expect(readHistory(store, "shop")).toEqual([])
  forgetHistory(store, "shop")
  expect(
    readHistory(
      {
        getItem: () => {
          throw new Error("forbidden")
        },
        setItem: () => {},
      },
      "shop",
    ),
  ).toEqual([])
})
