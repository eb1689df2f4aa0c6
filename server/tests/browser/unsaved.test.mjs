// Texts that were not saved, in a real browser on the mock node.
import assert from "node:assert/strict"
import { test } from "node:test"
import { openOnMock } from "./page-on-mock.mjs"

let page
let node

const text = name => page.getByRole("textbox", { name, exact: true })
const open = async (t, ...options) => {
  ({ page, node } = await openOnMock(t, ...options))
}
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

test("A text that was not saved when the node ended the session is there again after the sign-in", async t => {
  await open(t, "#/document/shop/users%2F1", "--sign-in")
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

test("A read that waited for a leader and failed does not close a document that was opened meanwhile", async t => {
  await open(t, "#/settings")
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

test("A changed index definition stays in the editor while there is no leader and while another tab or page is shown", async t => {
  await open(t, "#/indexes/shop/Orders%2FByCompany")
  const map = text("Map 1")
  await map.fill("from order in docs.Orders select new { order.unsaved }")
  await fetch(`${node}/mock/scenario?name=no-quorum`, { method: "POST" })
  await page.getByText("No leader: nothing is written now.").waitFor()
  assert.ok(await map.evaluate(area => area === document.activeElement), "the editor was replaced")
  await page.getByRole("tab", { name: "Terms" }).click()
  await map.waitFor({ state: "detached" })
  await page.getByRole("tab", { name: "Definition" }).click()
  assert.match(await map.inputValue(), /unsaved/)
  await go("#/settings")
  await page.getByRole("table").waitFor()
  assert.ok(await asksBeforeReload())
  await go("#/indexes/shop/Orders%2FByCompany")
  await map.waitFor()
  assert.match(await map.inputValue(), /unsaved/)
  await page.getByRole("button", { name: "Discard changes" }).click()
  assert.doesNotMatch(await map.inputValue(), /unsaved/)
  assert.equal(await asksBeforeReload(), false)
})

test("A new index and a query that were not sent are there again when their page is opened again", async t => {
  await open(t, "#/indexes/shop?new=")
  await page.getByRole("button", { name: "Begin with this: Full text" }).click()
  await text("Name").fill("Unsaved")
  await go("#/query/shop")
  await text("Query in RQL").fill("from Unsaved")
  await go("#/indexes/shop?new=")
  await text("Name").waitFor()
  assert.equal(await text("Name").inputValue(), "Unsaved")
  await page.getByRole("button", { name: "Discard", exact: true }).click()
  await page.getByRole("button", { name: "Begin with this: Full text" }).waitFor()
  await go("#/query/shop")
  await text("Query in RQL").waitFor()
  assert.equal(await text("Query in RQL").inputValue(), "from Unsaved")
})

test("What was not saved of an index that was deleted meanwhile can be stored as a new one", async t => {
  await open(t, "#/indexes/shop/Orders%2FByCompany")
  await text("Map 1").fill("from order in docs.Orders select new { order.unsaved }")
  await page.route(url => /\/indexes(\/stats)?$/.test(url.pathname), route => route.request().method() === "PUT" ? route.fulfill({ json: {} }) : route.fulfill({ json: { Results: [] } }))
  await page.getByText("There is no index Orders/ByCompany.").waitFor()
  assert.match(await text("Map 1").inputValue(), /unsaved/)
  const put = page.waitForRequest(request => request.method() === "PUT")
  await page.getByRole("button", { name: "Create index" }).click()
  assert.match((await put).postData(), /Orders\/ByCompany.*unsaved/)
})

test("The first admin token stays until it was used, also when the user reads the manual", async t => {
  await open(t, "#/settings", "--sign-in")
  let isIn = false
  await page.route(`${node}/session`, route => {
    if (route.request().method() === "GET") return route.fulfill({ json: { SignedIn: isIn, Scopes: isIn ? ["admin"] : [], Databases: null, IsClaimed: isIn, NodeName: "pi-1" } })
    isIn = true
    return route.fulfill({ status: 204 })
  })
  await page.route(`${node}/claim`, route => route.fulfill({ json: { Token: "rookery_test" } }))
  await page.reload()
  await page.getByLabel("Code").fill("ABCD-EFGH")
  await page.keyboard.press("Enter")
  const token = page.locator(".copyable code", { hasText: "rookery_test" })
  await token.waitFor()
  assert.ok(await asksBeforeReload())
  await page.getByRole("link", { name: "Help for this page" }).click()
  await token.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "Sign in" }).click()
  await token.waitFor()
  await page.getByRole("button", { name: "I have stored it" }).click()
  await page.getByRole("navigation", { name: "Pages" }).waitFor()
  assert.equal(await asksBeforeReload(), false)
})

test("A new token is created and shown until its button is pressed, whatever else is pressed", async t => {
  await open(t, "#/cluster/access")
  let letGo
  const isHeld = new Promise(go => { letGo = go })
  await page.route(`${node}/admin/access/tokens`, async route => {
    if (route.request().method() === "POST") await isHeld
    await route.continue()
  })
  await page.getByRole("button", { name: "New token" }).click()
  const dialog = page.getByRole("dialog")
  const press = async () => {
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 5)
    await page.goBack()
    await page.evaluate(() => new Promise(done => setTimeout(done)))
  }
  await dialog.getByLabel("Name").fill("late")
  await dialog.getByRole("button", { name: "Create the token" }).click()
  await dialog.getByRole("button", { name: "Cancel" }).and(page.locator(":disabled")).waitFor()
  await press()
  assert.equal(await dialog.isVisible(), true)
  letGo()
  await dialog.getByText("this once").waitFor()
  await press()
  assert.match(await dialog.locator(".copyable code").innerText(), /^rookery_/)
  await dialog.getByRole("button", { name: "I have stored it" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Revoke the token late" }).waitFor()
  assert.match(page.url(), /#\/cluster\/access$/)
})

test("A text that was left is restored with the id that was typed, and also when its document was deleted meanwhile", async t => {
  await open(t, "#/document/shop")
  const editor = text("Document as JSON")
  const undo = () => page.locator(".toast", { hasText: "left without saving" }).getByRole("button", { name: "Undo" }).click()
  await text("Id").fill("orders/2026-17")
  await editor.fill('{ "total": 17 }')
  await go("#/settings")
  await undo()
  await text("Id").waitFor()
  assert.equal(await text("Id").inputValue(), "orders/2026-17")

  await go("#/document/shop/users%2F2")
  await page.getByRole("heading", { name: "users/2" }).waitFor()
  await page.locator(".toast").getByRole("button", { name: "Close" }).click()
  await editor.fill('{ "name": "Unsaved" }')
  await go("#/settings")
  await fetch(`${node}/databases/shop/docs?id=users/2`, { method: "DELETE" })
  await undo()
  await text("Id").waitFor()
  assert.equal(await text("Id").inputValue(), "users/2")
  assert.match(await editor.inputValue(), /Unsaved/)
  await page.getByRole("button", { name: "Save", exact: true }).click()
  await page.getByRole("heading", { name: "users/2" }).waitFor()
  assert.equal(await text("Id").count(), 0)
  assert.match(await (await fetch(`${node}/databases/shop/docs?id=users/2`)).text(), /Unsaved/)
})

test("Later messages do not displace the one that offers to restore a text", async t => {
  await open(t, "#/document/shop/users%2F3")
  await text("Document as JSON").fill('{ "name": "Unsaved" }')
  await go("#/indexes/shop/Orders%2FByCompany")
  const pause = page.getByRole("button", { name: "Pause Orders/ByCompany" })
  // The mock node refuses it each time.
  for (let times = 1; times <= 3; times++) {
    await pause.and(page.locator(":not([aria-busy=true])")).click()
    await page.waitForFunction(least => document.querySelectorAll(".toast.bad").length >= least, Math.min(times, 2))
  }
  await page.locator(".toast", { hasText: "users/3 was left without saving." }).getByRole("button", { name: "Undo" }).click()
  await page.getByText("not saved").waitFor()
})
