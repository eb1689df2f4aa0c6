// The frame and the pages of cluster and nodes in a real browser, on the mock node. It simulates states that a real
// cluster reaches only after minutes, and serves the built server/dashboard/dist.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { after, before, test } from "node:test"
import { launchBrowser, startMockNode } from "./page-on-mock.mjs"
import { assertNoErrors, recordErrors } from "./recorded-errors.mjs"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const Patience = 60_000
const started = []
const wrong = []
let browser
let open

before(async () => {
  browser = await launchBrowser()
  open = await play()
})

after(async () => {
  await browser?.close()
  for (const process of started) process.kill()
})

const play = (...options) => startMockNode(started, ...options)

/** The page for each size and colour scheme, and the only address to which it may send requests. Pages are reused, because a new one costs a browser process and a cold start. */
const shown = new Map()

async function show(base, hash, { width = 1280, height = 800, colorScheme = "light" } = {}) {
  const look = `${width} ${height} ${colorScheme}`
  const { page, only } = shown.get(look) ?? await openPage({ viewport: { width, height }, colorScheme })
  shown.set(look, { page, only })
  only.base = base
  await page.goto(`${base}/${hash}`)
  return page
}

async function openPage(options) {
  const page = await browser.newPage(options)
  const only = { base: "" }
  page.setDefaultTimeout(Patience)
  const isProvoked = message => /Failed to load resource: the server responded with a status of (401|501|503)/.test(message.text())
  recordErrors(page, wrong, { isProvoked, base: () => only.base })
  return { page, only }
}

/** Chooses an action in the menu of a row. */
async function choose(page, row, action) {
  await page.getByRole("button", { name: `Actions on ${row}` }).click()
  await page.getByRole("menuitem", { name: action }).click()
}

/** Leaves the page, and deletes what it stored in the browser. */
async function leave(page) {
  await page.evaluate(() => { localStorage.clear(); sessionStorage.clear() })
  await page.goto("about:blank")
}

async function waitFor(page, holds) {
  for (const deadline = performance.now() + Patience; !await holds();) {
    if (performance.now() > deadline) throw new Error(`This did not happen in time on ${page.url()}: ${holds}`)
    await new Promise(done => setTimeout(done, 100))
  }
}

async function waitUntil(holds, what) {
  for (const deadline = performance.now() + Patience; !holds();) {
    if (performance.now() > deadline) throw new Error(`This did not happen in time: ${what}`)
    await new Promise(done => setTimeout(done, 20))
  }
}

const change = (base, name) => fetch(`${base}/mock/scenario?name=${name}`, { method: "POST" })
const overflow = page => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)

async function findings(page) {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => (await globalThis.axe.run(document, { resultTypes: ["violations"] })).violations)
  return found.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`)
}

const pages = [
  ["#/", page => page.locator(".chart canvas").first().waitFor()],
  ["#/node/C", page => page.locator(".chart canvas").first().waitFor()],
  ["#/node/A", page => page.getByText("publish and subscribe").waitFor()],
  ["#/cluster", page => page.getByRole("table").waitFor()],
  ["#/cluster/access", page => page.getByText("shop-app").waitFor()],
  ["#/cluster/care", page => page.getByText("Everything is written at").waitFor()],
  ["#/logs", page => page.locator(".log-lines li").first().waitFor()],
  ["#/settings", page => page.getByRole("table").waitFor()],
  ["#/alerts", async page => {
    await page.getByText("conditions that are watched").click()
    await page.getByRole("table").waitFor()
  }],
]

for (const [look, options] of [["a bright PC", {}], ["a dark phone", { width: 360, height: 740, colorScheme: "dark" }]]) {
  test(`On ${look} every page is accessible and not wider than the screen`, async () => {
    await change(open, "one-dead")
    for (const [hash, isThere] of pages) {
      const page = await show(open, hash, options)
      await isThere(page)
      assert.deepEqual(await findings(page), [], hash)
      assert.ok(await overflow(page) <= 0, `${hash} is wider than ${look}`)
      await leave(page)
    }
  })
}

test("A dead node turns grey, shows its last figures, and links to its last hours", async () => {
  await change(open, "well")
  const page = await show(open, "#/")
  await page.getByText("All 3 nodes are well").waitFor()
  await change(open, "one-dead")
  const card = page.locator(".node-card.down")
  await card.getByText("Last heard").waitFor()
  await card.getByRole("link", { name: "Its last hours" }).click()
  await page.getByText("pi-3 is off, and was last heard").waitFor()
  assert.match(await page.locator(".figures").first().innerText(), /under-voltage/)
  await leave(page)
})

test("The page of a node shows what it serves Redis clients, or how to turn that on", async () => {
  await change(open, "well")
  const page = await show(open, "#/node/A")
  const panel = page.getByRole("region", { name: "Redis clients" })
  await panel.getByText("7 of at most 480").waitFor()
  assert.match(await panel.innerText(), /\[::\]:6379[^]*the node's certificate/)
  const rate = panel.getByRole("row", { name: /^strings/ }).getByRole("cell").nth(1)
  await waitFor(page, async () => /^3\d\/s$/.test(await rate.innerText()))
  await page.goto(`${open}/#/node/C`)
  await panel.getByText("This node serves no Redis clients.").waitFor()
  await panel.getByText("--redis 6379").waitFor()
  await panel.getByRole("link", { name: "How to use Redis clients" }).click()
  await page.waitForURL(/#\/help\/how-to\/redis\/start-it$/)
  await leave(page)
})

