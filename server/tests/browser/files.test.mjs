// Lists of documents, imports from files and exports to files, in a real browser against a real node.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { after, before, test } from "node:test"
import { assertAccessible, goTo, openPageOnNode } from "./page-on-node.mjs"
import { assertNoErrors } from "./recorded-errors.mjs"

const database = "Files"
let opened
let base
let page

before(async () => {
  opened = await openPageOnNode()
  base = opened.base
  page = opened.page
  await fetch(`${base}/admin/databases?name=${database}`, { method: "DELETE", body: JSON.stringify({ DatabaseNames: [database], HardDelete: true }) })
  await fetch(`${base}/admin/databases?name=${database}`, { method: "PUT", body: JSON.stringify({ DatabaseName: database }) })
})

after(async () => {
  await fetch(`${base}/admin/databases`, { method: "DELETE", body: JSON.stringify({ DatabaseNames: [database], HardDelete: true }) }).catch(() => {})
  await opened?.close()
})

const go = hash => goTo(page, `${base}/${hash}`)
const isAccessible = where => assertAccessible(page, where)
const stored = async id => (await fetch(`${base}/databases/${database}/docs?id=${encodeURIComponent(id)}`)).json().then(({ Results }) => Results[0])
const put = (id, document) => fetch(`${base}/databases/${database}/docs?id=${encodeURIComponent(id)}`, { method: "PUT", body: JSON.stringify(document) })

async function importing(name, text) {
  await page.getByLabel("File", { exact: true }).setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(text) })
}

test("CSV, arrays and lines of JSON are imported in the browser", async () => {
  await go(`#/documents/${database}?open=import`)
  await importing("small cities.csv", '@id;name;people;code;note\ncities/1;Köln;1085664;50667;"a; b"\ncities/2;Ulm;126405;007;\n')
  assert.equal(await page.getByLabel("Collection", { exact: true }).inputValue(), "SmallCities")
  await page.getByLabel("Collection", { exact: true }).fill("Cities")
  await isAccessible("import of CSV")
  await page.getByRole("button", { name: /^Import small cities\.csv/ }).click()
  await page.getByText("2 documents stored, 2 documents read.").waitFor()
  const [first, second] = [await stored("cities/1"), await stored("cities/2")]
  assert.deepEqual([first.name, first.people, first.code, first.note, first["@metadata"]["@collection"]], ["Köln", 1085664, "50667", "a; b", "Cities"])
  assert.deepEqual([second.people, second.code, "note" in second], [126405, "007", false])
  await importing("birds.json", '[{"name":"Anna","@metadata":{"@id":"birds/1","@collection":"Birds"}},\n{"name":"Ben","@metadata":{"@id":"birds/2","@collection":"Birds"}}]')
  await page.getByRole("button", { name: /^Import birds\.json/ }).click()
  await page.getByText("2 documents stored, 2 documents read.").waitFor()
  await importing("more.ndjson", '{"name":"Cid","@metadata":{"@id":"birds/3","@collection":"Birds"}}\n')
  await page.getByRole("button", { name: /^Import more\.ndjson/ }).click()
  await page.getByText("1 documents stored, 1 lines read.").waitFor()
})

test("A wrong row of CSV is listed, and all others are stored", async () => {
  await importing("wrong.csv", "@id,n\nrows/1,1\nrows/2,2,3\nrows/3,3\n,\n")
  await page.getByRole("button", { name: /^Import wrong\.csv/ }).click()
  await page.getByText("2 documents stored, 1 bad document left out, 3 documents read.").waitFor()
  await page.getByRole("group", { name: "Bad documents" }).getByText("Row 3 has 3 values, and the first row names 2 columns.").waitFor()
  assert.deepEqual([(await stored("rows/1")).n, (await stored("rows/3")).n], [1, 3])
})

