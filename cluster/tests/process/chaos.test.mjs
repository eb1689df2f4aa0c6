// Three real nodes in their own network namespaces, under load and faults: no acknowledged write is lost, every history
// is linearizable, and in the end all nodes have the same content.
// Each kind of fault is played once, in an order drawn from SEED. With MINUTES the kinds are repeated for that long,
// and some faults last longer. The whole cluster is killed or loses power after each other fault, and during some.
import assert from "node:assert/strict"
import { createHash, randomInt } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { lost } from "../../../server/tests/process/load.mjs"
import { storeBase, wrongBase } from "./base-documents.mjs"
import { Chance } from "./chance.mjs"
import { Chaos } from "./chaos.mjs"
import { clockFaults } from "./faults/clocks.mjs"
import { diskFaults } from "./faults/disks.mjs"
import { memberFaults } from "./faults/members.mjs"
import { networkFaults } from "./faults/network.mjs"
import { allKilled, powerStrip, processFaults } from "./faults/processes.mjs"
import { rotFaults } from "./faults/rot.mjs"
import { checkHistory } from "./history.mjs"
import { whyNoNamespaces } from "./namespaces.mjs"
import { NamespacedCluster } from "./namespaced-cluster.mjs"
import { RecordedLoad } from "./recorded-load.mjs"
import { redisDatabase } from "./redis-registers.mjs"

const minutes = Number(process.env.MINUTES || 0)
const seed = Number(process.env.SEED || randomInt(1_000_000))
const only = new RegExp(process.env.FAULT ?? "")
const database = "chaos"
const skip = whyNoNamespaces()

const clusterFaults = [allKilled, powerStrip]
const faults = [...processFaults, ...networkFaults, ...diskFaults, ...rotFaults, ...clockFaults, ...memberFaults].filter(({ name }) => only.test(name))
for (const { name, why } of faults.filter(fault => !skip && fault.why?.())) {
  test(`Fault: ${name}`, { skip: why() })
}

/** Plays each fault once, in a random order. Long runs play a fault of all nodes after each of them, and end when the time is over. */
async function playAll({ chaos, chance, end }, load) {
  for (const fault of chance.shuffle(faults.filter(({ why }) => !why?.()))) {
    for (const next of minutes > 0 && !clusterFaults.includes(fault) ? [fault, chaos.nextClusterFault] : [fault]) {
      await chaos.play(next, load.requests).catch(failure => {
        throw new Error(`${next.name}: ${failure.message}`)
      })
      if (minutes > 0 && performance.now() > end) {
        return
      }
    }
  }
}

/** Checks that everything acknowledged is at each node, that an order explains all answers, and that all nodes have the same content. */
async function judge(cluster, load, acknowledged) {
  load.acknowledged.forEach((version, id) => acknowledged.set(id, version))
  for (const { name, node } of cluster.members) {
    assert.deepEqual(await lost(node, database, acknowledged), [], `acknowledged, and missing at ${name}`)
    await cluster.waitUntil(`${name} has its lost data again`, async () => {
      // Damage of a cached block is found, and then repaired, when the block is read from the disk again.
      const wrongIds = await wrongBase(node, database).catch(refused => {
        assert.match(refused.message, /is damaged at byte/)
        return undefined
      })
      assert.deepEqual(wrongIds ?? [], [], `wrong at ${name}`)
      return wrongIds !== undefined
    })
  }

  const path = join(mkdtempSync(join(tmpdir(), "rookery-chaos-")), "history.jsonl")
  writeFileSync(path, load.history.map(operation => JSON.stringify(operation)).join("\n"))
  const { code, text } = await checkHistory(path)
  assert.equal(code, 0, `${text} (${path})`)
  const contents = await Promise.all(cluster.members.map(member => wholeContentsOf(cluster, member)))
  assert.equal(new Set(contents.map(({ hash }) => hash)).size, 1, `the nodes hold different documents: ${JSON.stringify(contents)}`)
  return `${acknowledged.size} documents acknowledged and found on each node, all ${contents[0].count} documents equal; ${text}`
}

/** Returns a hash of every document of a node with its change vector. */
async function contentsOf(node) {
  const lines = []
  for (const name of [database, redisDatabase]) {
    const { status, text } = await node.request("GET", `/databases/${name}/streams/docs?startsWith=&format=jsonl`)
    assert.equal(status, 200, text.slice(0, 300))
    lines.push(...text.trim().split("\n"))
  }

  return { hash: createHash("sha256").update(lines.join("\n")).digest("hex"), count: lines.length }
}

/** Returns the same hash. While undetected damage breaks the answer off, it retries, because the member then repairs the damage. */
async function wholeContentsOf(cluster, { name, node }) {
  let contents
  await cluster.waitUntil(`${name} returns all its documents`, async () => {
    contents = await contentsOf(node).catch(failure => {
      assert.ok(failure.code === "ECONNRESET" && node.log.includes("is damaged at byte"), failure)
      return undefined
    })
    return contents !== undefined
  })
  return contents
}

test("Three nodes under load and faults lose nothing, stay linearizable and end equal", { skip, timeout: (minutes + 10) * 60_000 }, async t => {
  const startedAt = performance.now()
  const report = line => console.log(`${((performance.now() - startedAt) / 1000).toFixed(0).padStart(5)} s  ${line}`)
  const cluster = await NamespacedCluster.form(t)
  const chance = new Chance(seed)
  const chaos = new Chaos({ cluster, chance, isLong: minutes > 0, clusterFaults, report })
  const end = performance.now() + minutes * 60_000
  const acknowledged = new Map()
  try {
    await cluster.nodes[0].createDatabase(database)
    await cluster.settled()
    await storeBase(cluster, database)
    report(`formed; SEED=${seed}`)
    for (let round = 1; round === 1 || performance.now() < end; round++) {
      const load = new RecordedLoad(cluster, database, round, seed).start()
      await playAll({ chaos, chance, end }, load)
      await load.stop()
      report(await judge(cluster, load, acknowledged))
    }

    report(`${chaos.faults} faults; the whole cluster was killed ${chaos.clusterFaultsPlayed} times; ${chaos.evidence}`)
    assert.deepEqual(chaos.evidence.missing, [], "faults that were played often and never had an effect: surviving them proves nothing")
  } catch (failure) {
    const logs = cluster.everStarted.map(({ name, node }) => `${name}:\n${node.log}`).join("\n\n")
    const path = join(mkdtempSync(join(tmpdir(), "rookery-chaos-")), "logs")
    writeFileSync(path, logs)
    // A machine that runs tests for others keeps only what is printed. It is printed apart from the error: Node's runner
    // (20.20) loops for ever if an error is longer than a pipe takes at once.
    for (const { name, node } of cluster.everStarted) {
      console.error(`The end of the log of ${name}:\n${node.log.trimEnd().split("\n").slice(-8).map(line => line.slice(0, 250)).join("\n")}`)
    }

    const replay = `make chaos SEED=${seed}${minutes > 0 ? ` MINUTES=${minutes}` : ""}`
    throw new Error(`${failure.message}\nThe logs of the nodes: ${path}. To replay the schedule: ${replay}`)
  }
})
