import { expect, test } from "vitest"
import { readHistory, remember } from "../../src/query/history"

test("The history of a database keeps the newest queries, as long as they fit the browser's storage with their parameters", () => {
  const stored = new Map<string, string>()
  const store = { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => void stored.set(key, value) }
  const ran = (text: string, parameters = "") => ({ text, parameters, at: 0, milliseconds: null, total: null, index: null })
  for (let number = 0; number < 40; number++) remember(store, "shop", ran(`from Users where a = $a limit ${number}`, "1".repeat(10_000)))
  remember(store, "shop", ran("from Users where a = $a", "1".repeat(1_000_000)))
  const kept = readHistory(store, "shop")
  expect(kept.length).toBe(19)
  expect(kept[0]?.text).toContain("limit 39")
})