test("Each firing alert is a card that says what to do, and the conditions are shown on request", async () => {
  await change(open, "one-dead")
  const page = await show(open, "#/alerts")
  const cards = page.getByRole("list", { name: "Firing" })
  const card = cards.locator(".alert-card", { has: page.getByRole("heading", { name: "A member does not answer" }) })
  await card.getByText("pi-3 has not answered for a minute.").waitFor()
  await card.getByText("What to do:").waitFor()
  await card.getByRole("link", { name: "pi-3" }).waitFor()
  assert.equal(await card.locator("code").innerText(), "rookery cluster node ls")
  assert.equal(await page.getByText("rookery_cluster_member_reachable == 0", { exact: true }).isVisible(), false)
  await page.getByText("conditions that are watched").click()
  await page.getByText("Show the condition of A member does not answer").click()
  await page.getByText("rookery_cluster_member_reachable == 0", { exact: true }).waitFor()
  await leave(page)
})

test("Without a leader the page says so, and still shows its data", async () => {
  await change(open, "no-quorum")
  const page = await show(open, "#/logs")
  await page.getByText("No leader: nothing is written now.").waitFor()
  await page.locator(".log-lines li").first().waitFor()
  await leave(page)
})

test("While all disks are full, no dot is green, no free space is shown, and no node may be unplugged", async () => {
  await change(open, "full")
  const page = await show(open, "#/")
  await page.getByText("Nothing new can be written: all 3 cards are full.").waitFor()
  assert.equal(await page.locator(".state-dot.full").count(), 3)
  const colours = await page.locator(".state-dot").evaluateAll(dots => dots.map(dot => getComputedStyle(dot).backgroundColor))
  const bad = await page.evaluate(() => { const probe = document.body.appendChild(document.createElement("i")); probe.style.background = "var(--bad)"; return getComputedStyle(probe).backgroundColor })
  assert.deepEqual(colours, [bad, bad, bad])
  assert.equal(await page.getByText("none: 13.0 GiB below its reserve").count(), 3)
  assert.equal(await page.locator(".unplug strong.bad").count(), 3)
  await leave(page)
})

test("When the stream sends nothing, the figures turn grey with their time, until data arrive again", async () => {
  await change(open, "well")
  const page = await show(open, "#/")
  await page.getByText("All 3 nodes are well").waitFor()
  await fetch(`${open}/mock/silence?seconds=8`, { method: "POST" })
  await page.getByText("Shown as of").waitFor()
  await page.getByRole("link", { name: "pi-2", exact: true }).first().waitFor()
  assert.equal(await page.locator(".overview.old").count(), 1)
  await page.getByText("Shown as of").waitFor({ state: "detached" })
  await leave(page)
})

test("A member is removed only after its name was typed, with the keyboard alone", async () => {
  const node = await play()
  const page = await show(node, "#/cluster")
  const remove = page.getByRole("button", { name: "Actions on pi-3" })
  await remove.focus()
  await page.keyboard.press("Enter")
  await page.getByRole("menu").waitFor()
  await page.keyboard.press("End")
  await page.keyboard.press("Enter")
  const deed = page.getByRole("dialog").getByRole("button", { name: "Remove" })
  await deed.waitFor()
  assert.ok(await deed.isDisabled())
  for (let step = 0; step < 5; step++) {
    await page.keyboard.press("Tab")
    assert.ok(await page.evaluate(() => document.activeElement === document.body || document.activeElement.closest("dialog") !== null), "the focus left the dialog")
  }
  await page.keyboard.press("Escape")
  await deed.waitFor({ state: "detached" })
  assert.ok(await remove.evaluate(button => button === document.activeElement), "the focus did not come back")
  await choose(page, "pi-3", "Remove …")
  await page.getByLabel("To confirm, type pi-3").fill("pi-3")
  await page.keyboard.press("Enter")
  await page.getByText("pi-3 is not a member any more.").waitFor()
  await remove.waitFor({ state: "detached" })
  await leave(page)
})

