import { expect, test } from "vitest"
import { rightsOf, scopesOf } from "../../src/cluster/rights"

test("Rights are those of each named database, and a database that is named twice is refused", () => {
  expect(rightsOf("shop:rw, birds,")).toEqual({ shop: "rw", birds: "ro" })
  expect(() => rightsOf("shop:ro, birds, Shop:rw")).toThrow("The database Shop is named twice.")
})

test("databases are shown only beside the scopes of a token that they limit", () => {
  const shown = (Scopes: string[], Databases: string[] | null) => scopesOf({ Scopes, Databases })
  expect(shown(["read", "metrics"], ["a"])).toEqual({ limited: ["read"], unlimited: ["metrics"] })
  expect(shown(["read", "admin"], ["a"])).toEqual({ limited: [], unlimited: ["read", "admin"] })
  expect(shown(["read"], null)).toEqual({ limited: [], unlimited: ["read"] })
})
