import { expect, test } from "vitest"
import { parse } from "../../src/shell/fragment"
import { titleOf } from "../../src/shell/title"

const title = (hash: string, shown = "", place = "home") => titleOf(parse(hash), place, shown, (tag) => (tag === "C" ? "pi-3" : tag))

test("A title names the page before the database and the cluster", () => {
  expect(title("#/")).toBe("Overview · home")
  expect(title("#/indexes/shop")).toBe("Indexes · shop · home")
  expect(title("#/indexes/shop/Orders%2FByTotal")).toBe("Orders/ByTotal · Indexes · shop · home")
  expect(title("#/document/shop/orders%2F7-A")).toBe("orders/7-A · shop · home")
  expect(title("#/documents/shop/Orders")).toBe("Orders · Documents · shop · home")
  expect(title("#/query/shop?q=from%20Orders")).toBe("Query · shop · home")
  expect(title("#/node/C")).toBe("pi-3 · home")
  expect(title("#/cluster/access")).toBe("Cluster · home")
  expect(title("#/help/how-to/upgrade", "Upgrade")).toBe("Upgrade · Help · home")
})

test("An unknown page has the cluster's name as title, and a node without a cluster names the product", () => {
  expect(title("#/nothing")).toBe("home")
  expect(title("#/logs", "", "")).toBe("Logs · Rookery")
})
