// The documents, query and index pages in a real browser against a real node. The tests run in order: the first creates
// a database, and the last deletes it.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, beforeEach, test } from "node:test"
import { constants, gunzipSync, gzipSync } from "node:zlib"
import { assertAccessible, goTo, openPageOnNode } from "./page-on-node.mjs"
import { assertNoErrors } from "./recorded-errors.mjs"

const database = "Aviary"
const exact = "12345678901234567890.50"
const screenshots = process.env.ROOKERY_SCREENSHOTS
const folder = mkdtempSync(join(tmpdir(), "rookery-documents-"))
const unavailable = []

let opened
let base
let page

before(async () => {
  opened = await openPageOnNode({ isProvoked })
  base = opened.base
  page = opened.page
})

after(async () => {
  await opened?.close()
  rmSync(folder, { recursive: true, force: true })
})

// Messages stay for six seconds, so those of the previous test are closed.
beforeEach(() => closeToasts())

/** Whether a line in the console is the browser's report of a refusal that a test provokes. A 503 is expected only for the missing database, and once for each answer of `unavailableFor`. */
function isProvoked(message) {
  const status = /Failed to load resource: the server responded with a status of (\d+)/.exec(message.text())?.[1]
  if (status !== "503") return ["400", "404", "409", "501"].includes(status)
  const { url } = message.location()
  const at = unavailable.indexOf(url)
  if (at >= 0) unavailable.splice(at, 1)
  return at >= 0 || url.startsWith(`${base}/databases/Nowhere/`)
}

/** While `work` runs, answers a route with 503, like a node without a leader. */
async function unavailableFor(path, work) {
  const isMeant = url => url.pathname === path
  await page.route(isMeant, route => {
    unavailable.push(route.request().url())
    return route.fulfill({ status: 503, contentType: "application/json", body: '{"Message":"Nobody leads now."}' })
  })
  try {
    await work()
  } finally {
    await page.unroute(isMeant)
  }
}

const rest = (method, path, body) => fetch(`${base}/databases/${database}/${path}`, { method, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }) })
const stored = async id => (await rest("GET", `docs?id=${encodeURIComponent(id)}`)).text()
const go = hash => goTo(page, `${base}/${hash}`)
const button = name => page.getByRole("button", { name, exact: true })
/** Chooses an action in a menu. */
const choose = async (menu, action) => {
  await button(menu).click()
  await page.getByRole("menuitem", { name: action, exact: true }).click()
}
const dialog = () => page.getByRole("dialog")
const text = name => page.getByRole("textbox", { name, exact: true })
const said = words => page.locator(".toast", { hasText: words }).first().waitFor()
const closeToasts = () => page.evaluate(() => {
  for (const close of document.querySelectorAll(".toast [aria-label=Close]")) close.click()
})
/** Returns the Undo button of a toast. The pointer is moved over the toast, so that it stays also on a slow machine. */
const offered = async words => {
  const toast = page.locator(".toast", { hasText: words })
  await toast.hover()
  return toast.getByRole("button", { name: "Undo" })
}
const isSaved = () => page.locator('button[aria-busy="false"]', { hasText: "Save" }).waitFor()
const editor = () => text("Document as JSON")
const asJson = value => JSON.stringify(value, null, 2)

/** Only the page and its messages are checked; frame.test.mjs checks the frame around them. */
async function isAccessible(where) {
  await assertAccessible(page, where, [["main"], [".toasts"]])
  if (screenshots) await page.screenshot({ path: join(screenshots, `documents-${where.replace(/\W+/g, "-")}.png`) })
}

test("A database is created, and an invalid name is refused while it is typed", async () => {
  await go("#/documents")
  await button("New database").click()
  await dialog().getByLabel("Name").fill("a b")
  await dialog().getByText("no spaces").waitFor()
  assert.ok(await dialog().getByRole("button", { name: "Create" }).isDisabled())
  await dialog().getByLabel("Name").fill(database)
  await dialog().getByLabel("Name").press("Enter")
  await page.getByText("There is no document here yet.").waitFor()
  await isAccessible("an empty database")
})

