import { expect, test } from "vitest"
import { hasOrders, orderBy, orderWords, pageSizeFor, queryOf } from "../../src/documents/listing"
import { databaseNameProblem, pathOf } from "../../src/documents/store"

test("A filter becomes a query only if the listing needs one", () => {
  expect(queryOf(null, { prefix: "", where: "", order: "plain" })).toBeNull()
  expect(queryOf(null, { prefix: "users/", where: " ", order: "plain" })).toBeNull()
  expect(queryOf("Users", { prefix: "", where: "", order: "plain" })).toBe("from Users")
  expect(queryOf("my users", { prefix: "it's/", where: "a = 1 or b = 2", order: "plain" })).toBe(
    "from 'my users' where startsWith(id(), 'it\\'s/') and (a = 1 or b = 2)",
  )
  expect(queryOf(null, { prefix: "", where: "a = 1", order: "plain" })).toBe("from @all_docs where a = 1")
})

test("Newest first is ordered by the query if there is one, and needs no query without a filter", () => {
  expect(queryOf("Users", { prefix: "", where: "a = 1", order: "newest" })).toBe(
    "from Users where a = 1 order by @metadata.@last-modified desc",
  )
  expect(queryOf(null, { prefix: "", where: "", order: "newest" })).toBeNull()
  expect([hasOrders(null, { prefix: "", where: "" }), hasOrders("Users", { prefix: "u", where: "" })]).toEqual([true, true])
  expect(hasOrders(null, { prefix: "users/", where: "" })).toBe(false)
})

test("Pages of large documents have fewer documents", () => {
  expect(pageSizeFor(0, 0)).toBe(50)
  expect(pageSizeFor(100, 100 * 300)).toBe(50)
  expect(pageSizeFor(10, 10 * (1 << 20))).toBe(5)
  expect(pageSizeFor(100, 100 * 400_000)).toBe(10)
})

test("Special characters of names and ids are escaped in addresses, and a space is no plus sign", () => {
  expect(pathOf("Vögel", "docs", { id: "a/b c&d?#ä", start: undefined })).toBe("/databases/V%C3%B6gel/docs?id=a%2Fb%20c%26d%3F%23%C3%A4")
})

test("The rules for names of databases are those of a node", () => {
  for (const name of ["shop", "Vögel-2", "a.b_c", "x".repeat(128)]) expect(databaseNameProblem(name), name).toBeNull()
  for (const name of ["a b", "a/b", ".a", "a.", "x".repeat(129), "a:b"]) expect(databaseNameProblem(name), name).not.toBeNull()
})

test("A collection is ordered by a field that RQL can name, with missing values last", () => {
  const query = (path: string[], isDescending: boolean) =>
    queryOf("Orders", { prefix: "", where: "", order: orderBy(path, isDescending) ?? "plain" })
  expect(query(["total"], true)).toBe("from Orders order by total desc nulls last")
  expect(query(["ship", "city"], false)).toBe("from Orders order by ship.city nulls last")
  expect(query(["order"], false)).toBe("from Orders order by 'order' nulls last")
  expect(orderBy(["ship", "zip code"], false)).toBeNull()
  expect(orderWords(orderBy(["total"], true) ?? "plain")).toBe("By total, largest first")
})
