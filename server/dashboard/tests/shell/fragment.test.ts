import { expect, test } from "vitest"
import { parse } from "../../src/shell/fragment"

test("A location's parameters keep further question marks, which a person may type unescaped", () => {
  const { page, parts, query } = parse("#/query/shop?q=from Users where lucene(name, 'an?a')&run=")
  expect([page, parts, query.get("q"), query.has("run")]).toEqual(["query", ["shop"], "from Users where lucene(name, 'an?a')", true])
  expect(parse("#/documents/shop").query.size).toBe(0)
})
