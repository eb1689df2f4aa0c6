// Backups in a real browser against a real node: a backup is taken, and complete and damaged files are checked.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { after, before, test } from "node:test"
import { assertAccessible, openPageOnNode } from "./page-on-node.mjs"
import { assertNoErrors } from "./recorded-errors.mjs"

let opened
let base
let page

before(async () => {
  opened = await openPageOnNode()
  base = opened.base
  page = opened.page
  await fetch(`${base}/admin/databases?name=Nest`, { method: "PUT", body: '{"DatabaseName":"Nest"}' })
  await fetch(`${base}/databases/Nest/docs?id=rooks/1`, { method: "PUT", body: '{"name":"Anna"}' })
})

after(async () => {
  await opened?.close()
})

let backup

test("A backup is taken by a button, checked, and listed", async () => {
  await page.goto(`${base}/#/cluster/backups`)
  await page.getByText("none known").waitFor()
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Back up now" }).click()])
  assert.match(download.suggestedFilename(), /^[\w-]+-\d{4}-\d\d-\d\d-\d{6}\.rookery-backup$/)
  backup = readFileSync(await download.path())
  assert.equal(backup.subarray(0, 24).toString(), "rookery backup stream 1\n")
  await page.getByText("It arrived as it was sent.").waitFor()
  await page.getByRole("table").getByText(download.suggestedFilename()).waitFor()
  await page.reload()
  await page.getByText(download.suggestedFilename()).waitFor()
  await assertAccessible(page, "backups")
})

test("A file is checked in the browser, and a damaged or short one is refused", async () => {
  const file = page.getByLabel("File", { exact: true })
  const offer = async (name, buffer) => file.setInputFiles({ name, mimeType: "application/octet-stream", buffer })
  await offer("whole.rookery-backup", backup)
  await page.getByText("whole.rookery-backup arrived as it was sent:").waitFor()
  await page.getByText(/It has (.*, )?Nest/).waitFor()
  const damaged = Buffer.from(backup)
  damaged[Math.floor(damaged.length / 2)] ^= 1
  await offer("damaged.rookery-backup", damaged)
  await page.getByText("damaged.rookery-backup is not a complete backup.").waitFor()
  assert.equal(await page.getByText("arrived as it was sent:").count(), 0)
  await offer("short.rookery-backup", backup.subarray(0, backup.length - 3))
  await page.getByText("short.rookery-backup is not a complete backup. The backup ends before it is complete.").waitFor()
})

/** CRC-32C, bit by bit. */
function crc(bytes) {
  let value = 0xffffffff
  for (const byte of bytes) {
    value ^= byte
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  }
  return (value ^ 0xffffffff) >>> 0
}

/** Returns the backup with additional lines in its heading, which is its last part. */
function withLines(lines) {
  const at = backup.lastIndexOf("rookery backup format") - 9
  const text = Buffer.concat([backup.subarray(at + 9), Buffer.from(lines)])
  const head = Buffer.from(backup.subarray(at, at + 9))
  head.writeUInt32LE(text.length, 1)
  head.writeUInt32LE(crc(Buffer.concat([head.subarray(0, 5), text])), 5)
  return Buffer.concat([backup.subarray(0, at), head, text])
}

test("A backup whose node could not read an attachment is called incomplete, taken or checked", async () => {
  const lacking = withLines("unreadable-total 2\nunreadable-content 0011\nunreadable-content 0022\n")
  const sentence = "is incomplete: the node could not read 2 contents of attachments."
  await page.getByLabel("File", { exact: true }).setInputFiles({ name: "lacking.rookery-backup", mimeType: "application/octet-stream", buffer: lacking })
  await page.getByRole("alert").getByText(sentence).waitFor()
  await page.reload()
  await page.route("**/admin/node/backup", route => route.fulfill({ body: lacking, contentType: "application/octet-stream" }))
  await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Back up now" }).click()])
  await page.getByRole("alert").getByText(sentence).waitFor()
  await page.getByRole("table").getByText("incomplete", { exact: true }).waitFor()
  await page.unroute("**/admin/node/backup")
})

test("Commands to copy contain no paths that the user may not have", async () => {
  const lines = await page.locator(".copyable code").allTextContents()
  assert.ok(lines.length >= 3)
  assert.deepEqual(lines.filter(line => /\/home\/|\/mnt\/|~\//.test(line)), [])
})

test("No page logged an error", () => assertNoErrors(opened.wrong))
