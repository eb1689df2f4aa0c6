import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const source = join(dirname(fileURLToPath(import.meta.url)), "../src")
const sheets = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".css"))

/** Declarations of all style sheets but the one of the tokens, as `file: property: value`. */
const declarations = sheets
  .filter((name) => !name.endsWith("tokens.css"))
  .flatMap((name) => {
    const text = readFileSync(join(source, name), "utf8").replace(/\/\*[\s\S]*?\*\//g, "")
    return [...text.matchAll(/([\w-]+):\s*([^;{}]+);/g)].map(([, property = "", value = ""]) => ({ name, property, value }))
  })

const linesOf = (wrong: typeof declarations) => wrong.map(({ name, property, value }) => `${name}: ${property}: ${value}`)

test("Gaps, paddings and margins use the tokens", () => {
  const distances = declarations.filter(({ property }) => /^(gap|row-gap|column-gap|padding|margin)(-|$)/.test(property))
  expect(distances.length).toBeGreaterThan(100)
  // 1720px is half of a screen's width and 1px the thickness of a line: neither is a distance.
  expect(linesOf(distances.filter(({ value }) => /(?<![\w.-])-?(?!0|1px|1720px)[\d.]+(px|rem)/.test(value)))).toEqual([])
})

test("Sizes and weights of text use the tokens", () => {
  const sizes = declarations.filter(({ property }) => property === "font-size")
  expect(linesOf(sizes.filter(({ value }) => !/^(var\(--[a-z]+\)|inherit|[\d.]+em)$/.test(value)))).toEqual([])
  const weights = declarations.filter(({ property }) => property === "font-weight")
  expect(linesOf(weights.filter(({ value }) => !/^(var\(--(regular|medium|strong)\)|inherit)$/.test(value)))).toEqual([])
})

test("Colours are written only in the style sheet of the tokens", () => {
  expect(linesOf(declarations.filter(({ value }) => /#[0-9a-f]{3,8}\b|rgba?\(|hsl/i.test(value)))).toEqual([])
})

test("Every token that is used is defined, and every defined token is used", () => {
  const all = sheets.map((name) => readFileSync(join(source, name), "utf8")).join("\n")
  const code = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(source, name), "utf8"))
    .join("\n")
  const made = new Set([...all.matchAll(/^\s*(--[\w-]+):/gm)].map(([, name]) => name))
  const used = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name))
  expect([...used].filter((name) => !made.has(name) && !code.includes(String(name)))).toEqual([])
  const tokens = readFileSync(join(source, "shell/tokens.css"), "utf8")
  // The code composes the names of the nodes' colours from a number, so they cannot be found.
  const own = [...tokens.matchAll(/^\s*(--(?!node-)[\w-]+):/gm)].map(([, name]) => String(name))
  expect([...new Set(own)].filter((name) => !used.has(name) && !code.includes(name))).toEqual([])
})
