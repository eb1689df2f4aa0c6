// Plays faults on a cluster under load, and judges the answers to clients, the logs and the nodes' states.
import assert from "node:assert/strict"
import { Evidence } from "./evidence.mjs"
import { Logs } from "./logs.mjs"
import { pause } from "./namespaced-cluster.mjs"

const seconds = milliseconds => (milliseconds / 1000).toFixed(1)

/**
 * A fault is `{ name, begin(cluster, chance) }`, and may have `why` it cannot be played here, `isQuiet` (only requests that `mayFail` names may fail), `excuses` (the log messages it permits, see Logs), `lastsMilliseconds`
 * in long runs and `mayMeetClusterFault` (one of `clusterFaults` may be played meanwhile). `begin` returns an object with these members, all but the first optional:
 * - `what`: the rest of the report's sentence after the name, for example which member was hit
 * - `end()`: ends the fault, if it does not end by itself
 * - `mayFail(failure)`: whether a request may fail because of it
 * - `takesHold()`: whether the fault has an effect, asked just before it ends; `tookHold()`: whether it had one, asked when all nodes are well again
 */
export class Chaos {
  faults = 0
  clusterFaultsPlayed = 0
  evidence = new Evidence()
  #cluster
  #chance
  #isLong
  #clusterFaults
  #report
  #logs

  /** @param clusterFaults Faults that end all nodes at once, such as a power cut. Long runs play them in turn, also during other faults. */
  constructor({ cluster, chance, isLong = false, clusterFaults = [], report = () => {} }) {
    this.#cluster = cluster
    this.#chance = chance
    this.#isLong = isLong
    this.#clusterFaults = clusterFaults
    this.#report = report
    this.#logs = new Logs(cluster.everStarted)
  }

  /** Returns the next fault of `clusterFaults`. */
  get nextClusterFault() {
    return this.#clusterFaults[this.clusterFaultsPlayed % this.#clusterFaults.length]
  }

  async play(fault, requests) {
    const begunAt = performance.now()
    const { what, end, mayFail = () => false, takesHold, tookHold } = await fault.begin(this.#cluster, this.#chance)
    const excuses = [...fault.excuses ?? []]
    let duringClusterFault = ""
    let isSeenBeforeEnd = false
    if (end) {
      await pause(this.#chance.between(1_000, 3_000))
      if (this.#isLong && fault.mayMeetClusterFault && this.#chance.happens(0.5)) {
        const clusterFault = this.nextClusterFault
        await this.#playBriefly(clusterFault)
        excuses.push(...clusterFault.excuses ?? [])
        duringClusterFault = `, during it ${clusterFault.name}`
      }

      await pause(this.#longer(fault))
      isSeenBeforeEnd = await ask(takesHold)
      await end()
    }

    const endedAt = performance.now()
    await this.#cluster.settled()
    const settledAt = performance.now()
    await requests.haveEnded(settledAt)
    const isSeen = takesHold || tookHold ? isSeenBeforeEnd || await ask(tookHold) || false : undefined
    if (duringClusterFault === "") {
      this.evidence.add(fault, isSeen)
    }

    this.faults++
    this.clusterFaultsPlayed += this.#clusterFaults.includes(fault) ? 1 : 0
    const failures = requests.failedWithin(begunAt, settledAt)
    this.#report(`${fault.name} ${what}${duringClusterFault}: ${seconds(endedAt - begunAt)} s, all nodes well ${seconds(settledAt - endedAt)} s later; ${failures.length} requests failed${isSeen === false ? "; no effect seen" : ""}`)
    assertNone(requests.wrong, "answers that no fault excuses")
    assertNone(this.#logs.search(excuses), "logs that no fault excuses")
    if (fault.isQuiet && duringClusterFault === "") {
      assertNone(failures.filter(failure => !mayFail(failure)), "requests failed that clients should not notice")
    }
  }

  async #playBriefly(clusterFault) {
    const { end } = await clusterFault.begin(this.#cluster, this.#chance)
    await pause(this.#chance.between(0, 500))
    await end()
    this.clusterFaultsPlayed++
  }

  /** Makes half of the faults in a long run last longer than the waits for elections and stalls. */
  #longer(fault) {
    return !this.#isLong ? 0 : fault.lastsMilliseconds ?? (this.#chance.happens(0.5) ? this.#chance.between(0, 12_000) : 0)
  }
}

/** Returns whether the question is answered with yes: false when it fails, undefined when there is no question. */
const ask = question => question === undefined ? undefined : Promise.resolve().then(question).then(Boolean, () => false)

/** The first five of what was found are in the message, because an assertion with a message of its own shows nothing else. */
const assertNone = (found, what) => assert.equal(found.length, 0, `${what}: ${JSON.stringify(found.slice(0, 5)).slice(0, 3000)}`)
