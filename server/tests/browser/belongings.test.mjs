// Attachments, counters and revisions of a document, and the page of a database, in a real browser against a real node.
// The tests run in order: each continues with the documents of those before it.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { after, before, test } from "node:test"
import { assertAccessible, goTo, openPageOnNode } from "./page-on-node.mjs"
import { assertNoErrors } from "./recorded-errors.mjs"

const database = "Gallery"
const asked = []
let opened
let page

before(async () => {
  opened = await openPageOnNode({ isProvoked: message => message.text().includes("ERR_FAILED") })
  page = opened.page
  await page.request.put(`${opened.base}/admin/databases?name=${database}`, { data: { DatabaseName: database } })
  page.on("request", request => asked.push(new URL(request.url()).pathname))
})

after(() => opened?.close())

const rest = async (method, path, body) => {
  const answer = await fetch(`${opened.base}/databases/${database}/${path}`, { method, ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }) })
  return { status: answer.status, text: await answer.text() }
}
const put = text => rest("PUT", "docs?id=photos/1", text)
const stored = async () => JSON.parse((await rest("GET", "docs?id=photos/1")).text).Results[0]
const go = hash => goTo(page, `${opened.base}/${hash}`)
const button = name => page.getByRole("button", { name, exact: true })
const dialog = title => page.getByRole("dialog", { name: title })
const said = words => page.locator(".toast", { hasText: words }).first().waitFor()
const confirm = (title, verb) => dialog(title).getByRole("button", { name: verb, exact: true }).click()
const panel = name => page.getByRole("region", { name })
const editor = () => page.getByRole("textbox", { name: "Document as JSON", exact: true })
const choose = async (menu, action) => {
  await button(menu).click()
  await page.getByRole("menuitem", { name: action, exact: true }).click()
}
/** Messages stay for some seconds, and may cover what a test presses next. */
const closeToasts = () => page.evaluate(() => {
  for (const close of document.querySelectorAll(".toast [aria-label=Close]")) close.click()
})
const attach = (...files) => page.getByLabel("Files to attach").setInputFiles(files.map(([name, text]) => ({ name, mimeType: "text/plain", buffer: Buffer.from(text) })))

test("A rule of revisions is added on the page of the database", async () => {
  await go(`#/database/${database}`)
  await page.getByText("No earlier versions of documents are kept.").waitFor()
  await button("Add a rule").click()
  await dialog("New rule of revisions").getByLabel("All of the last").fill("14")
  await button("Save").click()
  await page.getByText("the newest 50, and all of the last 14 days").waitFor()
  assert.deepEqual(JSON.parse((await rest("GET", "revisions/config")).text), {
    Default: { Disabled: false, MinimumRevisionsToKeep: 50, MinimumRevisionAgeToKeep: "14.00:00:00", PurgeOnDelete: false, MaximumRevisionsToDeleteUponDocumentUpdate: null },
    Collections: {},
  })
  await choose("Actions on Refresh", "Change …")
  await dialog("Refresh").getByRole("checkbox").check()
  await dialog("Refresh").getByLabel("Look every").fill("5")
  await button("Save").click()
  await page.getByRole("row", { name: "Refresh" }).getByText("5 s").waitFor()
  await assertAccessible(page, "the settings")
})

test("The page requests nothing of what a document's flags do not name", async () => {
  await rest("POST", "admin/revisions/config", {})
  await put('{"title":"Clouds"}')
  asked.length = 0
  await go(`#/document/${database}/photos%2F1`)
  await page.getByRole("heading", { name: "photos/1" }).waitFor()
  assert.deepEqual(asked.filter(path => /attachments|counters|revisions/.test(path)), [])
})

test("A file is attached and downloaded while the text has changes, which are stored without a conflict", async () => {
  await editor().fill('{"title":"Clouds over the sea"}')
  await attach(["a & b.txt", "first"], ["empty.txt", ""])
  await said("2 files are attached.")
  await button("Save").click()
  await said("photos/1 is stored.")
  assert.deepEqual((await stored())["@metadata"]["@attachments"].map(({ Name, Size }) => [Name, Size]), [["a & b.txt", 5], ["empty.txt", 0]])
  assert.equal((await stored()).title, "Clouds over the sea")
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "a & b.txt" }).click()])
  assert.equal(file.suggestedFilename(), "a & b.txt")
  assert.equal(readFileSync(await file.path(), "utf8"), "first")
})

test("An attachment is replaced only if the user says so", async () => {
  await attach(["A & B.txt", "second"])
  await dialog("Replace A & B.txt?").waitFor()
  assert.equal((await rest("GET", "attachments?id=photos/1&name=a%20%26%20b.txt")).text, "first")
  await confirm("Replace A & B.txt?", "Replace")
  await said("A & B.txt is attached.")
  assert.equal((await rest("GET", "attachments?id=photos/1&name=a%20%26%20b.txt")).text, "second")
  await choose("Actions on empty.txt", "Delete …")
  await confirm("Delete empty.txt?", "Delete")
  await said("empty.txt is deleted.")
  await page.getByRole("link", { name: "empty.txt" }).waitFor({ state: "detached" })
})

