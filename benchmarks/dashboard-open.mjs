// Measures the time from entering the page's address to the first live values, in headless Chromium with the processor
// slowed six times. Can also keep a page open.
//
// node benchmarks/dashboard-open.mjs URL open TIMES
// prints the milliseconds of each of TIMES loads, one a line. Each load has a new profile, so that nothing is cached
// node benchmarks/dashboard-open.mjs URL stay
// prints `open` when the page shows figures, and keeps the page open until it is ended
import { createRequire } from "node:module"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const { chromium } = createRequire(join(root, "server/tests/browser/package.json"))("playwright-core")
const [url, mode, times] = process.argv.slice(2)
const SlowDown = 6
const Prefix = "first figures after "
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
})

/**
 * Opens a page in a new profile, with the processor slowed `rate` times. Returns its context and the milliseconds until
 * it showed a figure of a node.
 */
async function opened(rate) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const page = await context.newPage()
  await (await context.newCDPSession(page)).send("Emulation.setCPUThrottlingRate", { rate })
  // The page measures the time and reports it. If Playwright read it from the page, Playwright would first compile 0.3
  // MB of its own code there, which takes 0.3 s.
  await page.addInitScript(watchFigures, Prefix)
  const report = page.waitForEvent("console", { predicate: (message) => message.text().startsWith(Prefix) })
  await page.goto(url, { waitUntil: "commit" })
  return { context, milliseconds: Number((await report).text().slice(Prefix.length)) }
}

/** Runs in the page: logs, after the prefix, when the first card with a figure in per cent was drawn. */
function watchFigures(prefix) {
  const look = () => {
    if ([...document.querySelectorAll(".node-card dd")].some((figure) => /^\d+(\.\d+)? %$/.test(figure.textContent.trim()))) console.log(prefix + performance.now())
    else requestAnimationFrame(look)
  }
  requestAnimationFrame(look)
}

if (mode === "stay") {
  await opened(1)
  console.log("open")
} else {
  // The first load is not measured, because it also starts the browser's own processes.
  for (let time = -1; time < Number(times); time++) {
    const { context, milliseconds } = await opened(SlowDown)
    if (time >= 0) console.log(milliseconds.toFixed(0))
    await context.close()
  }
  await browser.close()
}
