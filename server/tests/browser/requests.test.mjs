// Requests that are answered late, in another order, or not at all, in a real browser on the mock node.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openOnMock } from "./page-on-mock.mjs"

/** Holds back the requests of a page to a path, until `isOver`. */
async function holdBack(page, isMeant) {
  const held = []
  await page.route(url => isMeant(url), route => held.isOver ? route.continue() : void held.push(route))
  return held
}

async function waitUntil(page, holds) {
  while (!holds()) await page.waitForTimeout(20)
}

/** Waits until the page has processed the answers that it got. */
const settle = page => page.evaluate(() => fetch("/databases").then(() => new Promise(done => setTimeout(done))))

test("A node that does not answer gets no second poll before the first is given up after a minute", async t => {
  const { page } = await openOnMock(t, "#/settings")
  await page.getByRole("table").waitFor()
  await page.clock.install()
  const held = await holdBack(page, url => url.pathname === "/databases/shop/indexes/stats")
  await page.evaluate(() => { location.hash = "#/indexes/shop" })
  await waitUntil(page, () => held.length > 0)
  await page.clock.runFor(59_000)
  assert.equal(held.length, 1)
  await page.clock.runFor(3_000)
  await page.getByText("This node does not answer.").waitFor()
  await waitUntil(page, () => held.length > 1)
  held.isOver = true
  for (const route of held) await route.continue().catch(() => {})
  await page.getByRole("link", { name: "Orders/ByCompany" }).waitFor()
})

test("An answer that comes after that of a newer request is ignored", async t => {
  const { page, node } = await openOnMock(t, "#/settings")
  await page.getByRole("table").waitFor()
  const held = await holdBack(page, url => url.pathname === "/admin/access/tokens")
  await page.evaluate(() => { location.hash = "#/cluster/access" })
  await waitUntil(page, () => held.length > 0)
  const [older] = held
  const before = await (await fetch(`${node}/admin/access/tokens`)).json()
  held.isOver = true
  await page.getByRole("button", { name: "New token" }).click()
  await page.getByRole("dialog").getByLabel("Name").fill("late")
  await page.getByRole("button", { name: "Create the token" }).click()
  await page.getByRole("dialog").getByText("this once").waitFor()
  await page.getByRole("dialog").getByRole("button").last().click()
  const row = page.getByRole("button", { name: "Revoke the token late" })
  await row.waitFor()
  await older.fulfill({ json: before })
  await settle(page)
  assert.equal(await row.count(), 1)
})

test("A deletion whose answer is lost is reported as not known, and its Undo stores what is missing", async t => {
  const { page, node } = await openOnMock(t, "#/documents/birds/Rooks")
  const choose = page.getByRole("checkbox", { name: "Choose rooks/7", exact: true })
  await choose.check()
  await page.route(url => url.pathname.endsWith("/bulk_docs"), async route => {
    await fetch(`${node}/databases/birds/docs?id=rooks/7`, { method: "DELETE" })
    await route.abort()
  })
  await page.getByRole("button", { name: "Delete it" }).click()
  const message = page.locator(".toast", { hasText: "It is not known whether rooks/7 was deleted." })
  await message.hover()
  await choose.waitFor({ state: "detached" })
  await message.getByRole("button", { name: "Undo" }).click()
  await choose.waitFor()
})