test("A document is stored with its numbers exactly as typed", async () => {
  await page.getByRole("link", { name: "New document" }).click()
  await text("Id").fill("rooks/1")
  await editor().fill(`{ "name": "Anna", "weight": ${exact}, "nest": "nests/1", "@metadata": { "@collection": "Rooks" } }`)
  await button("Save").click()
  await page.getByRole("heading", { name: "rooks/1" }).waitFor()
  assert.ok((await stored("rooks/1")).includes(`"weight":${exact}`) || (await stored("rooks/1")).includes(`"weight": ${exact}`))
  assert.match(await editor().inputValue(), /"weight": 12345678901234567890\.50,\n/)
  await page.getByText("nests/1: no such document").waitFor()
  await isAccessible("a document")
})

test("A new document does not overwrite a document with the same id", async () => {
  await go(`#/document/${database}`)
  await text("Id").fill("rooks/1")
  await editor().fill(`{"name": "other"}`)
  await button("Save").click()
  await page.getByText("There is a document rooks/1 already").waitFor()
  assert.match(await stored("rooks/1"), /Anna/)
})

test("An error in the JSON is shown with its position, and the text cannot be saved", async () => {
  await go(`#/document/${database}/rooks%2F1`)
  await editor().fill('{\n  "name": "Anna"\n  "age": 3\n}')
  await button("Line 3, column 3").click()
  assert.ok(await button("Save").isDisabled())
  assert.equal(await editor().evaluate(area => area.selectionStart), 21)
  await page.keyboard.press("Control+s")
  assert.match(await stored("rooks/1"), new RegExp(exact.replace(".", "\\.")))
  await button("Discard changes").click()
  await page.getByText("Good JSON").waitFor()
})

test("Enter indents, undo takes it back, and Tab leaves the editor", async () => {
  await editor().evaluate(area => area.setSelectionRange(1, 1))
  await editor().focus()
  const before = await editor().inputValue()
  await page.keyboard.press("Enter")
  assert.ok((await editor().inputValue()).startsWith("{\n  \n"))
  await page.keyboard.press("Control+z")
  assert.equal(await editor().inputValue(), before)
  await page.keyboard.press("Tab")
  assert.ok(await editor().evaluate(area => document.activeElement !== area))
})

test("Ctrl+S stores the document, and a concurrent change is shown before it is replaced", async () => {
  await editor().fill((await editor().inputValue()).replace("Anna", "Anne"))
  await editor().press("Control+s")
  await said("rooks/1 is stored.")
  assert.match(await stored("rooks/1"), /Anne/)

  await rest("PUT", "docs?id=rooks/1", { name: "Theirs", "@metadata": { "@collection": "Rooks" } })
  await editor().fill((await editor().inputValue()).replace("Anne", "Mine"))
  await editor().press("Control+s")
  await dialog().getByText("was changed meanwhile").waitFor()
  await dialog().locator(".diff-left code", { hasText: "Theirs" }).waitFor()
  await dialog().locator(".diff-right code", { hasText: "Mine" }).waitFor()
  assert.match(await stored("rooks/1"), /Theirs/)
  await isAccessible("a conflict")
  await dialog().getByRole("button", { name: "Replace it by mine" }).click()
  await dialog().waitFor({ state: "detached" })
  assert.match(await stored("rooks/1"), /Mine/)
  await isSaved()

  await rest("PUT", "docs?id=rooks/1", { name: "Theirs again", "@metadata": { "@collection": "Rooks" } })
  await editor().fill((await editor().inputValue()).replace("Mine", "Not mine"))
  await editor().press("Control+s")
  await dialog().getByRole("button", { name: "Take what is stored" }).click()
  assert.match(await editor().inputValue(), /Theirs again/)
  assert.match(await stored("rooks/1"), /Theirs again/)
})

