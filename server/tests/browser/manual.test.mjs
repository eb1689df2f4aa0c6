// The manual in a real browser, on the mock node, which serves docs/ like a node.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { after, before, test } from "node:test"
import { launchBrowser, startMockNode } from "./page-on-mock.mjs"
import { assertNoErrors, recordErrors } from "./recorded-errors.mjs"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const started = []
const wrong = []
let browser
let open

before(async () => {
  browser = await launchBrowser()
  open = await play()
})

after(async () => {
  await browser?.close()
  for (const process of started) process.kill()
})

const play = (...options) => startMockNode(started, ...options)

async function openPage(t, address, { width = 1280, height = 800, colorScheme = "light", ...more } = {}) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, ...more })
  t.after(() => page.close())
  page.setDefaultTimeout(20_000)
  recordErrors(page, wrong)
  await page.goto(address)
  return page
}

const title = (page, name) => page.getByRole("heading", { level: 1, name, exact: true })
const scroll = page => page.evaluate(() => Math.round(scrollY))

async function findings(page) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations)
  return found.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)
}

for (const [look, options] of [["a bright PC", {}], ["a dark phone", { width: 360, height: 740, colorScheme: "dark", hasTouch: true, isMobile: true }]]) {
  test(`On ${look} every page of the manual is accessible and not wider than the screen`, async t => {
    for (const [address, name] of [["/help", "Documentation"], ["/help/how-to/home-assistant.md", "Show a node in Home Assistant"], ["/help/reference/http.md", "HTTP"], ["/help/tutorial/dashboard.md", "The dashboard"]]) {
      const page = await openPage(t, open + address, options)
      await title(page, name).waitFor()
      assert.deepEqual(await findings(page), [], address)
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${address} is wider than ${look}`)
      await page.close()
    }
  })
}

test("An address of the manual opens its page in the dashboard and scrolls to the heading", async t => {
  const page = await openPage(t, `${open}/help/reference/alerts.md#disk_low`)
  const heading = page.getByRole("heading", { name: "disk_low" })
  await heading.waitFor()
  assert.equal(page.url(), `${open}/#/help/reference/alerts/disk_low`)
  const { y } = await heading.boundingBox()
  assert.ok(y > 40 && y < 200, `the heading is at ${y}`)
  assert.equal(await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Help" }).getAttribute("aria-current"), "page")
})

test("A page opens at its beginning, and going back returns to the previous position", async t => {
  const page = await openPage(t, `${open}/#/help/explanation/consensus`)
  await title(page, "Consensus").waitFor()
  await page.getByRole("link", { name: /^Next/ }).scrollIntoViewIfNeeded()
  const left = await scroll(page)
  assert.ok(left > 1000)
  await page.getByRole("link", { name: /^Next/ }).click()
  await title(page, "Forming without a laptop").waitFor()
  assert.equal(await scroll(page), 0)
  await page.goBack()
  await title(page, "Consensus").waitFor()
  await page.waitForFunction(place => Math.abs(scrollY - place) < 100, left)
  await page.goForward()
  await title(page, "Forming without a laptop").waitFor()
  await page.getByRole("link", { name: /^Previous/ }).click()
  await title(page, "Consensus").waitFor()
  assert.equal(await scroll(page), 0)
})

test("The manual is loaded only once, when it is opened first", async t => {
  const page = await openPage(t, "about:blank")
  const asked = []
  page.on("request", request => { if (request.url().includes("/help")) asked.push(new URL(request.url()).pathname) })
  await page.goto(`${open}/#/`)
  await page.locator(".chart canvas").first().waitFor()
  assert.deepEqual(asked, [])
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Help" }).click()
  await title(page, "Documentation").waitFor()
  await page.getByRole("link", { name: "Upgrade", exact: true }).first().click()
  await title(page, "Upgrade").waitFor()
  assert.equal(await page.title(), "Upgrade · Help · home")
  assert.deepEqual(asked, ["/help/manual.txt"])
})

test("A search finds a section by its words, and opens it", async t => {
  const page = await openPage(t, `${open}/#/help`)
  const search = page.getByRole("searchbox", { name: "Search the manual" })
  await search.fill("disk full reserve")
  const first = page.getByRole("listitem").getByRole("link", { name: /disk_full/ })
  await first.waitFor()
  assert.ok(await first.locator("mark").count() > 0)
  await first.click()
  await page.getByRole("heading", { name: "disk_full" }).waitFor()
  assert.equal(await search.inputValue(), "")
  await search.fill("xyzzyplugh")
  await page.getByText('No section contains all of "xyzzyplugh".').waitFor()
  await search.press("Escape")
  await page.getByRole("heading", { name: "disk_full" }).waitFor()
})

test("Commands are copied without their prompts", async t => {
  const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] })
  t.after(() => context.close())
  const page = await context.newPage()
  await page.goto(`${open}/#/help/how-to/cluster`)
  const block = page.locator(".code-block").first()
  await block.hover()
  await block.getByRole("button", { name: "Copy" }).click()
  await block.getByText("Copied").waitFor()
  const copied = await page.evaluate(() => navigator.clipboard.readText())
  assert.match(copied, /^rookery cluster init /)
  assert.doesNotMatch(copied, /\$ /)
})

test("The question mark of a page opens the matching section of the manual", async t => {
  const page = await openPage(t, `${open}/#/settings`)
  await page.getByRole("link", { name: "Help for this page" }).click()
  await title(page, "Configuration").waitFor()
  assert.equal(await page.getByRole("link", { name: "Help for this page" }).count(), 0)
})

test("Without a session the manual can be read", async t => {
  const node = await play("--sign-in")
  const page = await openPage(t, `${node}/help/how-to/give-access.md`)
  await title(page, "Give access").waitFor()
  await page.getByRole("link", { name: "Sign in" }).click()
  await page.getByLabel("Token").waitFor()
  assert.equal(await page.getByRole("article").count(), 0)
})

test("On a phone the table of contents is collapsed until the user opens it", async t => {
  const page = await openPage(t, `${open}/#/help`, { width: 390, height: 844 })
  await title(page, "Documentation").waitFor()
  const contents = page.getByRole("navigation", { name: "Contents of the manual" })
  assert.equal(await contents.isVisible(), false)
  await page.getByRole("button", { name: "Contents" }).click()
  await contents.getByRole("link", { name: "RQL" }).click()
  await title(page, "RQL").waitFor()
  assert.equal(await contents.isVisible(), false)
})

test("Every picture of the manual is shown", async t => {
  const page = await openPage(t, `${open}/#/help/tutorial/dashboard`)
  await title(page, "The dashboard").waitFor()
  for (const picture of await page.getByRole("img").all()) {
    await picture.scrollIntoViewIfNeeded()
    await picture.evaluate(image => image.decode())
  }
  assert.equal(await page.locator("article img").count(), 2)
})

test("No page logged an error", () => assertNoErrors(wrong))
