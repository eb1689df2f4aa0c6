import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Lexer } from "marked"
import { expect, test } from "vitest"
import { parseArchive } from "../../src/manual/archive"
import { contentsOf, FirstPage } from "../../src/manual/contents"
import { headingsOf } from "../../src/manual/headings"
import { hrefOfPage, placeOf, targetOf } from "../../src/manual/links"
import { elementsOf, idOf } from "../../src/manual/page-text"
import { parse } from "../../src/shell/fragment"
import { HelpOfPages, manualHref } from "../../src/shell/manual-href"
import { packedManual } from "../mock/manual.mjs"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../../..")
const texts = parseArchive(packedManual())
const pages = [...texts.keys()].filter((path) => path.endsWith(".md"))

interface Element {
  type: string | ((props: object) => unknown)
  props: Record<string, unknown> & { children?: unknown }
}

/** All elements below these, including those that components return. Components of code blocks have state, so they are not called. */
function* within(nodes: unknown): Generator<Element> {
  if (Array.isArray(nodes)) {
    for (const node of nodes) yield* within(node)
    return
  }

  if (typeof nodes !== "object" || nodes === null) return
  const element = nodes as Element
  yield element
  if (typeof element.type === "function") yield* element.type.name === "CodeBlock" ? [] : within(element.type(element.props))
  else yield* within(element.props.children)
}

const elements = new Map(pages.map((path) => [path, [...within(elementsOf(path, texts.get(path) ?? ""))]]))
const idsOf = (path: string) => new Set(elements.get(path)?.map(({ props }) => props.id))

/** The problem with a link to a place of the manual in the dashboard; null if it is valid. */
function problemOf(href: string): string | null {
  const { page, parts } = parse(href)
  const { path, anchor } = placeOf(parts)
  if (page !== "help" || !elements.has(path)) return `${href}: no such page`
  return anchor === "" || idsOf(path).has(idOf(anchor)) ? null : `${href}: no such heading`
}

test("Each link of each page leads to a page, a heading or a file", () => {
  const wrong: string[] = []
  let count = 0
  for (const [path, all] of elements) {
    for (const { type, props } of all) {
      const href = (type === "a" && props.href) || (type === "img" && props.src) || (type === "span" && props.title)
      if (typeof href !== "string" || /^https?:/.test(href)) continue
      count++
      const problem = href.startsWith("#/")
        ? problemOf(href)
        : existsSync(join(root, href.replace(/^\/help\//, "docs/").replace(/^In the source code: /, "")))
          ? null
          : `${href}: no such file`
      if (problem) wrong.push(`${path}: ${problem}`)
    }
  }

  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(500)
})

test("Each link into the manual from the dashboard, the node and the playbooks leads to an existing heading", () => {
  const files = ["server/dashboard/src", "server/src", "ansible/roles"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(tsx?|cs|ya?ml|html)$/.test(name) && !/(^|\/)(bin|obj)\//.test(name))
      .map((name) => join(root, folder, name)),
  )
  const named = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/\/help\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([address]) => address),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.map((address) => problemOf(manualHref(address))).filter((problem) => problem !== null)).toEqual([])
})

test("Each page of the dashboard links to a place in the manual", () => {
  const app = readFileSync(join(root, "server/dashboard/src/app.tsx"), "utf8")
  const list = app.slice(app.indexOf("const pages"), app.indexOf("\n}\n"))
  const names = [...list.matchAll(/^ {2}"?(\w*)"?: \{/gm)].map(([, name]) => name ?? "").filter((name) => name !== "help")
  expect(names.length).toBeGreaterThan(8)
  expect(Object.keys(HelpOfPages).sort()).toEqual(names.sort())
})

test("No page shows unrendered Markdown", () => {
  const odd = [...elements].flatMap(([path, all]) =>
    all
      .filter(
        ({ type, props }) =>
          typeof type === "string" && typeof props.children === "string" && /^<|\]\(|\*\*/.test(props.children) && type !== "code",
      )
      .map(({ type, props }) => `${path}: ${type} ${props.children}`),
  )
  expect(odd).toEqual([])
})

test("A list begins after an empty line, so that no line of a sentence becomes a list", () => {
  const odd = pages.flatMap((path) => {
    const tokens = new Lexer().lex(texts.get(path) ?? "")
    return tokens
      .filter(({ type }, at) => type === "list" && tokens[at - 1]?.type === "paragraph")
      .map(({ raw }) => `${path}: ${raw.slice(0, 60)}`)
  })
  expect(odd).toEqual([])
})

test("The contents list every page once, and the first page links to all of them", () => {
  const contents = contentsOf(texts).map(({ path }) => path)
  expect([...contents].sort()).toEqual([...pages].sort())
  const first = texts.get(FirstPage) ?? ""
  expect(pages.filter((path) => path !== FirstPage && !first.includes(`](${path})`))).toEqual([])
  expect(contentsOf(texts).every(({ title }) => title !== "")).toBe(true)
})

test("Each page begins with its only heading of the first level", () => {
  for (const path of pages)
    expect(
      headingsOf(texts.get(path) ?? "").map(({ depth, start }) => depth === 1 && start === 0),
      path,
    ).toEqual(headingsOf(texts.get(path) ?? "").map((_, at) => at === 0))
})

test("Headings have the anchors that GitHub gives them", () => {
  const page = "# A `b`: c_d!\n\n## May I?\n\n```\n# no heading\n```\n\n## May I?\n\n### [x](rql.md) – *z*\n"
  expect(headingsOf(page).map(({ anchor }) => anchor)).toEqual(["a-b-c_d", "may-i", "may-i-1", "x--z"])
})

test("Links in a page lead where they lead on GitHub", () => {
  expect(targetOf("how-to/upgrade.md", "cluster.md#c")).toEqual({ kind: "page", path: "how-to/cluster.md", anchor: "c" })
  expect(targetOf("how-to/upgrade.md", "#c")).toEqual({ kind: "page", path: "how-to/upgrade.md", anchor: "c" })
  expect(targetOf("how-to/upgrade.md", "../reference/x.txt")).toEqual({ kind: "file", path: "reference/x.txt" })
  expect(targetOf("how-to/upgrade.md", "../../server/src/B.cs")).toEqual({ kind: "source", path: "server/src/B.cs" })
  expect(targetOf("how-to/upgrade.md", "https://a.org/b")).toEqual({ kind: "web", href: "https://a.org/b" })
})

test("An address of the manual on the node leads to the same page in the dashboard", () => {
  expect(manualHref("/help/how-to/upgrade.md#roll-back")).toBe("#/help/how-to/upgrade/roll-back")
  expect(manualHref("/help/how-to/upgrade")).toBe("#/help/how-to/upgrade")
  expect([manualHref("/help"), manualHref("/help/"), hrefOfPage(FirstPage)]).toEqual(["#/help", "#/help", "#/help"])
  expect(placeOf(parse(hrefOfPage("how-to/upgrade.md", "roll-back")).parts)).toEqual({ path: "how-to/upgrade.md", anchor: "roll-back" })
  expect(placeOf(parse(hrefOfPage(FirstPage, "do")).parts)).toEqual({ path: FirstPage, anchor: "do" })
})

test("A manual that is cut off or has no list is refused", () => {
  const whole = packedManual()
  expect(() => parseArchive(whole.subarray(0, whole.length - 1))).toThrow("Reload the page")
  expect(() => parseArchive(new TextEncoder().encode("Not found"))).toThrow("Reload the page")
})