test("A counter is created and raised with all its digits, and a repetition counts once", async () => {
  await choose("Add to photos/1", "New counter …")
  await dialog("New counter").getByLabel("Name").fill("likes")
  await dialog("New counter").getByLabel("Value").fill("9007199254740993")
  await confirm("New counter", "Create")
  await panel("Counters").getByText("9,007,199,254,740,993").waitFor()
  let isLost = true
  await page.route("**/counters", async route => {
    if (route.request().method() !== "POST" || !isLost) return route.continue()
    isLost = false
    await route.fetch()
    return route.abort()
  })
  await choose("Actions on likes", "Add to it …")
  await confirm("Add to likes", "Add")
  await dialog("Add to likes").getByText("It is not known whether it was counted").waitFor()
  await confirm("Add to likes", "Add")
  await panel("Counters").getByText("9,007,199,254,740,994").waitFor()
  await page.unroute("**/counters")
  assert.match((await rest("GET", "counters?docId=photos/1")).text, /"TotalValue":9007199254740994/)
})

test("Two revisions are compared, and the chosen one is restored", async () => {
  await choose("Add to photos/1", "Keep this version")
  await said("This version is kept as a revision.")
  await editor().fill('{"title":"Rain"}')
  await button("Save").click()
  await said("photos/1 is stored.")
  await choose("Add to photos/1", "Keep this version")
  await closeToasts()
  await panel("Revisions (2)").locator(".as-link").last().click()
  await page.locator("tr.diff-left", { hasText: "Clouds over the sea" }).waitFor()
  await page.locator("tr.diff-right", { hasText: "Rain" }).waitFor()
  await assertAccessible(page, "a comparison", [["dialog"]])
  await page.getByRole("button", { name: "Restore the one of" }).click()
  await confirm(/^Restore photos.1 as of/, "Restore")
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("Clouds over the sea"))
  assert.equal((await stored()).title, "Clouds over the sea")
})

test("A deleted document is restored with its attachments and counters", async () => {
  await rest("POST", "admin/revisions/config", { Default: { Disabled: false } })
  await put('{"title":"Clouds at last"}')
  await rest("DELETE", "docs?id=photos/1")
  await go(`#/database/${database}/deleted`)
  await button("Restore photos/1").click()
  await page.getByRole("button", { name: "Restore the one of" }).click()
  // A document that somebody stored meanwhile is not replaced.
  await put('{"title":"Another"}')
  await confirm(/^Restore photos.1 as of/, "Restore")
  await page.getByText("photos/1 was stored again meanwhile").waitFor()
  assert.equal((await stored()).title, "Another")
  await rest("DELETE", "docs?id=photos/1")
  await confirm(/^Restore photos.1 as of/, "Restore")
  await page.getByText("No deleted document can be restored.").waitFor()
  const { title, "@metadata": metadata } = await stored()
  assert.deepEqual([title, metadata["@attachments"].length, metadata["@counters"]], ["Clouds at last", 1, ["likes"]])
})

test("A subscription is disabled, enabled and deleted", async () => {
  await rest("PUT", "subscriptions", { Name: "new photos", Query: "from Photos" })
  await go(`#/database/${database}/subscriptions`)
  const state = async () => JSON.parse((await rest("GET", "subscriptions/state?name=new%20photos")).text)
  for (const [action, word] of [["Disable", "disabled"], ["Enable", "enabled"]]) {
    await choose("Actions on new photos", action)
    await said(`new photos is ${word}.`)
    assert.equal((await state()).Disabled, word === "disabled")
  }

  await choose("Actions on new photos", "End its connections")
  await said("The connections of new photos are ended.")
  await choose("Actions on new photos", "From the beginning …")
  await confirm("Send all of new photos again?", "From the beginning")
  await said("new photos begins anew.")
  await assertAccessible(page, "the subscriptions")
  await choose("Actions on new photos", "Delete …")
  await confirm("Delete the subscription new photos?", "Delete")
  await page.getByText("There is no subscription.").waitFor()
})

test("A token that only reads is offered no action", async () => {
  await page.route("**/session", async route => route.fulfill({ json: { ...(await (await route.fetch()).json()), Scopes: ["read", "metrics"] } }))
  await page.goto("about:blank")
  await go(`#/document/${database}/photos%2F1`)
  await panel("Counters").getByText("likes").waitFor()
  assert.deepEqual(await page.getByRole("main").getByRole("button").allInnerTexts().then(all => all.filter(one => /add|attach|new|⋯|save|delete/i.test(one))), [])
  await panel(/^Revisions/).locator(".as-link").first().click()
  await page.getByRole("button", { name: "Close" }).last().waitFor()
  assert.equal(await page.getByRole("button", { name: "Restore" }).count(), 0)
  await page.goto("about:blank")
  await go(`#/database/${database}`)
  await page.getByRole("row", { name: "Expiration" }).waitFor()
  assert.equal(await button("Add a rule").count(), 0)
  assertNoErrors(opened.wrong)
})
