// The look of the main pages in a real browser, compared with kept pictures: on the mock node, with its clock and the browser's stopped at one moment. A change of look is seen here, looked at, and kept by
//   npm --prefix server/tests/browser run renew
// A failed comparison leaves what it saw below ROOKERY_SCREENSHOTS or in the folder for temporary files, and says where.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, test } from "node:test"
import { fileURLToPath, pathToFileURL } from "node:url"
import { chromium } from "playwright-core"

const here = dirname(fileURLToPath(import.meta.url))
const mockNode = join(here, "../../dashboard/tests/mock-node.mjs")
const kept = join(here, "pictures")
const seen = process.env.ROOKERY_SCREENSHOTS ?? join(tmpdir(), "rookery-look")
const renews = process.env.ROOKERY_RENEW_PICTURES === "1"
const Flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--font-render-hinting=none", "--disable-lcd-text", "--force-color-profile=srgb"]
const Moment = Date.parse("2026-11-25T16:00:07Z")
const Patience = 20_000
const screens = [[390, 844], [768, 1024], [1280, 800], [1920, 1080]].flatMap(([width, height]) => ["light", "dark"].map(colorScheme => ({ width, height, colorScheme })))

/** The system's font for code in the kept pictures; the other text has the page's own. */
const Monospace = "DejaVu Sans Mono"

/** The texts of the manual in the pictures: those of the real one change without a change of look. */
const manual = "27 README.md\n29 how-to/upgrade.md\n\n# The manual\n\nAll about it.# Work with orders\n\nAn order."

/** Blocks of so many pixels of a kept picture are compared by their mean colour: edges of letters differ between machines, blocks do not. */
const Block = 4
const MostDifference = 10
const MostBlocks = 0.004
/** A mark, an icon or a short word that is gone: so many differing blocks that touch each other, in a picture of any size. */
const MostTogether = 12

const running = []
const pages = new Map()
let browser
let base

before(async () => {
  base = await play("--scenario", "one-dead")
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: Flags })
  await Promise.all(screens.map(async ({ width, height, colorScheme }) => {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-GB" })
    const page = await context.newPage()
    page.setDefaultTimeout(Patience)
    await page.clock.setFixedTime(Moment)
    // Measured times are in the pictures too.
    await context.addInitScript(() => { performance.now = () => 0 })
    await context.route("**/help/manual.txt", route => route.fulfill({ body: manual, contentType: "text/plain; charset=utf-8" }))
    watch(page)
    await page.goto(`${base}/#/logs`)
    pages.set(`${width}-${colorScheme}`, page)
  }))
  await checkFont(pages.values().next().value)
})

after(async () => {
  await browser?.close()
  for (const process of running) process.kill()
})

/** Fails if code would be drawn in another font than in the kept pictures. */
async function checkFont(page) {
  const isThere = await page.evaluate(name => {
    const context = new OffscreenCanvas(1, 1).getContext("2d")
    const width = family => {
      context.font = `40px ${family}`
      return context.measureText("Wide and slim: 0123456789 iiimmm").width
    }
    const used = getComputedStyle(document.documentElement).getPropertyValue("--mono")
    return width(`"${name}", serif`) !== width("serif") && width(used) === width(`"${name}"`)
  }, Monospace)
  assert.ok(isThere, `the kept pictures have the font ${Monospace}, and this machine has none or prefers another: install fonts-dejavu-core`)
}

const flying = new Map()

/** Keeps the requests of a page that are not answered yet. The stream of figures never ends. */
function watch(page) {
  const requests = new Set()
  const landed = request => {
    requests.delete(request)
    if (requests.size === 0) page.emit("landed")
  }
  flying.set(page, requests)
  page.on("request", request => { if (!request.url().includes("/dashboard/live")) requests.add(request) })
  page.on("requestfinished", landed)
  page.on("requestfailed", landed)
}

/** Waits until all requests of a page are answered. */
async function landing(page) {
  while (flying.get(page).size > 0) await new Promise(done => page.once("landed", done))
}

/** Starts a mock node whose clock stands still. */
function play(...options) {
  const clock = `const at = ${Moment}, Real = Date; globalThis.Date = class extends Real { constructor(...of) { if (of.length) super(...of); else super(at) } static now() { return at } }`
  const node = spawn(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(clock)}`, mockNode, "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] })
  running.push(node)
  return new Promise((resolve, reject) => {
    node.once("exit", code => reject(new Error(`The mock node ended with ${code}.`)))
    node.stdout.once("data", line => resolve(/http:\/\/\S+/.exec(String(line))[0]))
  })
}

// Not the manual: its text changes without a change of look.
const ready = {
  overview: ["#/", page => page.locator(".chart canvas").nth(3).waitFor({ state: "attached" })],
  alerts: ["#/alerts", page => page.getByText("has not answered for a minute").first().waitFor()],
  backups: ["#/cluster/backups", page => page.getByText("Last verified backup").waitFor()],
  cluster: ["#/cluster", page => page.getByRole("table").waitFor()],
  access: ["#/cluster/access", page => page.getByText("shop-app").waitFor()],
  documents: ["#/documents/shop/Orders", page => page.getByText("orders/1", { exact: true }).first().waitFor()],
  document: ["#/document/shop/orders%2F7", page => page.getByRole("heading", { name: "orders/7" }).waitFor()],
  // The query of a link runs without a press on Run.
  query: ["#/query/shop?q=from%20Orders", page => page.getByText("orders/1", { exact: true }).first().waitFor()],
  databases: ["#/documents", page => page.getByRole("link", { name: "birds", exact: true }).waitFor()],
  node: ["#/node/C", page => page.locator(".chart canvas").nth(3).waitFor({ state: "attached" })],
  indexes: ["#/indexes/shop", page => page.getByText("Orders/ByCompany").first().waitFor()],
  logs: ["#/logs", page => page.locator(".log-lines li").first().waitFor()],
  settings: ["#/settings", page => page.getByRole("table").waitFor()],
  // The last: it is closed by going back, which would undo a change of the page that follows at once.
  palette: ["#/logs", async page => {
    await page.locator(".log-lines li").first().waitFor()
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "Go to a page, document or action" }).fill("orders")
    await page.getByRole("option", { name: "orders/1 shop" }).waitFor()
    await page.getByRole("option", { name: "Orders/ByCompany shop" }).waitFor()
    await page.getByRole("option", { name: "Work with orders" }).waitFor()
  }],
}

for (const [name, [hash, isThere]] of Object.entries(ready)) {
  test(`The look of ${name} is the kept one`, async () => {
    const wrong = await Promise.all([...pages].map(async ([screen, page]) => {
      // Within the page, because a new start of it takes eight browsers some seconds.
      await page.keyboard.press("Escape")
      await page.evaluate(to => { location.hash = to }, hash)
      await isThere(page)
      await page.evaluate(() => scrollTo(0, 0))
      return compare(page, `${name}-${screen}`)
    }))
    assert.deepEqual(wrong.filter(Boolean), [], "a change of look that is meant is kept by `npm --prefix server/tests/browser run renew`")
  })
}

test("The look of the sign-in is the kept one", async () => {
  const other = await play("--sign-in")
  const wrong = await Promise.all([...pages].map(async ([screen, page]) => {
    await page.goto(`${other}/#/`)
    await page.getByLabel("Token").waitFor()
    return compare(page, `sign-in-${screen}`)
  }))
  assert.deepEqual(wrong.filter(Boolean), [])
})

