import { expect, test } from "vitest"
import { copyOf, highlighterOf } from "../../src/manual/code-language"

const rolesIn = (text: string, language = "") =>
  Object.fromEntries((highlighterOf(language, text)?.(text) ?? []).map(({ start, end, role }) => [text.slice(start, end), role]))

test("The language of a code block is guessed from its text", () => {
  expect(rolesIn('{"a":1}')).toMatchObject({ '"a"': "name", "1": "number" })
  expect(rolesIn("from Orders where Total > 3")).toMatchObject({ from: "keyword", where: "keyword" })
  expect(rolesIn("curl -X PUT 'http://a/b' # there")).toMatchObject({ "-X": "name", "'http://a/b'": "text", "# there": "comment" })
  expect(rolesIn('rest:\n  - resource: "a"\n    timeout: 10')).toMatchObject({ rest: "name", '"a"': "text", "10": "number" })
  expect(rolesIn("plain words only")).toEqual({})
  expect(rolesIn("const a = 1", "js")).toMatchObject({ const: "keyword" })
})

test("In a terminal's text only the commands are coloured and copied, not their output", () => {
  const text = "$ rookery status --url a \\\n    --ca b\nwell --said\n$ exit"
  expect(copyOf(text)).toBe("rookery status --url a \\\n    --ca b\nexit")
  expect(rolesIn(text)).toMatchObject({ "--url": "name", "--ca": "name", "well --said": "sign" })
  expect(copyOf("a\n  b\n")).toBe("a\n  b\n")
})
