// The dashboard in a real browser with three real nodes: a user signs in, sees the nodes, and sees the reasons when one
// and then another node dies.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { after, before, test } from "node:test"
import { chromium } from "playwright-core"
import { ThreeNodes } from "../../../cluster/tests/process/three-nodes.mjs"
import { assertNoErrors, recordErrors } from "./recorded-errors.mjs"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const Flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
const screenshots = process.env.ROOKERY_SCREENSHOTS
const wrong = []

let browser
let page
let url

before(async () => {
  if (screenshots) mkdirSync(screenshots, { recursive: true })
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: Flags })
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ignoreHTTPSErrors: true, colorScheme: "light" })
  page = await context.newPage()
  page.setDefaultTimeout(30_000)
  // The browser itself logs refused and failed requests. These are no errors of the page.
  recordErrors(page, wrong, { isProvoked: message => /Failed to load resource/.test(message.text()), base: () => url })
})

after(() => browser?.close())

const card = name => page.locator(".node-card", { has: page.getByRole("link", { name, exact: true }) })
const picture = async name => { if (screenshots) await page.screenshot({ path: join(screenshots, `${name}.png`) }) }

/** Asserts that axe finds no serious or critical accessibility problem. */
async function isAccessible(where) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations)
  const serious = found.filter(({ impact }) => impact === "serious" || impact === "critical")
  assert.deepEqual(serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], where)
}

test("After signing in, a user sees three nodes, and the reason why nothing is written when two are dead", { timeout: 400_000 }, async t => {
  const cluster = await ThreeNodes.form(t, { secure: true })
  url = cluster.urls[0]

  await page.goto(`${url}/studio`)
  const token = page.getByLabel("Token")
  await token.fill("rookery_0000000000000000000000000000000000000000000")
  await token.press("Enter")
  await page.locator(".error-sentence", { hasText: "not known" }).waitFor()
  await isAccessible("sign-in")
  await token.fill(cluster.token)
  await token.press("Enter")

  await page.getByText("All 3 nodes are well").waitFor()
  for (const name of ["a", "b", "c"]) await card(name).getByText("May I unplug this one?").waitFor()
  // A node may be shown as healthy before its first figures arrive. If it died then, there would be no last figures to
  // show.
  for (const name of ["a", "b", "c"]) await card(name).getByText(/^\d+(\.\d+)? %$/).first().waitFor()
  await isAccessible("overview")
  await picture("overview")

  // The page stores nothing that a script could read: no cookie that scripts see, and no token in localStorage.
  assert.equal(await page.evaluate(() => document.cookie), "")
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter(key => localStorage.getItem(key)?.includes("rookery_"))), [])

  await page.setViewportSize({ width: 390, height: 844 })
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the overview is wider than a phone")
  await isAccessible("overview on a phone")
  await picture("overview-phone")
  await page.setViewportSize({ width: 1280, height: 900 })

  const leader = await cluster.leader()
  const [first, second] = [1, 2]
  await cluster.nodes[first].kill()
  await card("b").getByText("Last heard").waitFor({ timeout: 90_000 })
  await page.getByText("All 3 nodes are well").waitFor({ state: "detached" })
  if (leader !== first) assert.equal(await page.getByText("No leader").count(), 0)
  await picture("one-dead")

  // The last figures of the dead node come from the memory of a running node.
  await card("b").getByRole("link", { name: "Its last hours" }).click()
  await page.getByRole("heading", { level: 1, name: /b/ }).waitFor()
  await picture("black-box")
  await page.goto(`${url}/#/`)

  await cluster.nodes[second].kill()
  await page.getByText("No leader: nothing is written now.").waitFor({ timeout: 90_000 })
  await card("c").getByText("Last heard").waitFor({ timeout: 90_000 })
  await card("a").getByText("up", { exact: false }).first().waitFor()
  await picture("two-dead")
  await page.goto(`${url}/#/logs`)
  await page.getByRole("heading", { level: 1 }).waitFor()

  await cluster.restart()
  await page.goto(`${url}/#/`)
  await page.getByText("All 3 nodes are well").waitFor({ timeout: 60_000 })
  assertNoErrors(wrong)
})

test("The timeline can be zoomed, and a table shows the same data", { timeout: 120_000 }, async t => {
  // Otherwise the open page would keep sending requests to the nodes of the previous test.
  await page.goto("about:blank")
  const cluster = await ThreeNodes.form(t)
  url = cluster.urls[0]
  await cluster.nodes[0].createDatabase("nest")
  for (let at = 0; at < 20; at++) await cluster.nodes[0].expect(201, "PUT", `/databases/nest/docs?id=rooks/${at}`, "{}")

  await page.goto(`${url}/#/io`)
  await page.getByRole("heading", { level: 1, name: "IO timeline" }).waitFor()
  await page.getByRole("button", { name: "1 min", exact: true }).click()
  await page.getByRole("table").first().waitFor({ state: "attached" })
  await page.getByRole("button", { name: "+", exact: true }).or(page.getByRole("button", { name: /zoom in/i })).first().click()
  await isAccessible("timeline")
  await picture("timeline")
  assertNoErrors(wrong)
})
