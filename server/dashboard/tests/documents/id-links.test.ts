import { expect, test } from "vitest"
import { linksOf, looksLikeId } from "../../src/documents/id-links"

test("Ids that RavenDB's clients or people choose look like ids", () => {
  for (const id of [
    "users/1",
    "users/0000000000000000004-A",
    "orders/2026/11/7",
    "products/rook-black",
    "möbel/tisch",
    "Users/ann@example.com",
  ])
    expect(looksLikeId(id), id).toBe(true)
})

test("Dates, addresses, media types and prose do not look like ids", () => {
  for (const text of [
    "",
    "users",
    "users/",
    "/users/1",
    "1/2",
    "25/11/2026",
    "and/or maybe",
    "https://example.com/a",
    "text/html",
    "application/json",
    "a b/c",
  ])
    expect(looksLikeId(text), text).toBe(false)
})

test("Each linked id is listed once with its path, and metadata has no links", () => {
  const text =
    '{"company":"companies/1","lines":[{"product":"products/2"},{"product":"products/2"}],"again":"Companies/1","@metadata":{"@collection":"a/b"}}'
  expect(linksOf(text)).toEqual([
    { path: "company", id: "companies/1" },
    { path: "lines[0].product", id: "products/2" },
  ])
  expect(linksOf("{")).toEqual([])
})
