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

const told = (wrong: typeof declarations) => wrong.map(({ name, property, value }) => `${name}: ${property}: ${value}`)

test("Distances are of the scale of the tokens", () => {
  const distances = declarations.filter(({ property }) => /^(gap|row-gap|column-gap|padding|margin)(-|$)/.test(property))
  expect(distances.length).toBeGreaterThan(100)
  // Half of a screen's width, and the thickness of a line, are no distances.
  expect(told(distances.filter(({ value }) => /(?<![\w.-])-?(?!0|1px|1720px)[\d.]+(px|rem)/.test(value)))).toEqual([])
})

test("Sizes and weights of text are those of the tokens", () => {
  const sizes = declarations.filter(({ property }) => property === "font-size")
  expect(told(sizes.filter(({ value }) => !/^(var\(--[a-z]+\)|inherit|[\d.]+em)$/.test(value)))).toEqual([])
  const weights = declarations.filter(({ property }) => property === "font-weight")
  expect(told(weights.filter(({ value }) => !/^(var\(--(regular|medium|strong)\)|inherit)$/.test(value)))).toEqual([])
})

test("Colours are those of the tokens", () => {
  expect(told(declarations.filter(({ value }) => /#[0-9a-f]{3,8}\b|rgba?\(|hsl/i.test(value)))).toEqual([])
})

test("Every token that is used exists, and none is there for nothing", () => {
  const all = sheets.map((name) => readFileSync(join(source, name), "utf8")).join("\n")
  const code = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => readFileSync(join(source, name), "utf8"))
    .join("\n")
  const made = new Set([...all.matchAll(/^\s*(--[\w-]+):/gm)].map(([, name]) => name))
  const used = new Set([...all.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name))
  expect([...used].filter((name) => !made.has(name) && !code.includes(String(name)))).toEqual([])
  const tokens = readFileSync(join(source, "shell/tokens.css"), "utf8")
  // The colours of nodes are chosen by their number.
  const own = [...tokens.matchAll(/^\s*(--(?!node-)[\w-]+):/gm)].map(([, name]) => String(name))
  expect([...new Set(own)].filter((name) => !used.has(name) && !code.includes(name))).toEqual([])
})