test("The pages of a node without a cluster send no requests that it refuses", async t => {
  const node = await play("--scenario", "alone")
  const page = await browser.newPage()
  t.after(() => page.close())
  page.setDefaultTimeout(Patience)
  const refused = []
  page.on("response", response => { if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`) })
  for (const [hash, isThere] of [["#/cluster", "This node is alone."], ["#/cluster/access", "shop-app"], ["#/cluster/backups", "Last verified backup"], ["#/alerts", "conditions that are watched"]]) {
    await page.goto(`${node}/${hash}`)
    await page.getByText(isThere).first().waitFor()
  }

  assert.deepEqual(refused, [])
})

test("A valid token signs in, and an invalid one is refused", async () => {
  const node = await play("--sign-in")
  const page = await show(node, "#/")
  await page.getByLabel("Token").fill("admin")
  await page.keyboard.press("Enter")
  await page.getByText("This is not a token: one begins with rookery_").waitFor()
  await page.getByLabel("Token").fill("rookery_wrong")
  await page.keyboard.press("Enter")
  await page.getByText("This token is not known to the cluster").waitFor()
  await page.getByLabel("Token").fill("rookery_test")
  await page.keyboard.press("Enter")
  await page.getByText("All 3 nodes are well").waitFor()
  await leave(page)
})

test("A kiosk's token is removed from the address, and gives access to the figures only", async () => {
  const node = await play("--sign-in", "--kiosk")
  const page = await show(node, "#kiosk=rookery_test")
  await page.getByText("All 3 nodes are well").waitFor()
  assert.equal(page.url(), `${node}/#/`)
  assert.deepEqual(await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allInnerTexts(), ["Overview", "IO timeline"])
  assert.equal(await page.getByRole("button", { name: /^Find/ }).count(), 0)
  await page.evaluate(() => { location.hash = "#/cluster" })
  await page.getByText("Your token does not open this page.").waitFor()
  await leave(page)
})

test("The chosen theme overrides the system's, also after a reload", async t => {
  const node = await play()
  const context = await browser.newContext({ colorScheme: "light" })
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(Patience)
  await page.goto(`${node}/#/logs`)
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const change = page.getByRole("button", { name: /^Colours/ })
  await change.waitFor()
  const bright = await ground()
  await change.click()
  assert.equal(await ground(), bright)
  await change.click()
  const dark = await ground()
  assert.notEqual(dark, bright)
  assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme), "dark")
  await page.reload()
  await page.getByRole("button", { name: "Colours: dark" }).waitFor()
  assert.equal(await ground(), dark)
  await page.getByRole("button", { name: "Colours: dark" }).click()
  assert.equal(await ground(), bright)
  await page.emulateMedia({ colorScheme: "dark" })
  await page.waitForFunction(colour => getComputedStyle(document.body).backgroundColor === colour, dark)
})

test("The page is shown although it may not read one of its style sheets", async t => {
  const page = await browser.newPage()
  t.after(() => page.close())
  await page.addInitScript(() => {
    const sheets = Object.getOwnPropertyDescriptor(Document.prototype, "styleSheets").get
    const closed = { get cssRules() { throw new DOMException("not readable", "SecurityError") } }
    Object.defineProperty(document, "styleSheets", { get: () => [closed, ...sheets.call(document)] })
  })
  await page.goto(`${open}/#/logs`)
  await page.locator(".log-lines li").first().waitFor()
})