test("Text that is typed while the document is being stored is kept, and a second save meanwhile is carried out", async () => {
  // The PUT of the document is held back until the test releases it.
  let held = null
  const isStoring = url => url.pathname.endsWith("/docs")
  await page.route(isStoring, async route => {
    if (held && route.request().method() === "PUT") await new Promise(go => held.push(go))
    await route.continue()
  })
  const hold = () => { held = [] }
  const letGo = () => {
    for (const go of held) go()
    held = null
  }
  const isHeld = async () => { while (held.length === 0) await page.waitForTimeout(20) }
  const typed = async (from, to) => editor().fill((await editor().inputValue()).replace(from, to))

  await typed("Theirs again", "Sent")
  hold()
  await editor().press("Control+s")
  await isHeld()
  await typed("Sent", "Typed on")
  letGo()
  await said("rooks/1 is stored.")
  await isSaved()
  assert.match(await editor().inputValue(), /Typed on/)
  assert.match(await stored("rooks/1"), /Sent/)
  await page.getByText("not saved").waitFor()
  hold()
  await editor().press("Control+s")
  await isHeld()
  await typed("Typed on", "Typed last")
  await editor().press("Control+s")
  letGo()
  await page.getByText("not saved").waitFor({ state: "detached" })
  assert.match(await stored("rooks/1"), /Typed last/)
  assert.equal(await dialog().count(), 0, "the second save expects the version that the first one stored")

  // A document whose page is left while it is being stored is stored, without a message about unsaved text.
  await closeToasts()
  await typed("Typed last", "Theirs again")
  hold()
  await editor().press("Control+s")
  await isHeld()
  await page.getByRole("link", { name: database, exact: true }).click()
  await page.getByText(/^1–/).waitFor()
  letGo()
  await said("rooks/1 is stored.")
  assert.equal(await page.locator(".toast", { hasText: "left without saving" }).count(), 0)
  await go(`#/document/${database}/rooks%2F1`)

  // The page of a new document becomes the page of the stored one, and keeps the text that was typed meanwhile.
  await go(`#/document/${database}`)
  await text("Id").fill("rooks/2")
  await editor().fill('{"name": "New"}')
  hold()
  await button("Save").click()
  await isHeld()
  await editor().fill('{"name": "Newer"}')
  letGo()
  await page.getByRole("heading", { name: "rooks/2" }).waitFor()
  await page.getByText("not saved").waitFor()
  assert.match(await editor().inputValue(), /Newer/)
  await editor().press("Control+s")
  await page.getByText("not saved").waitFor({ state: "detached" })
  assert.match(await stored("rooks/2"), /Newer/)
  await rest("DELETE", "docs?id=rooks/2")
  await page.unroute(isStoring)
  await go(`#/document/${database}/rooks%2F1`)
})

test("A text that was left unsaved can be restored, and does not overwrite a change made meanwhile", async () => {
  await editor().fill((await editor().inputValue()).replace("Theirs again", "Unsaved"))
  await page.getByRole("link", { name: database, exact: true }).click()
  const undo = await offered("rooks/1 was left without saving.")
  await rest("PUT", "docs?id=rooks/1", { name: "Theirs again", more: 1, "@metadata": { "@collection": "Rooks" } })
  await undo.click()
  await page.getByText("not saved").waitFor()
  assert.match(await editor().inputValue(), /Unsaved/)
  await editor().press("Control+s")
  await dialog().getByText("was changed meanwhile").waitFor()
  await dialog().getByRole("button", { name: "Take what is stored" }).click()
  assert.match(await editor().inputValue(), /"more": 1/)
})

test("Undo restores a deleted document, unless its id was written again", async () => {
  await button("Delete").click()
  const undo = await offered("rooks/1 is deleted.")
  assert.equal((await rest("GET", "docs?id=rooks/1")).status, 404)
  await undo.click()
  await page.getByRole("heading", { name: "rooks/1" }).waitFor()
  assert.match(await stored("rooks/1"), /Theirs again.*"@collection":\s*"Rooks"/s)

  await button("Delete").click()
  const late = await offered("rooks/1 is deleted.")
  await rest("PUT", "docs?id=rooks/1", { name: "Newer", "@metadata": { "@collection": "Rooks" } })
  await late.click()
  await said("Not undone: rooks/1 was written again")
  assert.match(await stored("rooks/1"), /Newer/)
})

