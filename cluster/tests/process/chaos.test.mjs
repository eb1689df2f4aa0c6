// Three real nodes in network namespaces of their own, under load and under faults: nothing that was acknowledged is lost, every history is linearizable, and in the end all hold the same.
// Each kind of fault once in an order drawn from SEED; for MINUTES, if they are given, again and again, with a whole-cluster kill after each of the others, and amid some.
import assert from "node:assert/strict"
import { createHash, randomInt } from "node:crypto"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { lost } from "../../../server/tests/process/load.mjs"
import { Chance } from "./chance.mjs"
import { clockFaults, storeExpiring } from "./faults/clocks.mjs"
import { diskFaults } from "./faults/disks.mjs"
import { memberFaults } from "./faults/members.mjs"
import { networkFaults } from "./faults/network.mjs"
import { powerStrip, processFaults } from "./faults/processes.mjs"
import { checkHistory } from "./history.mjs"
import { whyNoNamespaces } from "./namespaces.mjs"
import { NamespacedCluster, pause } from "./namespaced-cluster.mjs"
import { startRecordedLoad, storeBase, wrongBase } from "./recorded-load.mjs"

const minutes = Number(process.env.MINUTES || 0)
const seed = Number(process.env.SEED || randomInt(1_000_000))
const only = new RegExp(process.env.FAULT ?? "")
const database = "chaos"
const skip = whyNoNamespaces()

const faults = [...processFaults, ...networkFaults, ...diskFaults, ...clockFaults, ...memberFaults].filter(({ name }) => only.test(name))
for (const { name, why } of faults.filter(fault => !skip && fault.why?.())) {
  test(`Fault: ${name}`, { skip: why() })
}

class Chaos {
  powerStrips = 0
  faults = 0
  #acknowledged = new Map()

  constructor(report, cluster) {
    this.report = report
    this.cluster = cluster
    this.chance = new Chance(seed)
    this.path = join(mkdtempSync(join(tmpdir(), "rookery-chaos-")), "history.jsonl")
  }

  async playRound(round) {
    const load = startRecordedLoad(this.cluster, database, round, seed)
    for (const fault of this.chance.shuffle(faults.filter(({ why }) => !why?.()))) {
      await this.#playFault(fault, load).catch(failure => {
        failure.message = `${fault.name}: ${failure.message}`
        throw failure
      })
      if (minutes > 0 && performance.now() > this.end) {
        break
      }

      if (minutes > 0 && fault !== powerStrip) {
        await this.#playFault(powerStrip, load)
      }
    }

    await load.stop()
    await this.#judge(load)
  }

  async #playFault(fault, load) {
    load.nextPhase()
    const begun = performance.now()
    const { what, end, mayFail = () => false } = await fault.begin(this.cluster, this.chance)
    let amid = ""
    if (end) {
      await pause(this.chance.between(1_000, 3_000))
      if (minutes > 0 && fault.mayBeHitByPowerStrip && this.chance.happens(0.5)) {
        const strip = await powerStrip.begin(this.cluster, this.chance)
        await pause(this.chance.between(0, 500))
        await strip.end()
        await pause(this.chance.between(0, 2_000))
        this.powerStrips++
        amid = ", amid it all killed at once"
      }

      await end()
    }

    const ended = performance.now()
    await this.cluster.settled()
    this.faults++
    this.powerStrips += fault === powerStrip ? 1 : 0
    const failures = load.failures.filter(({ invoked }) => invoked >= begun)
    const seconds = milliseconds => (milliseconds / 1000).toFixed(1)
    this.report(`${fault.name} ${what}${amid}: ${seconds(ended - begun)} s, all well ${seconds(performance.now() - ended)} s after; ${failures.length} requests failed`)
    assert.deepEqual(load.wrong, [], "answers that no fault excuses")
    if (fault.isQuiet) {
      assert.deepEqual(failures.filter(failure => !mayFail(failure)).slice(0, 5), [], "failed, and should not have been noticed")
    }
  }

  async #judge(load) {
    load.acknowledged.forEach((version, id) => this.#acknowledged.set(id, version))
    for (const { name, node } of this.cluster.members) {
      assert.deepEqual(await lost(node, database, this.#acknowledged), [], `acknowledged, and not there at ${name}`)
      assert.deepEqual(await wrongBase(node, database), [], `wrong at ${name}`)
    }

    writeFileSync(this.path, load.history.map(operation => JSON.stringify(operation)).join("\n"))
    const { code, text } = await checkHistory(this.path)
    assert.equal(code, 0, `${text} (${this.path})`)
    const contents = await Promise.all(this.cluster.nodes.map(contentsOf))
    assert.equal(new Set(contents.map(({ hash }) => hash)).size, 1, `the nodes hold different documents: ${JSON.stringify(contents)}`)
    this.report(`${this.#acknowledged.size} documents acknowledged and found on each node, all ${contents[0].count} documents equal; ${text}`)
  }
}

/** Every document of a node with its change vector, in one number. */
async function contentsOf(node) {
  const { status, text } = await node.request("GET", `/databases/${database}/streams/docs?startsWith=&format=jsonl`)
  assert.equal(status, 200, text.slice(0, 300))
  const lines = text.trim().split("\n")
  return { hash: createHash("sha256").update(lines.join("\n")).digest("hex"), count: lines.length }
}

test("Three nodes under load and faults lose nothing, stay linearizable and end equal", { skip, timeout: (minutes + 10) * 60_000 }, async t => {
  const begun = performance.now()
  const report = line => console.log(`${((performance.now() - begun) / 1000).toFixed(0).padStart(5)} s  ${line}`)
  const cluster = await NamespacedCluster.form(t)
  const chaos = new Chaos(report, cluster)
  chaos.end = performance.now() + minutes * 60_000
  try {
    await cluster.nodes[0].createDatabase(database)
    await cluster.settled()
    await storeBase(cluster, database)
    await storeExpiring(cluster.nodes[0], database)
    report(`formed; SEED=${seed}`)
    for (let round = 1; ; round++) {
      await chaos.playRound(round)
      if (performance.now() > chaos.end) {
        break
      }
    }

    report(`${chaos.faults} faults; the whole cluster was killed ${chaos.powerStrips} times`)
  } catch (failure) {
    const logs = cluster.everStarted.map(({ name, node }) => `${name}:\n${node.log}`).join("\n\n")
    const path = join(mkdtempSync(join(tmpdir(), "rookery-chaos-")), "logs")
    writeFileSync(path, logs)
    failure.message += `\nThe logs of the nodes: ${path}. To replay the schedule: make chaos SEED=${seed}${minutes > 0 ? ` MINUTES=${minutes}` : ""}`
    throw failure
  }
})
