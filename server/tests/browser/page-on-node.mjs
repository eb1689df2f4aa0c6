// A page in a real browser against a real node.
// ROOKERY_DASHBOARD=http://127.0.0.1:5173 tests the page at that address (`npm run dev`) instead of the one in the
// executable.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { chromium } from "playwright-core"
import { startNode } from "../client/running-node.mjs"
import { recordErrors } from "./recorded-errors.mjs"

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")
const Flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]

/**
 * Starts a node and opens a page, of which `wrong` collects what a healthy page never does: an error in the console, an
 * exception, or a request to another host. `isProvoked` names the messages of the console that a test expects.
 */
export async function openPageOnNode({ isProvoked = () => false, ...options } = {}) {
  const node = process.env.ROOKERY_DASHBOARD ? null : await startNode()
  const base = process.env.ROOKERY_DASHBOARD ?? node.url
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: Flags })
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, acceptDownloads: true, colorScheme: "light", ...options })
  page.setDefaultTimeout(60_000)
  const wrong = []
  recordErrors(page, wrong, { isProvoked, base: () => base })
  return {
    base,
    page,
    wrong,
    async close() {
      await browser.close()
      await node?.stop()
    },
  }
}

/**
 * Opens a place of the page and waits until it is shown. When only the fragment changes, the previous place stays
 * visible until the next is rendered; its effects run within two frames. Input before that would go to the previous place.
 */
export async function goTo(page, address) {
  await page.goto(address)
  await page.getByRole("heading", { level: 1 }).waitFor()
  await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) {
      await new Promise(done => requestAnimationFrame(() => setTimeout(done)))
    }
  })
}

/** Asserts that axe finds no serious or critical accessibility problem in the main part of the page, or in the places given. */
export async function assertAccessible(page, where, include = [["main"]]) {
  // The page's content security policy refuses addScriptTag, so axe is evaluated.
  await page.evaluate(axe)
  const violations = await page.evaluate(async include => (await globalThis.axe.run({ include }, { resultTypes: ["violations"] })).violations, include)
  assert.deepEqual(violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`), [], where)
}