test("Documents with attachments or counters are deleted only after a question, and without an Undo that would not restore these", async () => {
  const attach = id => rest("PUT", `attachments?id=${id}&name=ring.txt&contentType=text/plain`, "blue")
  assert.equal((await attach("rooks/1")).status, 201)
  await rest("PUT", "docs?id=rooks/2", { name: "Bea", "@metadata": { "@collection": "Rooks" } })
  await rest("POST", "counters", { Documents: [{ DocumentId: "rooks/2", Operations: [{ Type: "Increment", CounterName: "calls", Delta: 2 }] }] })
  // From another page, so that the list is read again.
  await go("#/documents")
  await go(`#/documents/${database}/Rooks`)
  await page.getByRole("checkbox", { name: "Choose rooks/1", exact: true }).check()
  await button("Delete it").click()
  await dialog().getByText("rooks/1 has 1 attachment.").waitFor()
  await dialog().getByRole("button", { name: "Delete" }).click()
  const message = page.locator(".toast", { hasText: "rooks/1 deleted." })
  await message.waitFor()
  assert.equal(await message.getByRole("button", { name: "Undo" }).count(), 0)

  await go(`#/document/${database}/rooks%2F2`)
  await button("Delete").click()
  await dialog().getByText("The document has 1 counter").waitFor()
  assert.equal((await rest("GET", "docs?id=rooks/2")).status, 200)
  await dialog().getByRole("button", { name: "Delete" }).click()
  await said("rooks/2 is deleted.")
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), 0)
  await go(`#/documents/${database}`)
})

test("A compressed file is imported, and its invalid line is listed", async () => {
  const lines = Array.from({ length: 600 }, (_, at) => JSON.stringify({ name: `Bird ${at}`, age: at % 50, home: { city: at % 2 ? "Ulm" : "Köln" }, "@metadata": { "@id": `birds/${at}`, "@collection": "Birds" } }))
  lines.splice(299, 0, '{"name": oops}')
  const file = join(folder, "birds.ndjson.gz")
  writeFileSync(file, gzipSync(lines.join("\n")))
  await go(`#/documents/${database}`)
  await button("Import").click()
  await page.getByLabel("File").setInputFiles(file)
  await page.getByRole("button", { name: /^Import birds\.ndjson\.gz/ }).click()
  await page.getByText("600 documents stored, 1 bad line left out, 601 lines read.").waitFor()
  const row = page.getByRole("group", { name: "Bad lines" }).getByRole("row").nth(1)
  assert.match(await row.innerText(), /300\s.*'oops'|300\s/)
  await page.getByRole("link", { name: /^Birds\s*600$/ }).waitFor()
  await isAccessible("an import")
})

test("Collections are browsed page by page and filtered, and selected documents are deleted and restored", async () => {
  await page.getByRole("link", { name: /^Birds\s*600$/ }).click()
  await page.getByText("1–50 of 600").waitFor()
  await button("Next").click()
  await page.getByText("51–100 of 600").waitFor()
  await text("Where, in RQL").fill("age = 7")
  await button("Filter").click()
  await page.getByText("1–12 of 12").waitFor()
  await page.getByRole("checkbox", { name: "Choose birds/7", exact: true }).check()
  await page.getByRole("checkbox", { name: "Choose birds/57", exact: true }).check()
  await button("Delete them").click()
  const undo = await offered("2 documents deleted.")
  await page.getByText("1–10 of 10").waitFor()
  await undo.click()
  await page.getByText("1–12 of 12").waitFor()
  assert.equal((await rest("GET", "docs?id=birds/57")).status, 200)
  await text("Where, in RQL").fill("age = = 7")
  await button("Filter").click()
  await page.getByText("stands where a value must stand").waitFor()
})

