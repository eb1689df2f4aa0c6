// The command palette and the sheets over the page in a real browser, on the mock node.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { after, before, test } from "node:test"
import { launchBrowser, startMockNode } from "./page-on-mock.mjs"
import { assertNoErrors, recordErrors } from "./recorded-errors.mjs"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const Patience = 20_000
const started = []
const wrong = []
let browser
let base

before(async () => {
  browser = await launchBrowser()
  base = await play()
})

after(async () => {
  await browser?.close()
  for (const process of started) process.kill()
})

const play = (...options) => startMockNode(started, ...options)

async function openPage(t, hash, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  t.after(() => page.close())
  page.setDefaultTimeout(Patience)
  recordErrors(page, wrong)
  await page.goto(`${base}/${hash}`)
  await page.getByRole("heading", { level: 1 }).first().waitFor({ state: "attached" })
  return page
}

const field = page => page.getByRole("combobox", { name: "Go to a page, document or action" })
/** The option that Enter would open, read by the attribute that a screen reader uses. */
const chosen = page => page.evaluate(() => document.getElementById(document.activeElement.getAttribute("aria-activedescendant"))?.innerText.replace(/\s+/g, " "))

async function ask(page, text) {
  await page.keyboard.press("Control+k")
  await field(page).waitFor()
  await page.keyboard.type(text)
}

test("Ctrl+K opens the palette, which opens a page without a mouse, and Escape restores the focus", async t => {
  const page = await openPage(t, "#/logs")
  const search = page.getByRole("button", { name: "Go to …" })
  await search.focus()
  await ask(page, "sett")
  await page.getByRole("option", { name: "Settings", selected: true }).waitFor()
  await page.keyboard.press("Escape")
  await field(page).waitFor({ state: "detached" })
  assert.ok(await search.evaluate(button => button === document.activeElement))
  await ask(page, "sett")
  await page.getByRole("option", { name: "Settings", selected: true }).waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
  await field(page).waitFor({ state: "detached" })
})

test("Databases, collections, indexes, documents, help and actions are found by a few letters", async t => {
  const page = await openPage(t, "#/documents/shop")
  for (const [text, name, hash] of [
    ["birds", "birds documents", "#/documents/birds"],
    ["rooks", "Rooks birds", "#/documents/birds/Rooks"],
    ["bycomp shop", "Orders/ByCompany shop", "#/indexes/shop/Orders%2FByCompany"],
    ["orders/37", "orders/37 shop", "#/document/shop/orders%2F37"],
    ["give access", "Give access How-to guides", "#/help/how-to/give-access"],
    ["new doc", "New document in shop", "#/document/shop"],
    ["pi-2", "pi-2 node B", "#/node/B"],
  ]) {
    await ask(page, text)
    await page.getByRole("option", { name, selected: true }).waitFor()
    await page.keyboard.press("Enter")
    await page.waitForURL(`${base}/${hash}`)
    await field(page).waitFor({ state: "detached" })
  }
})

test("Arrow keys choose an option, wrap around at the ends, and leave the focus in the field", async t => {
  const page = await openPage(t, "#/")
  await ask(page, "")
  await page.getByRole("option", { name: "Overview", selected: true }).waitFor()
  await page.keyboard.press("ArrowDown")
  assert.equal(await chosen(page), "Documents")
  await page.keyboard.press("ArrowUp")
  await page.keyboard.press("ArrowUp")
  const last = (await page.getByRole("option").allInnerTexts()).at(-1).replace(/\s+/g, " ")
  assert.equal(await chosen(page), last)
  assert.ok(await page.getByRole("option", { selected: true }).evaluate(option => {
    const list = option.closest("[role=listbox]").getBoundingClientRect()
    const { top, bottom } = option.getBoundingClientRect()
    return top >= list.top - 1 && bottom <= list.bottom + 1
  }), "the chosen option is out of sight")
  await page.keyboard.type("no such thing")
  await page.getByRole("status").getByText('Nothing contains "no such thing".').waitFor()
  await page.keyboard.press("Enter")
  await field(page).waitFor()
})

test("The chosen option stays chosen when others are found before it", async t => {
  const page = await openPage(t, "#/logs")
  let release
  const held = new Promise(done => { release = done })
  await page.route("**/docs?startsWith=*", async route => {
    await held
    await route.continue()
  })
  await ask(page, "or")
  await page.getByRole("group", { name: "Help" }).waitFor()
  await page.getByRole("option", { name: "Orders/ByCompany shop" }).waitFor()
  // Chooses the last option, which is of a kind that is listed after documents.
  await page.keyboard.press("ArrowUp")
  const options = async () => (await page.getByRole("option").allInnerTexts()).map(text => text.replace(/\s+/g, " "))
  const last = await chosen(page)
  const before = (await options()).indexOf(last)
  assert.ok(before > 0)
  release()
  await page.getByRole("option", { name: "orders/1 shop" }).waitFor()
  assert.notEqual((await options()).indexOf(last), before, "nothing was found before it")
  assert.equal(await chosen(page), last)
  await page.keyboard.press("ArrowUp")
  const all = await options()
  assert.equal(await chosen(page), all[all.indexOf(last) - 1])
})

