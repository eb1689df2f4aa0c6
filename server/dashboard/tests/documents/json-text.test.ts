import { expect, test } from "vitest"
import { documentFault, formatJson, layOut, offsetOf, parseJson, placeOf, stringOf, utf8Length } from "../../src/documents/json-text"

const faultAt = (text: string) => {
  const fault = documentFault(text)
  return fault && { ...placeOf(text, fault.at), message: fault.message }
}

test("Formatting keeps all digits of numbers", () => {
  expect(formatJson('{"a":12345678901234567890.50,"b":1.0,"c":-0,"d":1E+3}')).toBe(
    '{\n  "a": 12345678901234567890.50,\n  "b": 1.0,\n  "c": -0,\n  "d": 1E+3\n}',
  )
})

test("Formatting keeps escapes, and parsing decodes them in names and strings", () => {
  const text = '{"\\u0061":"\\ud83d\\ude00"}'
  expect(formatJson(text)).toBe('{\n  "\\u0061": "\\ud83d\\ude00"\n}')
  const { node } = parseJson(text)
  const member = node?.members?.[0]
  expect(member?.name).toBe("a")
  expect(member && stringOf(text, member.value)).toBe("😀")
})

test("The parser accepts and refuses the same texts as JSON.parse", () => {
  const values = ["0", "-1.5e-7", '"a\\n"', "[]", "{}", "[1, [2, {}]]", "true", " null ", '{"a":[{"b":null}]}', '"\u2028"', '"\ud800"']
  const wrong = [
    "",
    " ",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "- 1",
    "NaN",
    "tru",
    "nulll",
    "'a'",
    '"a',
    '"\\x"',
    '"\\u12g4"',
    '"\t"',
    '"\n"',
    "[1,]",
    "[1 2]",
    "[",
    "{,}",
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{a:1}",
    '{"a":1}}',
    "1 2",
    "// a\n1",
  ]
  for (const text of values) {
    expect(parseJson(text).fault, text).toBeNull()
    expect(() => JSON.parse(text)).not.toThrow()
  }

  for (const text of wrong) {
    expect(parseJson(text).fault, text).not.toBeNull()
    expect(() => JSON.parse(text), text).toThrow()
  }
})

test("A fault has its line, its column and a message", () => {
  expect(faultAt('{\n  "a": 1\n  "b": 2\n}')).toEqual({
    line: 3,
    column: 3,
    message: "',' or '}' must follow the member; '\"' stands here.",
  })
  expect(faultAt('{\n  "a": nul\n}')).toEqual({ line: 2, column: 8, message: "'nul' is not a value; texts stand in double quotes." })
  expect(faultAt('{"a": "b')).toEqual({ line: 1, column: 7, message: "The closing quote is missing." })
  expect(faultAt('{"a":1,}')).toEqual({ line: 1, column: 8, message: "A comma stands before '}'; JSON has none there." })
  expect(faultAt("[]")).toEqual({ line: 1, column: 1, message: "A document is an object: { … }." })
})

test("A duplicate name is a fault, as on a node, even if one of the two is escaped", () => {
  expect(faultAt('{"a":1,"\\u0061":2}')).toEqual({ line: 1, column: 8, message: 'The object has "a" twice; each name may stand once.' })
  expect(documentFault('{"a":{"a":1},"b":{"a":1}}')).toBeNull()
})

test("128 levels of nesting are accepted and 129 are not", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`
  expect(parseJson(nested(128)).fault).toBeNull()
  expect(parseJson(nested(129)).fault?.message).toContain("128 levels")
})

test("Formatting twice changes nothing, and empty objects and arrays stay on one line", () => {
  const once = formatJson('{"a":{},"b":[],"c":[{"d":[1,2]}]}')
  expect(formatJson(once)).toBe(once)
  expect(once).toContain('"a": {},\n  "b": [],')
  const { node } = parseJson(once)
  expect(node && layOut(once, node)).toBe(once)
})

test("Formatting does not change a text that is not JSON", () => {
  expect(formatJson('{"a": ')).toBe('{"a": ')
})

test("A line and column are converted to an offset and back", () => {
  const text = "ab\n\ncde"
  for (let at = 0; at <= text.length; at++) {
    const { line, column } = placeOf(text, at)
    expect(offsetOf(text, line, column)).toBe(at)
  }

  expect(offsetOf(text, 1, 99)).toBe(2)
  expect(offsetOf(text, 99, 1)).toBe(text.length)
})

test("The length is the number of bytes in UTF-8", () => {
  for (const text of ["", "a", "ä", "€", "😀", "aä€😀\ud800"]) expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length)
})