test("An export contains every document, as JSON Lines with ids", async () => {
  await go(`#/documents/${database}/Birds`)
  await page.getByText("1–50 of 600").waitFor()
  await button("Export").click()
  const [download] = await Promise.all([page.waitForEvent("download"), button("Export to a file").click()])
  const lines = gunzipSync(readFileSync(await download.path())).toString().trimEnd().split("\n").map(line => JSON.parse(line))
  assert.equal(lines.length, 600)
  assert.ok(lines.some(bird => bird["@metadata"]["@id"] === "birds/599" && bird.home.city === "Ulm"))
})

test("All complete lines of a truncated compressed file are stored, also if the node reads slowly", async () => {
  const administer = (method, path, body) => fetch(`${base}/admin/databases${path}`, { method, body: JSON.stringify(body) })
  assert.equal((await administer("PUT", "?name=Torn&replicationFactor=1", { DatabaseName: "Torn" })).status, 201)
  const filler = "x".repeat(2_000)
  const lines = Array.from({ length: 2_000 }, (_, at) => JSON.stringify({ at, filler }))
  const packed = gzipSync(lines.join("\n"))
  const cut = packed.subarray(0, packed.length - 100)
  const whole = gunzipSync(cut, { finishFlush: constants.Z_SYNC_FLUSH }).toString().split("\n").length - 1
  assert.ok(whole > 1_000 && whole < 2_000, `${whole} lines are complete`)
  const file = join(folder, "torn.ndjson.gz")
  writeFileSync(file, cut)
  const isImport = url => url.pathname === "/databases/Torn/import"
  await page.route(isImport, async route => {
    // The delay lets the page read the file to its truncated end before the node gets the first part.
    await new Promise(done => setTimeout(done, 1_000))
    await route.continue()
  })
  await go("#/documents/Torn")
  await button("Import").click()
  await page.getByLabel("File").setInputFiles(file)
  await page.getByRole("button", { name: /^Import torn\.ndjson\.gz/ }).click()
  await button(/^Continue after line/).waitFor()
  const said = await page.getByText(/documents stored, .* lines read/).innerText()
  assert.equal(said.replaceAll(",", ""), `${whole} documents stored ${whole} lines read.`)
  await page.unroute(isImport)
  assert.equal((await administer("DELETE", "", { DatabaseNames: ["Torn"], HardDelete: true })).status, 200)
})

test("Field names that become known while the user types are offered", async () => {
  let letGo
  const held = new Promise(go => { letGo = go })
  const isSample = url => url.pathname === `/databases/${database}/queries`
  await page.route(isSample, async route => {
    await held
    await route.continue()
  })
  await go(`#/query/${database}?q=`)
  await page.reload()
  await text("Query in RQL").pressSequentially("from Birds where home.ci")
  letGo()
  await page.getByRole("option", { name: /home\.city/ }).waitFor()
  await page.keyboard.press("Escape")
  await page.unroute(isSample)
  await text("Query in RQL").fill("")
})

test("A list of suggestions that Escape closed stays closed when more suggestions become known", async () => {
  let letGo
  const held = new Promise(go => { letGo = go })
  const isSample = url => url.pathname === `/databases/${database}/queries`
  await page.route(isSample, async route => {
    await held
    await route.continue()
  })
  await go(`#/query/${database}?q=`)
  await page.reload()
  await text("Query in RQL").pressSequentially("from Birds whe")
  const option = page.getByRole("option", { name: /where/ })
  await option.waitFor()
  await page.keyboard.press("Escape")
  await option.waitFor({ state: "detached" })
  const answered = page.waitForResponse(response => isSample(new URL(response.url())))
  letGo()
  await (await answered).finished()
  // Time for the page to process the answer and to draw.
  await page.evaluate(() => new Promise(done => setTimeout(done, 300)))
  assert.equal(await option.count(), 0)
  await page.unroute(isSample)
  await text("Query in RQL").fill("")
})

