// The check for lost writes must be able to fail. A cluster on an unchanged library, without planted bugs, shows that it can.
import assert from "node:assert/strict"
import { test } from "node:test"
import { pause } from "./namespaced-cluster.mjs"
import { StockRaft } from "./stock-raft.mjs"
import { ThreeNodes } from "./three-nodes.mjs"
import { lost, startLoad } from "../../../server/tests/process/load.mjs"
import { until } from "../../../server/tests/process/node-process.mjs"

const database = "control"
const writers = 64
const documents = 100
const applyMilliseconds = 2_000

/** Kills all three members under load and starts the two followers. Returns the acknowledged writes that are missing then. */
async function lostByKill(cluster) {
  const leader = await cluster.leader()
  const load = startLoad(cluster.nodes[leader], database, { writers })
  await until(() => load.acknowledged.size >= documents)
  await Promise.all(cluster.nodes.map(node => node.kill()))
  await load.stop()
  await Promise.all([0, 1, 2].filter(index => index !== leader).map(index => cluster.start(index)))
  const survivor = cluster.nodes[await cluster.leader()]
  // A write in its own term makes the new leader commit the entries of earlier terms.
  const settled = `/databases/${database}/docs?id=settled`
  await until(async () => (await survivor.request("PUT", settled, "{}")).status === 201)
  if ((await lost(survivor, database, load.acknowledged)).length > 0) {
    await pause(applyMilliseconds)
  }

  const missing = await lost(survivor, database, load.acknowledged)
  await cluster.start(leader)
  return { acknowledged: load.acknowledged.size, missing }
}

test("The oracle finds writes that the stock log of DotNext acknowledges and loses", { timeout: 480_000 }, async t => {
  const cluster = await StockRaft.form(t)
  // About every fourth kill comes between the acknowledgement of a follower and its flush.
  for (let kill = 1; kill <= 40; kill++) {
    const { acknowledged, missing } = await lostByKill(cluster)
    t.diagnostic(`kill ${kill}: ${missing.length} lost of ${acknowledged} documents`)
    if (missing.length > 0) {
      return
    }
  }

  assert.fail("forty kills under load lost nothing, so this test proves nothing about the oracle")
})

test("The same kill loses no write of Rookery", { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  const { acknowledged, missing } = await lostByKill(cluster)
  t.diagnostic(`${missing.length} lost of ${acknowledged} documents`)
  assert.ok(acknowledged > 0)
  assert.deepEqual(missing, [])
})
