import { expect, test } from "vitest"
import { complete, LongestHelped } from "../../src/query/rql-completion"

const known = {
  collections: ["Users", "my orders"],
  indexes: ["Auto/Users/ByName", "Users/ByName"],
  fields: ["name", "address", "address.city", "first name"],
  parameters: ["least"],
}

/** `|` stands for the caret. */
const offered = (query: string) => complete(query.replace("|", ""), query.indexOf("|"), known)
const labels = (query: string) => offered(query)?.options.map((option) => option.label) ?? []
const taken = (query: string, label: string) => {
  const offer = offered(query)
  const option = offer?.options.find((one) => one.label === label)
  const text = query.replace("|", "")
  return offer && option ? text.slice(0, offer.from) + option.insert + text.slice(offer.to) : null
}

test("After from, collections, @all_docs and indexes are offered", () => {
  expect(labels("from |")).toEqual(["Users", "my orders", "@all_docs", "index"])
  expect(taken("from us|", "Users")).toBe("from Users")
  expect(taken("from my|", "my orders")).toBe("from 'my orders'")
  expect(taken("from 'my|'", "my orders")).toBe("from 'my orders'")
  expect(taken("from index 'us|", "Users/ByName")).toBe("from index 'Users/ByName'")
})

test("A long word before the caret does not keep the page busy", () => {
  expect(labels(`from Users where ${"x".repeat(LongestHelped - 100)} |`).length).toBeGreaterThan(0)
})

test("A query is completed up to the maximum length, and not beyond it", () => {
  const begin = "from Users where n"
  const of = (length: number) => complete(begin + " ".repeat(length - begin.length), begin.length, known)
  expect(of(LongestHelped)?.options.map((option) => option.label)).toContain("name")
  expect(of(LongestHelped + 1)).toBeNull()
})

test("After where, fields and then functions are offered, and after a value operators", () => {
  expect(labels("from Users where |").slice(0, 4)).toEqual(["name", "address", "address.city", "first name"])
  expect(labels("from Users where sta|")).toEqual(["startsWith"])
  expect(taken("from Users where |", "first name")).toBe("from Users where 'first name'")
  expect(labels("from Users where name = 'ann' a|")).toContain("and")
  expect(labels("from Users where name = 'ann' |")).not.toContain("name")
})

test("A path is completed from any of its members", () => {
  expect(labels("from Users where ci|")).toContain("address.city")
  expect(taken("from Users order by ad|", "address.city")).toBe("from Users order by address.city")
  expect(taken("from Users where address.ci|", "address.city")).toBe("from Users where address.city")
  expect(taken("from Users as u where u.address.|", "address.city")).toBe("from Users as u where u.address.city")
  expect(taken("from Users as u where u.na|", "name")).toBe("from Users as u where u.name")
})

test("Parameters are offered after $", () => {
  expect(taken("from Users where age > $l|", "$least")).toBe("from Users where age > $least")
})

test("Nothing is offered within texts, comments and numbers, or for a complete word", () => {
  for (const query of ["from Users where name = 'na|'", "from Users // na|", "from Users where age > 1|", "from Users|"])
    expect(offered(query), query).toBeNull()
})

test("Each clause is offered only its own functions", () => {
  expect(labels("from Users group by name select |")).toContain("count")
  expect(labels("from Users where |")).not.toContain("count")
  expect(labels("from Users include ti|")).toEqual(["timings"])
  expect(labels("from Users order by name |").slice(0, 2)).toEqual(["desc", "asc"])
})
