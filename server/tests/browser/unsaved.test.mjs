// Texts that were not saved, in a real browser on the mock node.
import assert from "node:assert/strict"
import { after, before, beforeEach, afterEach, test } from "node:test"
import { launchBrowser, startMockNode } from "./page-on-mock.mjs"

const started = []
const wrong = []
let browser
let page
let node

before(async () => {
  browser = await launchBrowser()
})

after(async () => {
  await browser?.close()
  for (const process of started) process.kill()
})

/** Opens a page of a new mock node. */
async function open(hash, ...options) {
  node = await startMockNode(started, ...options)
  page = await browser.newPage()
  page.setDefaultTimeout(15_000)
  page.on("pageerror", error => wrong.push(error.stack ?? error.message))
  await page.goto(`${node}/${hash}`)
}

beforeEach(() => { wrong.length = 0 })
afterEach(async () => {
  await page.close()
  assert.deepEqual(wrong, [])
})

const text = name => page.getByRole("textbox", { name, exact: true })
const go = hash => page.evaluate(to => { location.hash = to }, hash)
const signIn = async () => {
  await page.getByLabel("Token").fill("rookery_test")
  await page.keyboard.press("Enter")
}

/** Whether the browser asks before it loads the page again; it then stays. */
async function asksBeforeReload() {
  const asked = new Promise(resolve => page.once("dialog", async dialog => {
    await dialog.dismiss()
    resolve(dialog.type() === "beforeunload")
  }))
  return Promise.race([asked, page.reload().then(() => false, () => false)])
}

test("A text that was not saved when the node ended the session is there again after the sign-in", async () => {
  await open("#/document/shop/users%2F1", "--sign-in")
  await signIn()
  const editor = text("Document as JSON")
  await editor.fill('{ "name": "Unsaved", "nest": "nests/1" }')
  // The editor asks whether the document nests/1 exists. The answer is that the session is unknown.
  await page.context().clearCookies()
  await page.getByLabel("Token").waitFor()
  assert.ok(await asksBeforeReload())
  await signIn()
  await page.getByText("not saved").waitFor()
  assert.match(await editor.inputValue(), /Unsaved/)
  await page.getByRole("button", { name: "Save", exact: true }).click()
  await page.locator(".toast", { hasText: "users/1 is stored." }).waitFor()
})
