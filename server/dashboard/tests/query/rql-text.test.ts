import { expect, test } from "vitest"
import {
  collectionOf,
  hasClause,
  indexOf,
  limitOf,
  nameInRql,
  parametersOf,
  rqlTokens,
  textInRql,
  withoutUpdate,
} from "../../src/query/rql-text"

test("A query is split into tokens, and an escaped quote does not end a text", () => {
  expect(rqlTokens("from Users where name = 'O\\'Neil' and n >= -1.5 // end").map((token) => `${token.kind} ${token.text}`)).toEqual([
    "word from",
    "word Users",
    "word where",
    "word name",
    "sign =",
    "text 'O\\'Neil'",
    "word and",
    "word n",
    "sign >=",
    "number -1.5",
    "comment // end",
  ])
  expect(rqlTokens("'it''s'").map((token) => token.text)).toEqual(["'it''s'"])
  expect(rqlTokens("$p0 @all_docs @metadata").map((token) => token.kind)).toEqual(["parameter", "word", "word"])
})

test("The tokens of the last text are cached, and a changed text is split anew", () => {
  const text = "from Users where a = 1"
  const tokens = rqlTokens(text)
  expect(hasClause(text, "where")).toBe(true)
  expect(rqlTokens(`${text.slice(0, -1)}1`)).toBe(tokens)
  expect(rqlTokens(`${text}2`).at(-1)?.text).toBe("12")
})

test("A clause is found, but not its keyword in braces, texts or comments", () => {
  expect(hasClause("from Users update { this.a = 1 }", "update")).toBe(true)
  expect(hasClause("from Users select { update: 1 } // update", "update")).toBe(false)
  expect(hasClause("from Users where a = 'update'", "update")).toBe(false)
})

test("The collection of a query is found in every notation, and an index is not taken for one", () => {
  expect(collectionOf("from Users as u")).toBe("Users")
  expect(collectionOf("// all\nFROM 'my users'")).toBe("my users")
  expect(collectionOf("from @all_docs")).toBeNull()
  expect(collectionOf("from index 'A/B'")).toBeNull()
  expect(collectionOf("from")).toBeNull()
  expect(indexOf("from index 'A/B' where a = 1")).toBe("A/B")
  expect(indexOf("from Users")).toBeNull()
})

test("Each parameter is listed once", () => {
  expect(parametersOf("from Users where a = $p0 or b in ($list) and c = $p0 and d = '$no'")).toEqual(["p0", "list"])
})

test("The update clause is removed from a patch query to preview the documents", () => {
  expect(withoutUpdate("from Users as u where u.n > 1 update { if (u.a) { u.b = 1 } }")).toBe("from Users as u where u.n > 1")
  expect(withoutUpdate("from Users update { this.a = '}' } limit 5")).toBe("from Users  limit 5")
  expect(withoutUpdate("from Users")).toBe("from Users")
})

test("Names that are keywords or no plain words are quoted", () => {
  expect(nameInRql("Users")).toBe("Users")
  expect(nameInRql("my users")).toBe("'my users'")
  expect(nameInRql("Index")).toBe("'Index'")
  expect(textInRql("O'Neil\\x")).toBe("'O\\'Neil\\\\x'")
})

test("A limit of numbers is read in each of its forms", () => {
  expect(limitOf("from Users limit 10")).toEqual({ skip: 0, take: 10 })
  expect(limitOf("from Users limit 20, 10")).toEqual({ skip: 20, take: 10 })
  expect(limitOf("from Users limit 10 offset 20")).toEqual({ skip: 20, take: 10 })
  expect(limitOf("from Users limit $n")).toBeNull()
  expect(limitOf("from Users where limit = 1")).toBeNull()
})
