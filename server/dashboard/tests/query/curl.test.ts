import { expect, test } from "vitest"
import { curlLine, shellWord } from "../../src/query/curl"

// The page's types do not include those of Node, in which only the tests run.
const { execFileSync } = (await import("node:child_process" as string)) as {
  execFileSync: (file: string, words: string[], options: object) => { toString(): string }
}

const words = (line: string) =>
  execFileSync("sh", ["-c", `for word in ${line}; do printf '%s\\0' "$word"; done`], { env: { ROOKERY_TOKEN: "secret" } })
    .toString()
    .split("\0")
    .slice(0, -1)

test("A shell reads every quoted word back unchanged", () => {
  for (const word of ["", "a b", "it's", "''", '$HOME `id` \\ "x"', "line\nbreak", "!x *"]) expect(words(shellWord(word))).toEqual([word])
})

test("The curl line has the address, the certificate, the token and the body", () => {
  const line = curlLine({
    method: "POST",
    url: "https://pi.local/databases/shop/queries",
    body: { Query: "from Users where name = 'O\\'Neil'" },
    needsToken: true,
    isSecure: true,
  })
  expect(words(line)).toEqual([
    "curl",
    "https://pi.local/databases/shop/queries",
    "--cacert",
    "rookery-ca.pem",
    "-H",
    "Authorization: Bearer secret",
    "-H",
    "Content-Type: application/json",
    "--data-raw",
    '{"Query":"from Users where name = \'O\\\\\'Neil\'"}',
  ])
})

test("The curl line contains the name of a variable instead of the token", () => {
  expect(curlLine({ method: "DELETE", url: "http://x/", needsToken: true, isSecure: false })).toBe(
    `curl -X DELETE 'http://x/' -H "Authorization: Bearer $ROOKERY_TOKEN"`,
  )
  expect(curlLine({ method: "GET", url: "http://x/", needsToken: false, isSecure: false })).toBe("curl -X GET 'http://x/'")
})
