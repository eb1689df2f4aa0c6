// Measures the IO timeline of the built page in headless Chromium: imports a file of 100,000 events, and zooms and
// moves it by simulated mouse events.
//
// node benchmarks/dashboard-timeline.mjs [SECONDS=12] [NODES=1] [--page=http://127.0.0.1:8080]
//
// Prints, tab-separated: frames a second, the share of frames over 18 ms, the longest frame, and the time of the page's
// own script per frame. Without --page it serves server/dashboard/dist itself. Frames are counted by the timestamps of
// requestAnimationFrame. Chromium draws at most 60 a second, like a display.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { fileOf } from "../server/dashboard/tests/timeline-events.mjs"

const root = fileURLToPath(new URL("..", import.meta.url))
const { chromium } = createRequire(join(root, "server/tests/browser/package.json"))("playwright-core")
const numbers = process.argv.slice(2).filter((argument) => !argument.startsWith("--"))
const seconds = Number(numbers[0] ?? 12)
const nodes = Number(numbers[1] ?? 1)
const Width = 1280
const Height = 800

const served = process.argv.find((argument) => argument.startsWith("--page="))?.slice("--page=".length)
const server = served ? null : await serve(join(root, "server/dashboard/dist"))
const page = served ?? `http://127.0.0.1:${server.address().port}`
const scratch = mkdtempSync(join(tmpdir(), "rookery-timeline-"))
const files = Array.from({ length: nodes }, (_, index) => {
  const path = join(scratch, `node-${index + 1}.json`)
  writeFileSync(path, JSON.stringify(fileOf({ count: 100_000, seed: index + 1, end: Date.now() * 1000, tag: "ABCDEFG"[index], name: `pi-${index + 1}` })))
  return path
})
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
})
try {
  const tab = await browser.newPage({ viewport: { width: Width, height: Height } })
  await tab.addInitScript(watchFrames)
  await tab.goto(`${page}/#/io`)
  await tab.waitForSelector("input[type=file]", { state: "attached" })
  await tab.setInputFiles("input[type=file]", files)
  await tab.waitForFunction((count) => document.querySelectorAll(".io-track").length >= count, nodes)
  await tab.getByText("100,000 events").nth(nodes - 1).waitFor()
  // Show only the files: deselect the page's own node.
  for (const button of await tab.$$('[aria-label="Nodes that are shown"] button[aria-pressed=true]')) await button.click()
  const plot = tab.locator(".io-plot").last()
  await plot.scrollIntoViewIfNeeded()
  await tab.waitForTimeout(1500)
  const box = await plot.boundingBox()
  const row = box.y + box.height / 2
  const input = await tab.context().newCDPSession(tab)
  await tab.evaluate("startFrames()")
  let inputs = 0
  const end = performance.now() + seconds * 1000
  while (performance.now() < end) inputs += await zoomAndMove(input, box, row, end)
  const figures = await tab.evaluate("stopFrames()")
  const line = (name, value) => console.log(`dashboard-timeline\t${nodes} × 100,000 events\t${name}\t${value}`)
  line("frames a second", figures.rate.toFixed(1))
  line("frames over 18 ms", `${(100 * figures.over).toFixed(1)} %`)
  line("longest frame", `${figures.longest.toFixed(0)} ms`)
  line("script of a drawn frame, median and p99", `${figures.script50.toFixed(1)} ms, ${figures.script99.toFixed(1)} ms`)
  line("frames drawn, of all", `${figures.drawn} of ${figures.frames}`)
  line("inputs", inputs)
  if (figures.drawn < figures.frames / 2) throw new Error("Most frames drew nothing, so the figures above have no meaning.")
} finally {
  await browser.close()
  server?.close()
  rmSync(scratch, { recursive: true })
}

/** Zooms in with the wheel, around another place each time, drags to and fro, and zooms out again. Sends an input every 8 ms, like a mouse, even if the page is slower. */
async function zoomAndMove(input, box, row, end) {
  let inputs = 0
  const place = box.x + box.width * (0.2 + 0.6 * ((performance.now() / 7919) % 1))
  const send = async (type, x, more) => {
    inputs++
    const sent = input.send("Input.dispatchMouseEvent", { type, x, y: row, ...more })
    await Promise.race([sent, new Promise((passed) => setTimeout(passed, 8))])
    await new Promise((passed) => setTimeout(passed, 8))
  }
  await send("mouseMoved", place, {})
  for (const deltaY of [-60, 60]) {
    for (let turn = 0; turn < 75 && performance.now() < end; turn++) await send("mouseWheel", place, { deltaX: 0, deltaY })
    await send("mousePressed", place, { button: "left", buttons: 1, clickCount: 1 })
    for (let step = 0; step < 75 && performance.now() < end; step++) await send("mouseMoved", place + 180 * Math.sin(step / 8), { button: "left", buttons: 1 })
    await send("mouseReleased", place, { button: "left", clickCount: 1 })
  }

  return inputs
}

/** Runs in the page: records the time of each frame, the duration of its callbacks, and how often the timeline was drawn. */
function watchFrames() {
  const request = window.requestAnimationFrame.bind(window)
  const put = CanvasRenderingContext2D.prototype.putImageData
  let times = []
  let scripts = []
  let script = 0
  let isOn = false
  let puts = 0
  let drawn = 0
  CanvasRenderingContext2D.prototype.putImageData = function (...parameters) {
    puts++
    return put.apply(this, parameters)
  }
  window.requestAnimationFrame = (callback) =>
    request((time) => {
      const begun = performance.now()
      callback(time)
      script += performance.now() - begun
    })
  const tick = (time) => {
    if (!isOn) return
    times.push(time)
    if (puts > 0) {
      scripts.push(script)
      drawn++
    }

    script = puts = 0
    request(tick)
  }
  window.startFrames = () => {
    times = []
    scripts = []
    drawn = puts = script = 0
    isOn = true
    request(tick)
  }
  window.stopFrames = () => {
    isOn = false
    const gaps = times.slice(1).map((time, index) => time - times[index])
    const sorted = scripts.sort((one, other) => one - other)
    return {
      frames: gaps.length,
      drawn,
      rate: (gaps.length * 1000) / (times[times.length - 1] - times[0]),
      over: gaps.filter((gap) => gap > 18).length / gaps.length,
      longest: Math.max(...gaps),
      script50: sorted[Math.floor(sorted.length * 0.5)],
      script99: sorted[Math.floor(sorted.length * 0.99)],
    }
  }
}

/** Serves the built page and a fixed session. No node runs. */
async function serve(dist) {
  if (!existsSync(join(dist, "index.html"))) throw new Error("The page is not built: make dashboard")
  const types = { ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" }
  const session = { SignedIn: true, By: "open", Name: null, Scopes: ["metrics"], Databases: null, IsSecure: false, IsClaimed: true, NodeTag: "", NodeName: "", ClusterName: "", Version: "", Reason: null }
  const listener = createServer((request, response) => {
    const path = new URL(request.url, "http://node").pathname
    const file = join(dist, path === "/" ? "index.html" : path)
    if (path === "/session") response.setHeader("Content-Type", "application/json").end(JSON.stringify(session))
    else if (file.startsWith(dist) && existsSync(file)) response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream").end(readFileSync(file))
    else response.writeHead(404).end()
  })
  await new Promise((listening) => listener.listen(0, "127.0.0.1", listening))
  return listener
}
