import { expect, test } from "vitest"
import { highlightJson, highlightScript } from "../../src/documents/highlight"

const roles = (text: string, of = highlightJson) => of(text).map(({ start, end, role }) => `${role} ${text.slice(start, end)}`)

test("Names of members differ from strings, and an unclosed string ends with its line", () => {
  expect(roles('{"a": "b",\n"c" : -1.5e3, "d": true}').filter((one) => !one.startsWith("sign"))).toEqual([
    'name "a"',
    'text "b"',
    'name "c"',
    "number -1.5e3",
    'name "d"',
    "word true",
  ])
  expect(roles('["a\n1]')).toEqual(["sign [", 'text "a', "number 1", "sign ]"])
})

test("Keywords, functions, strings and comments of scripts are coloured", () => {
  expect(roles("map('Users', u => { // all\n return u.n })", highlightScript)).toEqual([
    "function map",
    "text 'Users'",
    "comment // all",
    "keyword return",
  ])
})
