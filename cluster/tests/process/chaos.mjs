// Plays faults on a cluster under load, and judges the answers to clients, the logs and the nodes' states.
import assert from "node:assert/strict"
import { Evidence } from "./evidence.mjs"
import { Logs } from "./logs.mjs"
import { pause } from "./namespaced-cluster.mjs"

const seconds = milliseconds => (milliseconds / 1000).toFixed(1)

/**
 * A fault is `{ name, begin(cluster, chance) }`, and may have `why` it cannot be played here, `isQuiet` (only requests that `mayFail` names may fail), `excuses` (the log messages it permits, see Logs), `lastsMilliseconds`
 * in long runs and `mayBeHitByPowerStrip`. Beginning it returns `{ what, end, mayFail, takesHold, tookHold }`. Whether it has an effect is asked before it ends, and again when all is well.
 */
export class Chaos {
  faults = 0
  allKilled = 0
  evidence = new Evidence()
  #cluster
  #chance
  #isLong
  #strips
  #report
  #logs

  /** @param strips Faults that hit the whole cluster: in long runs, in turn, also during other faults. */
  constructor({ cluster, chance, isLong = false, strips = [], report = () => {} }) {
    this.#cluster = cluster
    this.#chance = chance
    this.#isLong = isLong
    this.#strips = strips
    this.#report = report
    this.#logs = new Logs(cluster.everStarted)
  }

  /** Returns the next fault of `strips`. */
  get nextStrip() {
    return this.#strips[this.allKilled % this.#strips.length]
  }

  async play(fault, requests) {
    const begun = performance.now()
    const { what, end, mayFail = () => false, takesHold, tookHold } = await fault.begin(this.#cluster, this.#chance)
    const excuses = [...fault.excuses ?? []]
    let amid = ""
    let seen = false
    if (end) {
      await pause(this.#chance.between(1_000, 3_000))
      if (this.#isLong && fault.mayBeHitByPowerStrip && this.#chance.happens(0.5)) {
        const strip = this.nextStrip
        await this.#hit(strip)
        excuses.push(...strip.excuses ?? [])
        amid = `, amid it ${strip.name}`
      }

      await pause(this.#longer(fault))
      seen = await ask(takesHold)
      await end()
    }

    const ended = performance.now()
    await this.#cluster.settled()
    const settled = performance.now()
    await requests.haveEnded(settled)
    const isSeen = takesHold || tookHold ? seen || await ask(tookHold) || false : undefined
    if (amid === "") {
      this.evidence.add(fault, isSeen)
    }

    this.faults++
    this.allKilled += this.#strips.includes(fault) ? 1 : 0
    const failures = requests.failedWithin(begun, settled)
    this.#report(`${fault.name} ${what}${amid}: ${seconds(ended - begun)} s, all well ${seconds(settled - ended)} s after; ${failures.length} requests failed${isSeen === false ? "; not seen to take hold" : ""}`)
    assert.deepEqual(requests.wrong.slice(0, 5), [], "answers that no fault excuses")
    assert.deepEqual(this.#logs.search(excuses).slice(0, 5), [], "logs that no fault excuses")
    if (fault.isQuiet && amid === "") {
      assert.deepEqual(failures.filter(failure => !mayFail(failure)).slice(0, 5), [], "failed, and should not have been noticed")
    }
  }

  async #hit(strip) {
    const { end } = await strip.begin(this.#cluster, this.#chance)
    await pause(this.#chance.between(0, 500))
    await end()
    this.allKilled++
  }

  /** Makes half of the faults in a long run last longer than the waits for elections and stalls. */
  #longer(fault) {
    return !this.#isLong ? 0 : fault.lastsMilliseconds ?? (this.#chance.happens(0.5) ? this.#chance.between(0, 12_000) : 0)
  }
}

/** Returns whether the question is answered with yes: false when it fails, undefined when there is no question. */
const ask = question => question === undefined ? undefined : Promise.resolve().then(question).then(Boolean, () => false)
