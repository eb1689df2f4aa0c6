import { expect, test } from "vitest"
import { placeOfError, Templates, toPut } from "../../src/indexes/definition"

const definition = {
  Maps: ["map('Users', u => ({ name: u.name }))", "map('Users', u => ({\n name: u.name, while }))"],
  Reduce: "groupBy(x => x.name)",
}

test("The place of an error is found in the map that the node quotes", () => {
  const sentence =
    "The index 'U' was not defined: The map, line 2, column 16: This server does not run the name 'while', which is not defined here\n name: u.name, while }))\n               ^"
  expect(placeOfError(sentence, definition)).toEqual({
    text: "map",
    map: 1,
    at: 36,
    message: "This server does not run the name 'while', which is not defined here",
  })
})

test("An error in the reduce is located there, and a message without a place is not located", () => {
  expect(placeOfError("The index 'U' was not defined: The reduce, line 1, column 9: x\ngroupBy(\n        ^", definition)).toMatchObject({
    text: "reduce",
    at: 8,
  })
  expect(placeOfError("The map and the reduce of an index return the same fields.", definition)).toBeNull()
})

test("A definition is sent without empty maps and unnamed fields", () => {
  const [template] = Templates
  const made = template?.make("Users")
  expect(
    made &&
      toPut({
        ...made,
        Maps: [...made.Maps, " "],
        Reduce: " ",
        Fields: { "": { Indexing: "Exact", Storage: "No", Analyzer: "", Suggestions: false } },
      }),
  ).toEqual({
    Name: "Users/ByName",
    Maps: made?.Maps,
    Fields: {},
    Configuration: {},
  })
})
