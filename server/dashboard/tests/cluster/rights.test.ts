import { expect, test } from "vitest"
import { rightsOf } from "../../src/cluster/rights"

test("Rights are those of each named database, and a database that is named twice is refused", () => {
  expect(rightsOf("shop:rw, birds,")).toEqual({ shop: "rw", birds: "ro" })
  expect(() => rightsOf("shop:ro, birds, Shop:rw")).toThrow("The database Shop is named twice.")
})
