import { expect, test } from "vitest"
import { pageSizeFor, queryOf } from "../../src/documents/listing"
import { databaseNameProblem, pathOf } from "../../src/documents/store"

test("A filter becomes a query only where one is needed", () => {
  expect(queryOf(null, { prefix: "", where: "" })).toBeNull()
  expect(queryOf(null, { prefix: "users/", where: " " })).toBeNull()
  expect(queryOf("Users", { prefix: "", where: "" })).toBe("from Users")
  expect(queryOf("my users", { prefix: "it's/", where: "a = 1 or b = 2" })).toBe(
    "from 'my users' where startsWith(id(), 'it\\'s/') and (a = 1 or b = 2)",
  )
  expect(queryOf(null, { prefix: "", where: "a = 1" })).toBe("from @all_docs where a = 1")
})

test("Pages of large documents are shorter", () => {
  expect(pageSizeFor(0, 0)).toBe(50)
  expect(pageSizeFor(100, 100 * 300)).toBe(50)
  expect(pageSizeFor(10, 10 * (1 << 20))).toBe(5)
  expect(pageSizeFor(100, 100 * 400_000)).toBe(10)
})

test("Names and ids stand in addresses whatever is in them", () => {
  expect(pathOf("Vögel", "docs", { id: "a/b c&d?#ä", start: undefined })).toBe("/databases/V%C3%B6gel/docs?id=a%2Fb+c%26d%3F%23%C3%A4")
})

test("Names of databases are judged as a node judges them", () => {
  for (const name of ["shop", "Vögel-2", "a.b_c", "x".repeat(128)]) expect(databaseNameProblem(name), name).toBeNull()
  for (const name of ["a b", "a/b", ".a", "a.", "x".repeat(129), "a:b"]) expect(databaseNameProblem(name), name).not.toBeNull()
})