test("A missing quotation mark ends the import with an error that names the row, and nothing is stored", async () => {
  await importing("torn.csv", '@id,note\ntorn/1,"foo\ntorn/2,"bar\n')
  await page.getByRole("button", { name: /^Import torn\.csv/ }).click()
  await page.getByRole("alert").getByText("Row 2: 'b' follows a closing quotation mark.").waitFor()
  assert.equal((await fetch(`${base}/databases/${database}/docs?id=torn/1`)).status, 404)
})

test("A projected result does not replace its document when it is imported", async () => {
  await importing("projected.ndjson", '{"n":7,"@metadata":{"@projection":true,"@id":"rows/1"}}\n{"n":8,"@metadata":{"@id":"rows/8"}}\n')
  await page.getByRole("button", { name: /^Import projected\.ndjson/ }).click()
  await page.getByText("1 documents stored, 1 bad line left out, 2 lines read.").waitFor()
  await page.getByRole("group", { name: "Bad lines" }).getByText("would replace the whole document").waitFor()
  assert.deepEqual([(await stored("rows/1")).n, (await stored("rows/8")).n], [1, 8])
})

test("All documents are listed newest first or by id, and the choice is remembered", async () => {
  await put("aaa/1", { name: "last" })
  await go(`#/documents/${database}`)
  await page.reload()
  const first = page.getByRole("row").nth(1).getByRole("link").first()
  await page.getByRole("link", { name: "aaa/1" }).waitFor()
  assert.equal(await first.innerText(), "aaa/1")
  await put("birds/1", { name: "Anna again", "@metadata": { "@collection": "Birds" } })
  await page.getByRole("button", { name: "Read again" }).click()
  await page.waitForFunction(() => document.querySelector("tbody tr a")?.textContent === "birds/1")
  await page.getByLabel("Order").selectOption("By id")
  await page.waitForFunction(() => document.querySelector("tbody tr a")?.textContent === "aaa/1")
  await page.reload()
  await page.waitForFunction(() => document.querySelector("tbody tr a")?.textContent === "aaa/1")
  await page.getByLabel("Order").selectOption("Newest first")
  await page.waitForFunction(() => document.querySelector("tbody tr a")?.textContent === "birds/1")
})

test("Opening a collection creates no index", async () => {
  await go(`#/documents/${database}/Birds`)
  await page.getByRole("link", { name: "birds/2" }).waitFor()
  assert.deepEqual((await (await fetch(`${base}/databases/${database}/indexes?namesOnly=true`)).json()).Results, [])
})

test("Newest first is chosen for one collection only, because each ordered query creates an index", async () => {
  const queries = []
  const keep = request => { if (request.url().includes("/queries")) queries.push(request.postDataJSON().Query) }
  page.on("request", keep)
  await go(`#/documents/${database}/Cities`)
  await page.getByRole("link", { name: "cities/1" }).waitFor()
  await Promise.all([page.waitForRequest(request => request.postData()?.includes("order by") ?? false), page.getByLabel("Order").selectOption("Newest first")])
  await go(`#/documents/${database}/Birds`)
  await page.getByRole("link", { name: "birds/2" }).waitFor()
  assert.equal(await page.getByLabel("Order").inputValue(), "plain")
  assert.deepEqual(queries.filter(query => query.includes("Birds") && query.includes("order by")), [])
  await go(`#/documents/${database}/Cities`)
  await page.getByRole("link", { name: "cities/1" }).waitFor()
  assert.equal(await page.getByLabel("Order").inputValue(), "newest")
  page.off("request", keep)
})

test("Chosen columns show fields, and a press on a title orders the whole collection", async () => {
  for (let n = 1; n <= 60; n++) await put(`parcels/${n}`, { weight: n, to: { city: n % 2 ? "Ulm" : "Elm" }, "@metadata": { "@collection": "Parcels" } })
  await go(`#/documents/${database}/Parcels`)
  await page.getByText("Columns", { exact: true }).click()
  await page.getByLabel("weight").check()
  await page.getByLabel("to.city").check()
  const first = words => page.waitForFunction(text => document.querySelector("tbody tr")?.textContent.includes(text), words)
  await page.getByRole("button", { name: "weight" }).click()
  await first("parcels/1")
  await page.getByRole("button", { name: "weight" }).click()
  await first("parcels/60")
  assert.equal(await page.getByRole("columnheader", { name: "weight" }).getAttribute("aria-sort"), "descending")
  await page.reload()
  await first("parcels/60")
  assert.match(await page.getByRole("row").nth(1).innerText(), /60\s+Elm/)
})

