// Three real nodes under load are killed, stopped and restarted: nothing that was acknowledged is lost, and every history is linearizable.
// Goes on for MINUTES, once around without.
import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { lost } from "../../../server/tests/process/load.mjs"
import { temporaryDirectory } from "../../../server/tests/process/node-process.mjs"
import { startRecordedLoad } from "./recorded-load.mjs"
import { checkHistory, ThreeNodes } from "./three-nodes.mjs"

const minutes = Number(process.env.MINUTES ?? 0)
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds))
const follower = leader => (leader + 1) % 3

async function killed(cluster, indexes) {
  await Promise.all(indexes.map(index => cluster.nodes[index].kill()))
  await pause(1_500)
  await Promise.all(indexes.map(index => cluster.start(index)))
}

const faults = [
  ["the leader killed", async (cluster, leader) => killed(cluster, [leader])],
  ["a follower killed", async (cluster, leader) => killed(cluster, [follower(leader)])],
  ["the leader stopped for 4 s", (cluster, leader) => cluster.freeze(leader, 4_000)],
  ["a follower stopped for 4 s", (cluster, leader) => cluster.freeze(follower(leader), 4_000)],
  ["all killed at once", cluster => killed(cluster, [0, 1, 2])],
]

// Nobody but the clients of the node itself may notice.
async function restartInTurn(cluster, load) {
  const noticed = []
  for (const index of [0, 1, 2]) {
    const before = load.failures.length
    assert.equal(await cluster.nodes[index].terminate(), 0, cluster.nodes[index].log)
    await pause(500)
    await cluster.start(index)
    await cluster.settled("chaos")
    noticed.push(...load.failures.slice(before).filter(failure => failure.index !== index))
  }

  return noticed
}

test("Three nodes that are killed, stopped and restarted under load lose nothing and stay linearizable", { timeout: (minutes + 5) * 60_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("chaos")
  await cluster.settled("chaos")
  const path = join(temporaryDirectory(t), "history.jsonl")
  const acknowledged = new Map()
  for (let round = 1, end = performance.now() + minutes * 60_000; ; round++) {
    const load = startRecordedLoad(cluster, "chaos", round)
    for (const [name, fault] of faults) {
      await pause(1_000)
      const begun = performance.now()
      await fault(cluster, await cluster.leader())
      await cluster.settled("chaos")
      t.diagnostic(`${name}: all write again after ${Math.round(performance.now() - begun)} ms`)
    }

    await pause(1_000)
    const noticed = await restartInTurn(cluster, load)
    await load.stop()
    load.acknowledged.forEach((version, id) => acknowledged.set(id, version))
    for (const node of cluster.nodes) {
      assert.deepEqual(await lost(node, "chaos", acknowledged), [])
    }

    writeFileSync(path, load.history.map(operation => JSON.stringify(operation)).join("\n"))
    const { code, text } = await checkHistory(path)
    t.diagnostic(`${load.acknowledged.size} documents acknowledged and found on three nodes, ${load.failures.length} requests failed; ${text}`)
    assert.equal(code, 0, text)
    assert.deepEqual(noticed.slice(0, 5), [], "failed during a restart, not at the node that was restarted")
    if (performance.now() > end) {
      break
    }
  }
})
