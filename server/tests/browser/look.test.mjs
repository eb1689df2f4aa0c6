// Compares the look of the main pages in a real browser with kept pictures, which are in the repository. The pages show
// the mock node; its clock and the browser's stand still. If a page looks different on purpose, renew the pictures:
//   npm --prefix server/tests/browser run renew
// A failed comparison writes its own picture below ROOKERY_SCREENSHOTS or in the folder for temporary files, and says where.
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
const Patience = 60_000
const screens = [[390, 844], [768, 1024], [1280, 800], [1920, 1080]].flatMap(([width, height]) => ["light", "dark"].map(colorScheme => ({ width, height, colorScheme })))

/** The system's font for code in the kept pictures. Other text has the font that the page brings. */
const Monospace = "DejaVu Sans Mono"

/** The manual that the pages get: the real manual's texts change often, which must not change the pictures. */
const manual = "27 README.md\n29 how-to/upgrade.md\n\n# The manual\n\nAll about it.# Work with orders\n\nAn order."

/** Width and height of the blocks of a kept picture, which are compared by their mean colour: single pixels at edges of letters differ between machines. */
const Block = 4
const MostDifference = 10
const MostBlocks = 0.004
/** A comparison fails at so many differing blocks that touch each other, in a picture of any size: as many as a missing icon or short word has. */
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
    // The pages show measured times, which must not differ.
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

const pending = new Map()

/** Tracks the requests of a page that are not answered yet, except the stream of figures, which never ends. */
function watch(page) {
  const requests = new Set()
  const answered = request => {
    requests.delete(request)
    if (requests.size === 0) page.emit("answered")
  }
  pending.set(page, requests)
  page.on("request", request => { if (!request.url().includes("/dashboard/live")) requests.add(request) })
  page.on("requestfinished", answered)
  page.on("requestfailed", answered)
}

/** Waits until all requests of a page are answered. */
async function answersTo(page) {
  while (pending.get(page).size > 0) await new Promise(done => page.once("answered", done))
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

// The address of each page, and how to wait until it is shown. The manual's page is missing: its text changes often.
const ready = {
  overview: ["#/", page => page.locator(".chart canvas").nth(3).waitFor({ state: "attached" })],
  alerts: ["#/alerts", page => page.getByText("has not answered for a minute").first().waitFor()],
  backups: ["#/cluster/backups", page => page.getByText("Last verified backup").waitFor()],
  cluster: ["#/cluster", page => page.getByRole("table").waitFor()],
  access: ["#/cluster/access", page => page.getByText("shop-app").waitFor()],
  documents: ["#/documents/shop/Orders", page => page.getByText("orders/1", { exact: true }).first().waitFor()],
  document: ["#/document/shop/orders%2F7", page => page.getByText("1,207").waitFor()],
  // A query in the address runs without a press on Run.
  query: ["#/query/shop?q=from%20Orders", page => page.getByText("orders/1", { exact: true }).first().waitFor()],
  databases: ["#/documents", page => page.getByRole("link", { name: "birds", exact: true }).waitFor()],
  database: ["#/database/shop", page => page.getByText("the newest 50").waitFor()],
  node: ["#/node/C", page => page.locator(".chart canvas").nth(3).waitFor({ state: "attached" })],
  indexes: ["#/indexes/shop", page => page.getByText("Orders/ByCompany").first().waitFor()],
  logs: ["#/logs", page => page.locator(".log-lines li").first().waitFor()],
  settings: ["#/settings", page => page.getByRole("table").waitFor()],
  // The palette must be last: closing it goes back in the history, which would undo a change of the page right afterwards.
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
  test(`The page ${name} looks like its kept pictures`, async () => {
    const wrong = await Promise.all([...pages].map(async ([screen, page]) => {
      // The fragment is changed within the loaded page, because a reload in eight browsers takes some seconds.
      await page.keyboard.press("Escape")
      await page.evaluate(to => { location.hash = to }, hash)
      await isThere(page)
      await page.evaluate(() => scrollTo(0, 0))
      return compare(page, `${name}-${screen}`)
    }))
    assert.deepEqual(wrong.filter(Boolean), [], "if these changes are intended, renew the pictures by `npm --prefix server/tests/browser run renew`")
  })
}

test("The sign-in looks like its kept pictures", async () => {
  const other = await play("--sign-in")
  const wrong = await Promise.all([...pages].map(async ([screen, page]) => {
    await page.goto(`${other}/#/`)
    await page.getByLabel("Token").waitFor()
    return compare(page, `sign-in-${screen}`)
  }))
  assert.deepEqual(wrong.filter(Boolean), [])
})

/** Returns how a page differs from the kept picture; an empty text if it does not. If pictures are renewed, stores the picture instead. */
async function compare(page, name) {
  await page.waitForFunction(() => [...document.fonts].some(font => font.status === "loaded"))
  // Canvases wait for the font, and other parts for answers. The page is complete when two pictures in a row are the same.
  let shot = ""
  for (let last, tries = 0; shot !== last || shot === ""; tries++) {
    if (tries > 20) throw new Error(`${name} does not come to rest.`)
    last = shot
    await answersTo(page)
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

/**
 * Runs in the browser, because it can decode pictures. Returns the picture at half its size, the share of blocks that
 * differ from the kept picture, and how many of these touch each other.
 */
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
  // The new picture is compressed like the kept one before the comparison, because the compression changes pixels.
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
        // Blocks at the left and right edges of the picture do not touch each other.
        if (Math.abs(((at + step + columns) % columns) - (at % columns)) <= 1 && differing.delete(at + step)) cluster.push(at + step)
      }
    }

    together = Math.max(together, cluster.length)
  }

  return { share: differ / all, together, picture }
}