test("A preview counts arrays and ends in …, and on a phone the content is below the id", async () => {
  await put("orders/1", { company: "companies/1", lines: [1, 2, 3, 4], text: "x".repeat(500), more: "y".repeat(50), "@metadata": { "@collection": "Orders" } })
  await go(`#/documents/${database}/Orders`)
  const preview = page.locator("td > .preview")
  assert.match(await preview.innerText(), /^company: "companies\/1", lines: \[4\], text: "x+…, more: "y+…$/)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.locator(".document-id > .preview").getByText("lines: [4]").waitFor()
  assert.equal(await preview.isVisible(), false)
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
  await isAccessible("documents on a phone")
  await page.setViewportSize({ width: 1280, height: 800 })
})

test("All results of a query are downloaded as JSON, NDJSON and CSV, not only those of the page", async () => {
  const lines = Array.from({ length: 120 }, (_, n) => JSON.stringify({ n: 12345678901234567000 + n, name: `a, ${n}`, "@metadata": { "@id": `many/${n}`, "@collection": "Many" } }))
  await fetch(`${base}/databases/${database}/import`, { method: "POST", body: lines.join("\n") })
  await go(`#/query/${database}?q=${encodeURIComponent("from Many")}`)
  await page.getByText("120 results", { exact: true }).waitFor()
  const got = {}
  for (const form of ["JSON", "NDJSON", "CSV"]) {
    await page.getByRole("button", { name: "Download" }).click()
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: form, exact: true }).click()])
    assert.equal(download.suggestedFilename(), `${database}-results.${form.toLowerCase()}`)
    got[form] = readFileSync(await download.path(), "utf8")
  }

  assert.equal(JSON.parse(got.JSON).length, 120)
  assert.equal(got.NDJSON.trim().split("\n").length, 120)
  const csv = got.CSV.trim().split("\r\n")
  assert.deepEqual([csv.length, csv[0], csv.find(line => line.startsWith("many/7,"))], [121, '"@id","@collection","n","name"', 'many/7,Many,12345678901234567000,"a, 7"'])
})

test("A document that was downloaded as CSV is the same after importing it", async () => {
  const values = { zip: "10115", yes: "true", none: "null", empty: "", list: "[1]", n: 1e5, real: [1, { q: "x, y" }], nothing: null }
  await put("same/1", { ...values, "@metadata": { "@collection": "Same", "@expires": "2999-01-01T00:00:00.0000000Z" } })
  await go(`#/query/${database}?q=${encodeURIComponent("from Same")}`)
  await page.getByText("1 result", { exact: true }).waitFor()
  await page.getByRole("button", { name: "Download" }).click()
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "CSV", exact: true }).click()])
  const csv = readFileSync(await download.path(), "utf8")
  await put("same/1", { other: 1 })
  await go(`#/documents/${database}?open=import`)
  await importing("same.csv", csv)
  await page.getByRole("button", { name: /^Import same\.csv/ }).click()
  await page.getByText("1 documents stored, 1 documents read.").waitFor()
  const { "@metadata": metadata, ...document } = await stored("same/1")
  assert.deepEqual(document, values)
  assert.deepEqual([metadata["@collection"], metadata["@expires"]], ["Same", "2999-01-01T00:00:00.0000000Z"])
})

