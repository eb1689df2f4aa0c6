// A page in a real browser against the mock node, which serves the built server/dashboard/dist.
import { spawn } from "node:child_process"
import { dirname, join } from "node:path"
import { after } from "node:test"
import { fileURLToPath } from "node:url"
import { chromium } from "playwright-core"
import { assertNoErrors, recordErrors } from "./recorded-errors.mjs"

const Flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
const mockNode = join(dirname(fileURLToPath(import.meta.url)), "../../dashboard/tests/mock-node.mjs")

export const launchBrowser = () => chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: Flags })

/** Starts a mock node on a free port, and returns its address. Adds its process to `started`. */
export function startMockNode(started, ...options) {
  const node = spawn(process.execPath, [mockNode, "--port", "0", ...options], { stdio: ["ignore", "pipe", "inherit"] })
  started.push(node)
  return new Promise((resolve, reject) => {
    node.once("exit", code => reject(new Error(`The mock node ended with ${code}.`)))
    node.stdout.once("data", line => resolve(/http:\/\/\S+/.exec(String(line))[0]))
  })
}

let browser

/** Opens a place of the page of a new mock node until the test `t` ends. The test fails if the page throws an exception. */
export async function openOnMock(t, hash, ...options) {
  browser ??= launchBrowser()
  const [started, wrong] = [[], []]
  const context = await (await browser).newContext()
  t.after(async () => {
    await context.close()
    for (const process of started) process.kill()
    assertNoErrors(wrong)
  })
  const node = await startMockNode(started, ...options)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  recordErrors(page, wrong, { isProvoked: () => true })
  await page.goto(`${node}/${hash}`)
  return { page, node }
}

after(async () => (await browser)?.close())