test("A query is completed, run, and shown as a table and as JSON", async () => {
  await go(`#/query/${database}`)
  const query = text("Query in RQL")
  await query.fill("")
  await query.pressSequentially("from bi")
  await page.getByRole("option", { name: /Birds/ }).waitFor()
  await page.keyboard.press("Enter")
  assert.equal(await query.inputValue(), "from Birds")
  await page.waitForFunction(() => performance.getEntriesByType("resource").some(entry => entry.name.includes("/queries")))
  await query.pressSequentially(" where home.ci")
  await page.getByRole("option", { name: /home\.city/ }).waitFor()
  await page.keyboard.press("Tab")
  await query.pressSequentially(" = $city order by age as long desc")
  await button("Put it in").click()
  await text("Parameters as JSON").fill('{"city": "Köln"}')
  await query.press("Control+Enter")
  await page.getByRole("heading", { name: "300 results" }).waitFor()
  const table = page.getByRole("group", { name: "Results" })
  assert.match(await table.getByRole("row").nth(1).innerText(), /birds\/48\s+Bird 48\s+48/)
  await page.getByText("finding").waitFor()
  await isAccessible("a query")
  await button("Next").click()
  await page.getByText("51–100 of 300").waitFor()
  await page.getByRole("radio", { name: "JSON" }).check({ force: true })
  assert.match(await text("Results as JSON").inputValue(), /"city": "Köln"/)
})

test("The results and the current page stay when the next page or the plan cannot be loaded", async () => {
  const query = text("Query in RQL")
  await unavailableFor(`/databases/${database}/queries`, async () => {
    for (const name of ["Next", "Explain"]) {
      await button(name).click()
      await page.getByText("Nobody leads now.").waitFor()
      await page.getByText("51–100 of 300").waitFor()
      assert.equal(await page.getByRole("heading", { name: "300 results" }).count(), 1)
      // Typing removes the error message.
      await query.fill(await query.inputValue())
      await query.press("Escape")
      await page.getByText("Nobody leads now.").waitFor({ state: "detached" })
    }
  })
  await button("Next").click()
  await page.getByText("101–150 of 300").waitFor()
})

test("The line for the shell sends the same query", async () => {
  await page.getByText("As a line for the shell").click()
  const line = await page.locator(".copyable code").innerText()
  const answer = JSON.parse(execFileSync("sh", ["-c", line.replace("curl ", "curl -sf ")]))
  assert.equal(answer.TotalResults, 300)
})

test("Explain says which index would answer", async () => {
  await button("Explain").click()
  await page.getByRole("region", { name: "Plan" }).getByText("Answered from").waitFor()
  const rows = page.getByRole("group", { name: "Reasons" }).getByRole("row")
  await rows.nth(1).waitFor()
  const answering = await page.getByRole("region", { name: "Plan" }).locator("dd").first().innerText()
  const marked = rows.filter({ hasText: "✓" })
  assert.equal(await marked.count(), 1)
  assert.equal((await marked.getByRole("cell").allInnerTexts())[1], answering)
})

test("An error in a query is marked at its position in the typed text", async () => {
  const query = text("Query in RQL")
  await page.getByRole("heading", { name: "300 results" }).waitFor()
  await query.fill("from Birds\nwhere age > > 5\nlimit 3")
  await query.press("Control+Enter")
  await page.getByText("'>' stands where a value must stand.").waitFor()
  assert.equal(await page.locator(".code-colours .code-wrong").first().innerText(), ">")
  assert.equal(await page.locator(".code-numbers .wrong").first().innerText(), "2")
  assert.equal(await page.getByRole("heading", { name: /results?$/ }).count(), 0, "the results of the previous query are removed")

  assert.ok(await page.getByLabel("Timings").isChecked())
  await query.fill("from Birds where")
  await query.press("Control+Enter")
  await page.getByRole("alert").waitFor()
  assert.equal(await page.locator(".code-numbers .wrong").first().innerText(), "1")
})

