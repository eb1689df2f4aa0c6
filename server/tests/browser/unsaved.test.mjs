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

test("A read that waited for a leader and failed does not close a document that was opened meanwhile", async () => {
  await open("#/settings")
  const waiting = []
  await page.route(url => url.pathname === "/databases/shop/docs" && url.searchParams.get("consistency") !== "local", route => { waiting.push(route) })
  await go("#/document/shop/users%2F1")
  while (waiting.length === 0) await page.waitForTimeout(20)
  await fetch(`${node}/mock/scenario?name=no-quorum`, { method: "POST" })
  const editor = text("Document as JSON")
  await editor.fill('{ "name": "Unsaved" }')
  await Promise.all(waiting.map(route => route.fulfill({ status: 503, contentType: "application/json", body: '{"Message":"Nobody leads now."}' }).catch(() => {})))
  // The answer has reached the page when a request that was sent after it is answered.
  await page.evaluate(() => fetch("/databases").then(() => new Promise(done => setTimeout(done))))
  assert.match(await editor.inputValue(), /Unsaved/)
  assert.equal(await page.getByText("Nobody leads now.").count(), 0)
})
