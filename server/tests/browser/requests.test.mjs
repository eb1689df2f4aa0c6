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

test("Next moves one page, however often it is pressed, and the numbers are those of the shown documents", async t => {
  const { page } = await openOnMock(t, "#/documents/shop")
  await page.getByText("1–50 of 120").waitFor()
  const held = await holdBack(page, url => url.pathname.endsWith("/docs") && url.searchParams.get("start") === "50")
  await page.getByRole("button", { name: "Next" }).evaluate(button => { button.click(); button.click() })
  await waitUntil(page, () => held.length > 0)
  await page.getByRole("button", { name: "Next" }).and(page.locator(":disabled")).waitFor()
  await held[0].fulfill({ status: 503, contentType: "application/json", body: '{"Message":"Nobody leads now."}' })
  await page.getByText("Nobody leads now.").waitFor()
  await page.getByText("1–50 of 120").waitFor()
  held.isOver = true
  await page.getByRole("button", { name: "Try again" }).click()
  await page.getByText("51–100 of 120").waitFor()
  await page.getByRole("button", { name: "Previous" }).click()
  await page.getByText("1–50 of 120").waitFor()
})

test("The address is that of the query that was run, and following a link runs its query with its last parameters", async t => {
  const { page } = await openOnMock(t, "#/query/shop")
  const query = page.getByRole("textbox", { name: "Query in RQL" })
  const parameters = page.getByRole("textbox", { name: "Parameters as JSON" })
  const results = page.getByRole("heading", { name: /results$/ })
  const isAt = text => page.waitForFunction(text => new URLSearchParams(location.hash.split("?")[1]).get("q") === text, text)
  const follow = text => page.evaluate(text => { location.hash = `#/query/shop?q=${encodeURIComponent(text)}` }, text)
  await query.fill("from Users where age > $p0")
  await parameters.fill('{"p0": 30}')
  await query.press("Control+Enter")
  await results.waitFor()
  await page.reload()
  await results.waitFor()
  assert.equal(await parameters.inputValue(), '{"p0": 30}')

  await query.fill("from Users update { this.a = 1 }")
  await follow("from Orders")
  await page.getByRole("link", { name: "orders/1", exact: true }).waitFor()
  await query.fill("from Users")
  await query.press("Control+Enter")
  await isAt("from Users")
  await page.getByRole("link", { name: "users/1", exact: true }).waitFor()
  await follow("from Orders")
  await page.getByRole("link", { name: "orders/1", exact: true }).waitFor()
  assert.equal(await query.inputValue(), "from Orders")

  await query.fill(`from Users where name != '${"x".repeat(2_000)}'`)
  await query.press("Control+Enter")
  await page.getByRole("link", { name: "users/1", exact: true }).waitFor()
  await isAt(null)
})

test("More terms are those of the field that is shown, also while another one is typed", async t => {
  const { page } = await openOnMock(t, "#/settings")
  const asked = []
  await page.route(url => url.pathname.endsWith("/indexes/terms"), route => {
    const query = new URL(route.request().url()).searchParams
    asked.push([query.get("field"), query.get("fromValue")])
    const number = 200 * asked.length
    return route.fulfill({ json: { Terms: Array.from({ length: 200 }, (_, at) => `${query.get("field")} ${number + at}`) } })
  })
  await page.evaluate(() => { location.hash = "#/indexes/shop/Orders%2FByCompany" })
  await page.getByRole("tab", { name: "Terms" }).click()
  await page.getByLabel("Field", { exact: true }).fill("city")
  await page.getByRole("button", { name: "Show" }).click()
  await page.getByText("200 values so far").waitFor()
  await page.getByLabel("Field", { exact: true }).fill("ag")
  await page.getByRole("button", { name: "More" }).click()
  await page.getByText("400 values so far").waitFor()
  assert.deepEqual(asked, [["city", null], ["city", "city 399"]])
})

test("A change by query that the node does not know any more can be closed", async t => {
  const { page } = await openOnMock(t, "#/query/shop?q=from%20Users")
  await page.route(url => url.pathname.endsWith("/queries"), route => route.request().method() === "DELETE" ? route.fulfill({ json: { OperationId: 7, OperationNodeTag: "A" } }) : route.continue())
  let polls = 0
  await page.route(url => url.pathname.endsWith("/operations/state"), route => {
    polls++
    return route.fulfill({ status: 400, contentType: "application/json", body: '{"Message":"This node knows no operation 7: it was restarted since."}' })
  })
  await page.getByRole("button", { name: "More actions on this query" }).click()
  await page.getByRole("menuitem", { name: "Delete what it finds …" }).click()
  await page.getByLabel("To confirm, type shop").fill("shop")
  await page.getByRole("dialog").getByRole("button", { name: /^Delete/ }).click()
  const panel = page.getByRole("region", { name: "Deleting by query" })
  await panel.getByText("This node knows no operation 7").waitFor()
  await panel.getByRole("button", { name: "Close" }).click()
  await panel.waitFor({ state: "detached" })
  assert.equal(polls, 1)
})

test("The log has each line once when answers are slow, and begins again when the node was restarted", async t => {
  const { page } = await openOnMock(t, "#/settings")
  await page.getByRole("table").waitFor()
  await page.clock.install()
  const lines = (...numbers) => ({ json: { Lines: numbers.map(Sequence => ({ Sequence, Time: "2026-11-30T00:00:00Z", Level: "information", EventId: 1, Text: `line ${Sequence}` })) } })
  const held = await holdBack(page, url => url.pathname === "/admin/logs")
  await page.evaluate(() => { location.hash = "#/logs" })
  const answerNext = async answer => {
    await waitUntil(page, () => held.length > 0)
    await held.shift().fulfill(answer)
  }
  const shown = (...numbers) => page.waitForFunction(texts => [...document.querySelectorAll(".log-lines .text")].map(one => one.textContent).join() === texts, numbers.map(number => `line ${number}`).join())
  await answerNext(lines(7, 8))
  await shown(7, 8)
  await page.clock.runFor(9_000)
  await page.getByRole("button", { name: "Stop following" }).click()
  await page.getByRole("button", { name: "Follow" }).click()
  assert.equal(held.length, 1)
  await answerNext(lines(9))
  await shown(7, 8, 9)
  await page.clock.runFor(2_000)
  await answerNext(lines(1, 2))
  await shown(1, 2)
})

test("An id that is typed is called missing only when the node has said so", async t => {
  const { page } = await openOnMock(t, "#/document/shop/orders%2F1")
  const editor = page.getByRole("textbox", { name: "Document as JSON" })
  const held = await holdBack(page, url => url.pathname.endsWith("/docs") && url.searchParams.has("metadataOnly"))
  await editor.fill('{ "user": "users/2", "other": "users/999" }')
  await waitUntil(page, () => held.at(-1)?.request().postData()?.includes("users/999"))
  await held.pop().fulfill({ json: { Results: [{ "@metadata": { "@id": "users/2" } }, null] } })
  await page.getByText("users/999: no such document").waitFor()
  await editor.fill('{ "user": "users/3" }')
  await waitUntil(page, () => held.at(-1)?.request().postData()?.includes("users/3"))
  await page.getByRole("link", { name: "users/3", exact: true }).waitFor()
  assert.equal(await page.getByText("no such document").count(), 0)
})
