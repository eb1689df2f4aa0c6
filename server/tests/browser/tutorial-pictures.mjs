// Takes the pictures of docs/tutorial/dashboard.md again, from the built dashboard and the mock node:
//   npm --prefix server/tests/browser run renew-tutorial
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"

const here = dirname(fileURLToPath(import.meta.url))
const folder = join(here, "../../../docs/tutorial/pictures")
const pictures = [
  { name: "dashboard-overview", width: 1280, height: 900, colorScheme: "light" },
  { name: "dashboard-phone", width: 390, height: 844, colorScheme: "dark" },
]

/** Converts a picture in the browser, so that no other program is needed. */
const toWebp = (page, png) => page.evaluate(async source => {
  const image = new Image()
  image.src = source
  await image.decode()
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height })
  canvas.getContext("2d").drawImage(image, 0, 0)
  return canvas.toDataURL("image/webp", 0.8).split(",")[1]
}, `data:image/png;base64,${png.toString("base64")}`)

const node = spawn(process.execPath, [join(here, "../../dashboard/tests/mock-node.mjs"), "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] })
let browser
try {
  const [line] = await once(node.stdout, "data")
  const base = String(line).match(/http:\S+/)[0]
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--force-color-profile=srgb"] })
  const converter = await browser.newPage()
  for (const { name, width, height, colorScheme } of pictures) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce", timezoneId: "UTC", locale: "en-GB" })
    const page = await context.newPage()
    await page.goto(base)
    await page.getByText("Latency, of the slowest node").waitFor()
    await page.waitForFunction(() => document.fonts.status === "loaded" && document.querySelectorAll("canvas").length >= 2)
    // The charts are drawn when their data have arrived.
    await page.waitForTimeout(3000)
    writeFileSync(join(folder, `${name}.webp`), Buffer.from(await toWebp(converter, await page.screenshot()), "base64"))
    await context.close()
  }
} finally {
  await browser?.close()
  node.kill()
}
