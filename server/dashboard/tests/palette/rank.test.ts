import { expect, test } from "vitest"
import { type Item, rank } from "../../src/palette/rank"

const item = (kind: Item["kind"], title: string, more: Partial<Item> = {}): Item => ({ key: `${kind} ${title}`, kind, title, ...more })
const items = [
  item("Pages", "Documents"),
  item("Pages", "Indexes"),
  item("Actions", "New document in shop"),
  item("Databases", "shop"),
  item("Collections", "Orders", { detail: "shop" }),
  item("Indexes", "Orders/ByCompany", { detail: "shop" }),
  item("Documents", "orders/1-A", { detail: "shop" }),
  item("Help", "Define an index", { words: "static map reduce" }),
]
const titles = (text: string) => rank(items, text).map(({ kind, items }) => `${kind}: ${items.map(({ title }) => title).join(", ")}`)

test("Without a search text the list has pages first, and no documents or help pages", () => {
  expect(titles("")).toEqual(["Pages: Documents, Indexes", "Actions: New document in shop", "Databases: shop"])
})

test("Every word must occur in the title or in the text beside it", () => {
  expect(titles("shop orders")).toEqual(["Collections: Orders", "Documents: orders/1-A", "Indexes: Orders/ByCompany"].sort(byFirst))
  expect(titles("orders paris")).toEqual([])
})

test("A title equal to the text comes before one that begins with it, and that before one that contains it", () => {
  expect(titles("orders")[0]).toBe("Collections: Orders")
  expect(titles("doc")).toEqual(["Pages: Documents", "Actions: New document in shop"])
})

test("A help page is found by a word of its headings", () => {
  expect(titles("reduce")).toEqual(["Help: Define an index"])
})

test("The search text is not a regular expression", () => {
  expect(titles("orders/1-a")).toEqual(["Documents: orders/1-A"])
  expect(titles("(.*")).toEqual([])
})

function byFirst(left: string, right: string): number {
  const order = ["Collections", "Indexes", "Documents"]
  return order.findIndex((kind) => left.startsWith(kind)) - order.findIndex((kind) => right.startsWith(kind))
}