test("On macOS ⌘K opens the palette, and Ctrl+K is left to the text field", async t => {
  const context = await browser.newContext()
  t.after(() => context.close())
  await context.addInitScript(() => Object.defineProperty(navigator, "platform", { get: () => "MacIntel" }))
  const page = await context.newPage()
  page.setDefaultTimeout(Patience)
  await page.goto(`${base}/#/logs`)
  await page.getByRole("button", { name: "Go to …" }).waitFor()
  assert.equal(await page.evaluate(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true, cancelable: true }))), true, "Ctrl+K was taken")
  await page.keyboard.press("Meta+k")
  await field(page).waitFor()
})

test("The palette closes when the session ends, and is closed in the next session", async t => {
  const place = await play("--sign-in")
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(Patience)
  const signIn = async () => {
    await page.getByLabel("Token").fill("rookery_test")
    await page.getByRole("button", { name: "Sign in" }).click()
    await page.getByRole("button", { name: "Go to …" }).waitFor()
  }
  await page.goto(`${place}/#/logs`)
  await signIn()
  await ask(page, "")
  await context.clearCookies()
  await page.keyboard.type("or")
  await page.getByLabel("Token").waitFor()
  await signIn()
  assert.equal(await page.locator("dialog[open]").count(), 0)
})

test("An action of the palette runs without leaving the page", async t => {
  const page = await openPage(t, "#/logs")
  await ask(page, "colours dark")
  await page.getByRole("option", { name: "Colours: dark", selected: true }).waitFor()
  await page.keyboard.press("Enter")
  await page.getByRole("button", { name: "Colours: dark" }).waitFor()
  assert.equal(new URL(page.url()).hash, "#/logs")
  await ask(page, "new database")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "New database" }).waitFor()
  await page.keyboard.press("Escape")
  await page.getByRole("dialog", { name: "New database" }).waitFor({ state: "detached" })
  // The action works again on the page that it opened.
  await ask(page, "new database")
  await page.keyboard.press("Enter")
  await page.getByRole("dialog", { name: "New database" }).waitFor()
})

for (const [screen, options] of [["a bright PC", {}], ["a dark phone", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }]]) {
  test(`On ${screen} the palette is accessible and not wider than the screen`, async t => {
    const page = await openPage(t, "#/", options)
    await page.getByRole("button", { name: "Go to …" }).click()
    await field(page).fill("or")
    await page.getByRole("option", { name: "orders/1 shop" }).waitFor()
    await page.evaluate(axe)
    const found = await page.evaluate(async () => (await globalThis.axe.run(document.querySelector("dialog"), { resultTypes: ["violations"] })).violations)
    assert.deepEqual(found.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [])
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
    await page.getByRole("option", { name: "orders/1 shop" }).click()
    await page.waitForURL(`${base}/#/document/shop/orders%2F1`)
  })
}

test("Back closes an open sheet without leaving the page below it", async t => {
  const page = await openPage(t, "#/settings")
  await page.evaluate(() => { location.hash = "#/cluster" })
  const dialog = page.getByRole("dialog")
  const actions = page.getByRole("button", { name: "Actions on pi-3" })
  const remove = async () => {
    await actions.click()
    await page.getByRole("menuitem", { name: "Remove …" }).click()
  }
  for (const open of [remove, () => page.keyboard.press("Control+k")]) {
    await actions.waitFor()
    await open()
    await dialog.waitFor()
    await page.goBack()
    await dialog.waitFor({ state: "detached" })
    assert.equal(new URL(page.url()).hash, "#/cluster")
  }

  // A sheet that is closed by Escape leaves no entry in the history.
  await remove()
  await dialog.waitFor()
  await page.keyboard.press("Escape")
  await dialog.waitFor({ state: "detached" })
  await page.waitForFunction(() => !history.state?.sheet)
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
})

test("Back after the palette opened a page leads to the previous page", async t => {
  const page = await openPage(t, "#/logs")
  await ask(page, "settings")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor()
})

test("On a phone Back closes the menu of the other pages", async t => {
  const page = await openPage(t, "#/logs", { viewport: { width: 390, height: 844 } })
  const more = page.getByRole("button", { name: "More" })
  await more.click()
  await page.getByRole("link", { name: "Settings" }).waitFor()
  await page.goBack()
  await page.getByRole("link", { name: "Settings" }).waitFor({ state: "hidden" })
  assert.equal(new URL(page.url()).hash, "#/logs")
  await more.click()
  await page.getByRole("link", { name: "Settings" }).click()
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor()
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor()
})

test("No page logged an error", () => assertNoErrors(wrong))