test("Every page works in a browser that forbids storage, and remembers choices until it is loaded again", async t => {
  const page = await browser.newPage()
  t.after(() => page.close())
  page.setDefaultTimeout(Patience)
  recordErrors(page, wrong, { isProvoked: () => true })
  await page.addInitScript(() => Object.defineProperty(window, "localStorage", { get() { throw new DOMException("forbidden", "SecurityError") } }))
  const go = hash => page.evaluate(to => { location.hash = to }, hash)
  await page.goto(`${open}/#/documents/shop`)
  await page.getByText("1–50 of").waitFor()
  await go("#/query/birds")
  await page.getByRole("textbox", { name: "Query in RQL" }).fill("from Rooks")
  await page.getByRole("button", { name: "Run", exact: true }).click()
  await page.getByRole("heading", { name: /results?$/ }).waitFor()
  await page.getByText("Run before in this browser (1)").waitFor()
  await go("#/indexes")
  await page.getByRole("heading", { name: "Indexes of birds" }).waitFor()
  await go("#/cluster/backups")
  await page.getByText("Sent to this browser").waitFor()
  await page.keyboard.press("Control+k")
  await page.getByRole("option").first().waitFor()
})

test("A message closes by itself, also below a resting mouse and after a touch", async t => {
  const node = await play()
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, hasTouch: true })
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(Patience)
  await page.clock.install()
  await page.goto(`${node}/#/cluster`)
  const message = page.locator(".toast")
  for (const name of ["pi-3", "pi-2"]) {
    await choose(page, name, "Remove …")
    await page.getByLabel(`To confirm, type ${name}`).fill(name)
    // The position where the message will appear.
    await page.mouse.move(1100, 765)
    await page.keyboard.press("Enter")
    await message.waitFor()
    if (name === "pi-2") {
      await message.hover()
      await page.clock.runFor(60_000)
      assert.equal(await message.count(), 1, "a message stays while the mouse moves over it")
      await page.mouse.move(300, 300)
    } else {
      await message.tap({ position: { x: 20, y: 20 } })
    }
    await page.clock.runFor(20_000)
    assert.equal(await message.count(), 0, `the message about ${name} stays`)
  }
})

test("A page that is opened by keyboard has the focus without a visible outline", async () => {
  const page = await show(open, "#/")
  await page.locator(".chart canvas").first().waitFor()
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Alerts" }).focus()
  await page.keyboard.press("Enter")
  await page.getByText("conditions that are watched").waitFor()
  assert.deepEqual(await page.evaluate(() => [document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]), ["main", "none"])
  await leave(page)
})

test("The navigation is beside the page in groups, or above it on a narrow screen, and does not cover the page", async () => {
  for (const [width, isBeside] of [[1920, true], [1280, true], [960, false]]) {
    const page = await show(open, "#/alerts", { width })
    await page.getByText("conditions that are watched").waitFor()
    const navigation = page.getByRole("navigation", { name: "Pages" })
    assert.deepEqual(await navigation.locator(".group:visible").allInnerTexts(), isBeside ? ["Data", "Cluster", "System"] : [])
    const [side, main] = [await navigation.boundingBox(), await page.locator("main").boundingBox()]
    assert.ok(isBeside ? main.x >= side.x + side.width : main.y >= side.y + side.height, `the navigation covers the page at ${width}`)
    assert.ok(await overflow(page) <= 0)
    await leave(page)
  }
})

test("Leaving a page cancels its pending requests", async () => {
  for (const [hash, asked] of [["#/", "/dashboard/history"], ["#/node/C", "/dashboard/slow"], ["#/io", "/debug/io"], ["#/logs", "/admin/logs"], ["#/cluster/access", "/admin/access"],
    ["#/documents/shop", "/databases/shop"], ["#/query/shop", "/databases/shop"], ["#/indexes/shop", "/databases/shop"]]) {
    const page = await show(open, "#/settings")
    await page.getByRole("table").waitFor()
    const [waiting, left] = [new Set(), []]
    // The requests are never answered, so that each is pending when the page is left.
    await page.route(url => url.pathname.startsWith(asked), route => { waiting.add(route.request()) })
    const fails = request => { if (waiting.delete(request)) left.push(request.failure().errorText) }
    page.on("requestfailed", fails)
    const begins = page.waitForRequest(request => new URL(request.url()).pathname.startsWith(asked))
    await page.evaluate(to => { location.hash = to }, hash)
    await begins
    await page.evaluate(() => { location.hash = "#/settings" })
    await page.getByRole("table").waitFor()
    await waitUntil(() => left.length > 0 && waiting.size === 0, `the requests of ${hash} are cancelled`)
    page.off("requestfailed", fails)
    await page.unrouteAll()
    await leave(page)
  }
})

test("No page logged an error or sent requests to another machine", () => assertNoErrors(wrong))