/** What differs from the kept picture; nothing if it is the same. Keeps the picture instead while pictures are renewed. */
async function compare(page, name) {
  await page.waitForFunction(() => [...document.fonts].some(font => font.status === "loaded"))
  // What comes last is drawn: the canvases that wait for the font, and what a request answers. It is there when two pictures are the same.
  let shot = ""
  for (let last, tries = 0; shot !== last || shot === ""; tries++) {
    if (tries > 20) throw new Error(`${name} does not come to rest.`)
    last = shot
    await landing(page)
    await page.evaluate(() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done))))
    shot = (await page.screenshot({ caret: "hide", animations: "disabled" })).toString("base64")
  }

  const file = join(kept, `${name}.webp`)
  const old = renews ? "" : readFileSync(file).toString("base64")
  const { share, together, picture } = await page.evaluate(judge, { shot, old, Block, MostDifference })
  if (renews) {
    mkdirSync(kept, { recursive: true })
    writeFileSync(file, Buffer.from(picture, "base64"))
    return ""
  }

  if (share <= MostBlocks && together < MostTogether) return ""
  mkdirSync(seen, { recursive: true })
  const place = join(seen, `${name}.webp`)
  writeFileSync(place, Buffer.from(picture, "base64"))
  return `${name}: ${(share * 100).toFixed(1)} % of it differs, ${together} blocks in one place: ${pathToFileURL(place)} is not ${pathToFileURL(file)}`
}

/** Runs in the browser, which decodes pictures. Gives the picture at half its size, the share of blocks that differ from the kept one, and how many of these touch each other. */
async function judge({ shot, old, Block, MostDifference }) {
  const bytesOf = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0))
  const drawn = async (text, scale) => {
    const image = await createImageBitmap(new Blob([bytesOf(text)]))
    const canvas = new OffscreenCanvas(Math.round(image.width * scale), Math.round(image.height * scale))
    const context = canvas.getContext("2d", { willReadFrequently: true })
    context.imageSmoothingQuality = "high"
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return { canvas, pixels: context.getImageData(0, 0, canvas.width, canvas.height).data }
  }
  const now = await drawn(shot, 0.5)
  const { width, height } = now.canvas
  let text = ""
  for (const byte of new Uint8Array(await (await now.canvas.convertToBlob({ type: "image/webp", quality: 0.55 })).arrayBuffer())) text += String.fromCharCode(byte)
  const picture = btoa(text)
  if (old === "") return { share: 0, together: 0, picture }
  const before = await drawn(old, 1)
  if (before.canvas.width !== width || before.canvas.height !== height) return { share: 1, together: 0, picture }
  // Both as they are kept, so that what the format loses is lost in both.
  const again = await drawn(picture, 1)
  const columns = Math.ceil(width / Block)
  const differing = new Set()
  let all = 0
  for (let top = 0; top < height; top += Block) {
    for (let left = 0; left < width; left += Block) {
      const difference = [0, 0, 0]
      let count = 0
      for (let y = top; y < Math.min(top + Block, height); y++) {
        for (let x = left; x < Math.min(left + Block, width); x++, count++) {
          for (let channel = 0; channel < 3; channel++) difference[channel] += again.pixels[(y * width + x) * 4 + channel] - before.pixels[(y * width + x) * 4 + channel]
        }
      }

      all++
      if (difference.some(sum => Math.abs(sum) / count > MostDifference)) differing.add((top / Block) * columns + left / Block)
    }
  }

  const differ = differing.size
  let together = 0
  while (differing.size > 0) {
    const [first] = differing
    differing.delete(first)
    const cluster = [first]
    for (const at of cluster) {
      for (const step of [-columns - 1, -columns, -columns + 1, -1, 1, columns - 1, columns, columns + 1]) {
        // Not over the edge of the picture.
        if (Math.abs(((at + step + columns) % columns) - (at % columns)) <= 1 && differing.delete(at + step)) cluster.push(at + step)
      }
    }

    together = Math.max(together, cluster.length)
  }

  return { share: differ / all, together, picture }
}