test("A download from a stale index says so or waits, and a download with missing results fails", async () => {
  const bodies = []
  let stats = { IsStale: true, TotalResults: 2 }
  await page.route("**/streams/queries?*", route => {
    bodies.push(route.request().postDataJSON())
    return route.fulfill({ body: `{"Stats":${JSON.stringify(stats)}}\n{"Item":{"a":1}}\n`, contentType: "application/x-ndjson" })
  })
  await go(`#/query/${database}?q=${encodeURIComponent("from Many where n > 1")}`)
  const download = async () => {
    await page.getByRole("button", { name: "Download" }).click()
    await page.getByRole("menuitem", { name: "NDJSON", exact: true }).click()
  }
  await Promise.all([page.waitForEvent("download"), download()])
  await page.locator(".toast.bad").getByText("1 results downloaded, 8 B. The index was stale: the last writes may be missing.").waitFor()
  stats = { IsStale: false, TotalResults: 2 }
  await download()
  await page.locator(".toast.bad").getByText("The node sent 1 of 2 results.").waitFor()
  await page.getByLabel("Wait for the index").check()
  await page.getByRole("button", { name: "Run" }).click()
  await page.getByText("120 results", { exact: true }).waitFor()
  stats = { IsStale: false, TotalResults: 1 }
  await Promise.all([page.waitForEvent("download"), download()])
  assert.deepEqual(bodies.map(body => body.WaitForNonStaleResults ?? false), [false, false, true])
  await page.unroute("**/streams/queries?*")
})

test("A menu is used by keyboard, and dangerous actions are last in a menu and not beside Run", async () => {
  await go("#/documents")
  const menu = page.getByRole("button", { name: `Actions on ${database}` })
  await menu.focus()
  await page.keyboard.press("Enter")
  // A closed menu's entry is removed from the history a little later. Until then, one step back may go back twice.
  const closed = async () => {
    await page.getByRole("menu").waitFor({ state: "detached" })
    await page.waitForFunction(() => !history.state?.sheet)
  }
  const focused = () => page.evaluate(() => document.activeElement.innerText.trim())
  await page.getByRole("menu").waitFor()
  assert.equal(await focused(), "Query")
  await page.keyboard.press("ArrowUp")
  assert.equal(await focused(), "Delete …")
  await page.keyboard.press("i")
  assert.equal(await focused(), "Indexes")
  await isAccessible("an open menu")
  await page.keyboard.press("Escape")
  await closed()
  assert.ok(await menu.evaluate(button => button === document.activeElement))
  await menu.click()
  await page.getByRole("menu").waitFor()
  await page.goBack()
  await closed()
  assert.equal(new URL(page.url()).hash, "#/documents")
  assert.ok(await menu.evaluate(button => button === document.activeElement), "Back lost the focus")
  await page.keyboard.press("Enter")
  await page.getByRole("menu").waitFor()
  await page.setViewportSize({ width: 1270, height: 800 })
  await closed()
  assert.ok(await menu.evaluate(button => button === document.activeElement), "a resize lost the focus")
  await page.keyboard.press("Enter")
  await page.getByRole("menu").waitFor()
  await page.keyboard.press("i")
  await page.keyboard.press(" ")
  await page.getByRole("heading", { level: 1, name: "Indexes" }).waitFor()
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Documents" }).waitFor()
  assert.equal(new URL(page.url()).hash, "#/documents")
  await page.goForward()
  await page.getByRole("heading", { level: 1, name: "Indexes" }).waitFor()
  await page.goBack()
  await page.getByRole("heading", { level: 1, name: "Documents" }).waitFor()
  await menu.click()
  await page.getByRole("menuitem", { name: "Delete …" }).click()
  await page.getByRole("dialog", { name: `Delete the database ${database}?` }).waitFor()
  await page.keyboard.press("Escape")
  await go(`#/query/${database}?q=${encodeURIComponent("from Many")}`)
  assert.equal(await page.locator(".actions", { has: page.getByRole("button", { name: "Run" }) }).locator(".danger").count(), 0)
})

test("No page logged an error", () => assertNoErrors(opened.wrong))
