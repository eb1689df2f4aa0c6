import { expect, test } from "vitest"
import { orderOf, rememberOrder } from "../../src/documents/order-memory"

test("Newest first is remembered only for the collection in which it was chosen", () => {
  const stored = new Map<string, string>()
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
  }
  expect([orderOf(storage, "shop", null), orderOf(storage, "shop", "Orders")]).toEqual(["newest", "plain"])
  rememberOrder(storage, "shop", "Orders", "newest")
  expect([orderOf(storage, "shop", "Orders"), orderOf(storage, "shop", "orders")]).toEqual(["newest", "newest"])
  expect([orderOf(storage, "shop", "Companies"), orderOf(storage, "birds", "Orders")]).toEqual(["plain", "plain"])
  rememberOrder(storage, "shop", null, "plain")
  expect([orderOf(storage, "birds", null), orderOf(storage, "shop", "Orders")]).toEqual(["plain", "newest"])
})
