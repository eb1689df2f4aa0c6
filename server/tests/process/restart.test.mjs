// A restart after a kill replays the journal. The journal's size is bounded, however large the data are.
import assert from "node:assert/strict"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { afterwards, NodeProcess, temporaryDirectory } from "./node-process.mjs"

const documentsOfPart = 20_000
const parts = 8
// Eight segments of 16 MiB may wait for a flush. In addition there are the segments that are being flushed, written and
// prepared.
const journalBytesLimit = 14 * (16 << 20)

const bytesOf = directory => readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)

// JSON lines. Half of each line is random text, so that it does not compress to almost nothing.
function part(number) {
  let state = number + 1
  const noise = () => Array.from({ length: 20 }, () => (state = Math.imul(state, 1664525) + 1013904223 >>> 0).toString(36)).join("")
  return Array.from({ length: documentsOfPart }, (_, n) =>
    JSON.stringify({ n, noise: noise(), text: "rook".repeat(40), "@metadata": { "@id": `part${number}/${n}`, "@collection": "Parts" } })).join("\n")
}

test("The journal that a restart reads is bounded, however much was stored before the kill", { timeout: 300_000 }, async t => {
  const data = temporaryDirectory(t)
  const options = ["--memory", "96M"]
  let node = await NodeProcess.serve({ data, options })
  afterwards(t, () => node.kill())
  await node.createDatabase("grown")
  for (let number = 0; number < parts; number++) {
    const { status, text } = await node.request("POST", "/databases/grown/import", part(number))
    assert.equal(status, 200, text)
    // Restarts after 1, 2, 4 and 8 parts.
    if ((number & (number + 1)) !== 0) {
      continue
    }

    await node.kill()
    const journal = bytesOf(join(data, "journal"))
    assert.ok(journal <= journalBytesLimit, `${journal} bytes of journal after ${number + 1} parts`)
    node = await NodeProcess.serve({ data, options })
    const { CountOfDocuments } = await node.expect(200, "GET", "/databases/grown/stats")
    assert.equal(CountOfDocuments, (number + 1) * documentsOfPart)
    t.diagnostic(`${CountOfDocuments} documents, ${journal >> 20} MiB of journal: restart took ${Math.round(node.startMilliseconds)} ms`)
  }
})
