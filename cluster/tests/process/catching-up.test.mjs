// A member that was off so long that the other members' journals have released entries it needs. It fetches the changed
// rows instead of whole files.
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "away"
const mebibyte = 1 << 20

// Members retain 256 MiB of journal for each other. While one is off, 8 documents of 4 MiB are overwritten 9 times,
// one of 20 other documents is deleted, and 19 do not change.
const overwritten = 8
const rounds = 9
const untouched = 20

const document = () => JSON.stringify({ text: randomBytes(3 * mebibyte).toString("base64") })

async function metric(node, name, kind) {
  const { text } = await node.request("GET", "/metrics")
  return Number(new RegExp(`^${name}${kind ? `\\{kind="${kind}"\\}` : ""} (\\d+)`, "m").exec(text)[1])
}

test("A member that missed more than the journals hold fetches only the changes", { timeout: 420_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  const put = async (id, body) => until(() => cluster.nodes[0].request("PUT", `/databases/${database}/docs?id=${id}`, body).then(({ status }) => status === 201, () => false))
  for (let n = 0; n < untouched; n++) {
    await put(`untouched/${n}`, document())
  }

  if (await cluster.leader() === 2) {
    await cluster.transfer(0)
    await until(async () => await cluster.leader() !== 2)
  }

  const lag = async () => JSON.parse((await cluster.nodes[await cluster.leader()].request("GET", "/readyz?verbose")).text).Cluster.Members.map(({ LagEntries }) => LagEntries ?? 0)
  await until(async () => (await lag()).every(entries => entries < 5))
  await cluster.nodes[2].terminate()
  const newest = new Map()
  for (let round = 0; round < rounds; round++) {
    for (let n = 0; n < overwritten; n++) {
      const body = document()
      await put(`overwritten/${n}`, body)
      newest.set(n, body)
    }
  }

  await cluster.nodes[0].expect(204, "DELETE", `/databases/${database}/docs?id=untouched/0`)
  // Overwritten rows count as changed until they are merged. If the changes exceed half of all data, the member fetches
  // all data instead.
  for (const node of cluster.nodes.slice(0, 2)) {
    await until(async () => await metric(node, "rookery_pending_compaction_bytes") === 0)
  }

  await cluster.start(2)
  // cluster.settled has stored the document "settled".
  await until(async () => (await cluster.nodes[2].request("GET", `/databases/${database}/docs?id=settled`)).status === 200)
  for (const [n, body] of newest) {
    const { text } = await cluster.nodes[2].request("GET", `/databases/${database}/docs?id=overwritten/${n}`)
    assert.equal(JSON.parse(text).Results[0].text, JSON.parse(body).text, `overwritten/${n}`)
  }

  assert.equal((await cluster.nodes[2].request("GET", `/databases/${database}/docs?id=untouched/0`)).status, 404)
  const [changes, files] = await Promise.all(["changes", "files"].map(kind => metric(cluster.nodes[2], "rookery_state_received_bytes_total", kind)))
  t.diagnostic(`received ${changes} bytes of changes and ${files} bytes of files`)
  assert.equal(files, 0, "it had nearly all data, so it fetches no files")
  assert.ok(changes >= overwritten * 3 * mebibyte && changes < 2 * overwritten * 5 * mebibyte, `${changes} bytes of changes`)
})
