// Documents in a real browser while two of three nodes are dead: the third node's documents are shown, and an edited
// text is refused but not lost.
import assert from "node:assert/strict"
import { join } from "node:path"
import { test } from "node:test"
import { chromium } from "playwright-core"
import { ThreeNodes } from "../../../cluster/tests/process/three-nodes.mjs"

const Flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
const database = "Nest"

test("Without a leader the node's own documents are shown, and a text that was refused can be stored once a node leads again", { timeout: 240_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  await cluster.nodes[0].expect(201, "PUT", `/databases/${database}/docs?id=rooks/1`, JSON.stringify({ name: "Anna", "@metadata": { "@collection": "Rooks" } }))

  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: Flags })
  t.after(() => browser.close())
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  page.setDefaultTimeout(30_000)
  const url = cluster.urls[0]
  const editor = page.getByRole("textbox", { name: "Document as JSON" })
  await page.goto(`${url}/#/document/${database}/rooks%2F1`)
  await editor.fill((await editor.inputValue()).replace("Anna", "Anne"))

  await Promise.all([cluster.nodes[1].kill(), cluster.nodes[2].kill()])
  await page.getByText("No leader: nothing is written now.").waitFor()
  await editor.press("Control+s")
  await page.locator("main .error-sentence").waitFor()
  assert.match(await editor.inputValue(), /Anne/)

  const other = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  other.setDefaultTimeout(30_000)
  await other.goto(`${url}/#/documents/${database}/Rooks`)
  await other.getByText("may be older than what was written last").waitFor()
  await other.getByRole("link", { name: "rooks/1" }).click()
  assert.match(await other.getByRole("textbox", { name: "Document as JSON" }).inputValue(), /Anna/)
  await other.goto(`${url}/#/query/${database}?q=${encodeURIComponent("from Rooks")}`)
  await other.getByRole("button", { name: "Run", exact: true }).click()
  await other.getByRole("heading", { name: "1 result" }).waitFor()
  if (process.env.ROOKERY_SCREENSHOTS) await other.screenshot({ path: join(process.env.ROOKERY_SCREENSHOTS, "documents-without-a-leader.png") })

  await cluster.restart()
  await page.getByText("No leader: nothing is written now.").waitFor({ state: "detached" })
  await editor.press("Control+s")
  await page.locator(".toast", { hasText: "rooks/1 is stored." }).waitFor()
  const { text } = await cluster.nodes[1].request("GET", `/databases/${database}/docs?id=rooks/1`)
  assert.match(text, /Anne/)
})
