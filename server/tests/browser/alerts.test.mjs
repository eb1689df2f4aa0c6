// The messages about alerts, in a real browser against a real node.
import assert from "node:assert/strict"
import { createServer } from "node:http"
import { after, before, test } from "node:test"
import { assertAccessible, goTo, openPageOnNode } from "./page-on-node.mjs"
import { assertNoErrors } from "./recorded-errors.mjs"

const received = []
const hook = createServer(async (request, response) => {
  let body = ""
  for await (const part of request) body += part
  received.push({ path: request.url, body: JSON.parse(body) })
  response.end()
})
let opened
let page

before(async () => {
  await new Promise(done => hook.listen(0, "127.0.0.1", done))
  opened = await openPageOnNode({ timezoneId: "Asia/Kolkata" })
  page = opened.page
})

after(async () => {
  await opened?.close()
  hook.close()
})

test("A webhook is set with quiet hours in the user's time, gets a test message, and is removed", async () => {
  await goTo(page, `${opened.base}/#/alerts`)
  await page.getByRole("button", { name: "Set it up" }).click()
  const dialog = page.getByRole("dialog", { name: "Messages about alerts" })
  assert.match(await dialog.getByLabel("URL with the topic").inputValue(), /^https:\/\/ntfy\.sh\/rookery-[a-z2-9]{16}$/)
  await dialog.getByLabel("URL with the topic").fill(`http://127.0.0.1:${hook.address().port}/our-topic`)
  await dialog.getByLabel("Quiet hours").check()
  await dialog.getByLabel("From").fill("22:30")
  await dialog.getByRole("button", { name: "Save" }).click()
  await page.getByText("From 22:30 to 07:00 only critical ones are sent").waitFor()
  const { QuietFrom, QuietUntil } = await (await fetch(`${opened.base}/admin/alerts/webhook`)).json()
  assert.deepEqual([QuietFrom, QuietUntil], ["17:00", "01:30"])
  await page.getByRole("button", { name: "Send a test message" }).click()
  await page.locator(".toast", { hasText: "the webhook accepted it" }).waitFor()
  assert.deepEqual(received.map(({ path, body }) => [path, body.topic]), [["/", "our-topic"]])
  await assertAccessible(page, "the alerts")
  await page.getByRole("button", { name: "Actions on messages" }).click()
  await page.getByRole("menuitem", { name: "Send none any more …" }).click()
  await page.getByRole("button", { name: "Send none" }).click()
  await page.getByText("Nobody is told").waitFor()
  assertNoErrors(opened.wrong)
})