test("A text that is too long to be edited is reported instead of shown as empty", async () => {
  const paste = (label, length) => text(label).evaluate((area, length) => {
    area.value = `{"a":"${"x".repeat(length)}"}`
    area.dispatchEvent(new InputEvent("input", { bubbles: true }))
  }, length)
  await go(`#/query/${database}?q=`)
  await paste("Query in RQL", 3_000_000)
  await page.getByText("This query has 3,000,008 characters, which is too long to be shown and edited here. A node takes 262,144 at most").waitFor()
  assert.ok(await button("Run").isDisabled())
  await button("Empty it").click()
  assert.equal(await text("Query in RQL").inputValue(), "")

  await go(`#/document/${database}`)
  await paste("Document as JSON", 3_000_000)
  await page.getByText("Long lines are cut off here").waitFor()
  assert.match(await page.locator(".code-colours").innerText(), /^\{"a":"x{233}…$/)
  page.once("dialog", leaving => leaving.accept())
  await go(`#/query/${database}`)
})

test("A page of a missing database says that it does not exist, and links to the existing ones", async () => {
  for (const hash of ["#/documents/Nowhere", "#/query/Nowhere", "#/indexes/Nowhere", "#/document/Nowhere/a"]) {
    await page.goto(`${base}/${hash}`)
    await page.getByText("There is no database Nowhere.").waitFor()
    assert.equal(await page.getByRole("link", { name: "All databases" }).getAttribute("href"), "#/documents")
  }

  await isAccessible("no such database")

  // A database that was created just now is not reported as missing.
  await fetch(`${base}/admin/databases?name=Nest`, { method: "PUT", body: '{"DatabaseName":"Nest"}' })
  await go("#/query/Nest")
  await text("Query in RQL").waitFor()
  await go(`#/query/${database}`)
  await fetch(`${base}/admin/databases`, { method: "DELETE", body: '{"DatabaseNames":["Nest"],"HardDelete":true}' })

  // Neither is a database while the node cannot list the databases.
  await fetch(`${base}/admin/databases?name=Eyrie`, { method: "PUT", body: '{"DatabaseName":"Eyrie"}' })
  await unavailableFor("/databases", async () => {
    await go("#/query/Eyrie")
    await page.getByText("Nobody leads now.").waitFor()
    assert.equal(await page.getByText("There is no database Eyrie.").count(), 0)
    await text("Query in RQL").waitFor()
  })
  await button("Try again").click()
  await page.getByText("Nobody leads now.").waitFor({ state: "detached" })
  await text("Query in RQL").waitFor()
  await go(`#/query/${database}`)
  await fetch(`${base}/admin/databases`, { method: "DELETE", body: '{"DatabaseNames":["Eyrie"],"HardDelete":true}' })
})

test("A patch and a deletion by query are counted first and confirmed by name", async () => {
  const query = text("Query in RQL")
  await query.fill("from Birds as b where b.age < 10 update { b.young = true; }")
  await button("Patch what it finds …").click()
  await dialog().getByText("120 documents").waitFor()
  assert.ok(await dialog().getByRole("button", { name: "Patch 120" }).isDisabled())
  await dialog().getByLabel(`To confirm, type ${database}`).fill(database)
  await dialog().getByRole("button", { name: "Patch 120" }).click()
  await said("120 documents patched.")
  assert.match(await stored("birds/3"), /"young":\s*true/)

  await query.fill("from Birds where young = true limit 20")
  await choose("More actions on this query", "Delete what it finds …")
  await dialog().getByText("20 documents").waitFor()
  await dialog().getByLabel(`To confirm, type ${database}`).fill(database)
  await dialog().getByRole("button", { name: "Delete 20" }).click()
  await said("20 documents deleted.")
  await page.getByText("Done", { exact: true }).waitFor()
  const { TotalResults } = await (await rest("POST", "queries", { Query: "from Birds", PageSize: 0 })).json()
  assert.equal(TotalResults, 580)
})

test("A long change by query is stopped, and the changes made so far remain", async () => {
  const query = text("Query in RQL")
  await query.fill("from Birds update { this.slow = true; }")
  await button("Patch what it finds …").click()
  await dialog().getByLabel("Documents a second, at most").fill("40")
  await dialog().getByLabel(`To confirm, type ${database}`).fill(database)
  await dialog().getByRole("button", { name: /^Patch/ }).click()
  const panel = page.getByRole("region", { name: "Patching by query" })
  await panel.getByRole("button", { name: "Stop" }).click()
  await panel.getByText("Stopped: the changes so far remain").waitFor()
  const { TotalResults } = await (await rest("POST", "queries", { Query: "from Birds where slow = true", PageSize: 0 })).json()
  assert.ok(TotalResults < 580, `${TotalResults} of 580 were patched`)
})

test("An index is created from a template, and an error in it is marked", async () => {
  await go(`#/indexes/${database}?new=`)
  await page.getByLabel("Documents of").selectOption("Birds")
  await isAccessible("templates of indexes")
  await button("Begin with this: Map in JavaScript").click()
  await text("Name").fill("Birds/ByCity")
  await text("Map 1").fill("map('Birds', b => ({\n  city: b.home.city, while\n}))")
  await button("Create index").click()
  await page.getByText("'while' is no variable").waitFor()
  assert.equal(await page.locator(".code-numbers .wrong").innerText(), "2")
  await text("Map 1").fill("map('Birds', b => ({\n  city: b.home.city\n}))")
  await button("Create index").click()
  await page.getByRole("heading", { name: "Birds/ByCity" }).waitFor()
  await page.getByText("up to date").waitFor({ timeout: 60_000 })
  await page.getByRole("tab", { name: "Terms" }).click()
  await page.getByRole("listitem").filter({ hasText: "köln" }).waitFor()
  await isAccessible("an index")
})

test("An index is paused and resumed, locked, edited and deleted", async () => {
  await button("Pause Birds/ByCity").click()
  await page.getByText("paused", { exact: true }).waitFor()
  await button("Resume Birds/ByCity").click()
  await page.getByText("up to date").waitFor()
  await page.getByLabel("Priority").selectOption("Low")
  await go(`#/indexes/${database}`)
  await page.getByText("low priority").waitFor()
  await isAccessible("indexes")
  await page.getByRole("link", { name: "Birds/ByCity" }).click()
  await text("Map 1").fill("map('Birds', b => ({\n  city: b.home.city,\n  age: b.age\n}))")
  await button("Save definition").click()
  await said("being built beside the old one")
  await page.getByText("being replaced").waitFor({ state: "detached", timeout: 60_000 })
  await page.getByText("up to date").waitFor({ timeout: 60_000 })
  await button("Delete Birds/ByCity").click()
  await dialog().getByRole("button", { name: "Delete", exact: true }).click()
  await page.getByRole("heading", { name: `Indexes of ${database}` }).waitFor()
  await page.getByRole("link", { name: "Birds/ByCity" }).waitFor({ state: "detached" })
})

test("Every page fits a phone of 360 pixels, in the dark theme too", async () => {
  await page.setViewportSize({ width: 360, height: 740 })
  await page.emulateMedia({ colorScheme: "dark" })
  for (const hash of ["#/documents", `#/documents/${database}/Birds`, `#/document/${database}/birds%2F599`, `#/query/${database}?q=from%20Birds`, `#/indexes/${database}`, `#/indexes/${database}?new=`]) {
    await go(hash)
    await page.locator("main").getByText("Loading …").first().waitFor({ state: "detached" })
    await page.locator("main .panel").first().waitFor()
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 360, `${hash} is wider than the screen`)
    await isAccessible(`phone ${hash}`)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

test("A database is deleted by typing its name", async () => {
  await go("#/documents")
  await choose(`Actions on ${database}`, "Delete …")
  await dialog().getByLabel(`To confirm, type ${database}`).fill("aviary")
  assert.ok(await dialog().getByRole("button", { name: "Delete it" }).isDisabled())
  await dialog().getByLabel(`To confirm, type ${database}`).fill(database)
  await dialog().getByLabel(`To confirm, type ${database}`).press("Enter")
  await said(`${database} is deleted.`)
  assert.equal((await rest("GET", "docs?id=birds/1")).status, 503)
})

test("The page logged no error and sent requests only to its node", () => {
  assertNoErrors(opened.wrong)
})
