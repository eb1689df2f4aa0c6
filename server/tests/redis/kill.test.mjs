// kill -9 under pipelined commands: after the restart every acknowledged command is there, and of those in flight on a
// connection the first ones or none, a transaction whole. KILLS is the number of kills (default 5).
import assert from "node:assert/strict"
import { test } from "node:test"
import { afterwards, freePort, NodeProcess, temporaryDirectory } from "../process/node-process.mjs"
import { generator } from "./random-commands.mjs"
import { Resp } from "./resp.mjs"

const kills = Number(process.env.KILLS ?? 5)
const writers = 6
const common = "common"

/** A connection that sends bursts of steps without waiting for single replies. All keys but the common counter are its own. */
class Writer {
  #name
  #random
  #version = 0
  /** The values of its keys at the last check. */
  #values = new Map()
  /** The steps since the last check, in the order of their replies. */
  #steps = []
  #acknowledged = 0
  acknowledgements = 0
  /** The common counter's values in replies since the last check, and how often it was incremented. */
  counted = []
  increments = 0

  constructor(number) {
    this.#name = `w${number}`
    this.#random = generator(number)
  }

  /** Sends bursts until the connection ends. */
  async write(port) {
    const resp = await Resp.connect(port)
    for (let isOpen = true; isOpen;) {
      const burst = Array.from({ length: 1 + this.#random.below(50) }, () => this.#step())
      const replies = burst.map(step => resp.send(step.commands).at(-1).then(reply => this.#acknowledge(step, reply)))
      isOpen = (await Promise.allSettled(replies)).every(({ status, reason }) => {
        assert.ok(status === "fulfilled" || /the connection (had )?ended/.test(reason.message), reason?.message)
        return status === "fulfilled"
      })
    }
  }

  /** Asserts that the values are those after the acknowledged steps, or after some more of the steps that were sent. */
  async check(resp, when) {
    const keys = [...new Set([...this.#values.keys(), ...this.#steps.flatMap(step => Object.keys(step.changes))])]
    const [found] = keys.length > 0 ? await resp.call([["MGET", ...keys]]) : [[]]
    const differing = () => keys.filter((key, at) => (this.#values.get(key) ?? 0) !== Number(found[at] ?? 0))
    let applied = 0
    for (; applied < this.#acknowledged || (applied < this.#steps.length && differing().length > 0); applied++) {
      for (const [key, change] of Object.entries(this.#steps[applied].changes)) {
        this.#values.set(key, change(this.#values.get(key) ?? 0))
      }
    }

    assert.deepEqual(differing(), [], `${when}: ${this.#acknowledged} of ${this.#steps.length} steps of ${this.#name} were acknowledged, and no number of them explains the values ${found}`)
    this.#steps = []
    this.#acknowledged = this.increments = 0
    this.counted = []
  }

  #step() {
    const version = ++this.#version
    const key = `${this.#name}:${this.#random.below(30)}`
    const [left, right, count] = ["left", "right", "count"].map(part => `${this.#name}:${part}`)
    const set = () => version
    const add = value => value + 1
    const step = this.#random.of([
      { commands: [["SET", key, `${version}`]], changes: { [key]: set } },
      { commands: [["SET", key, `${version}`]], changes: { [key]: set } },
      { commands: [["INCR", count]], changes: { [count]: add } },
      { commands: [["INCR", common]], changes: {} },
      {
        commands: [["MULTI"], ["SET", left, `${version}`], ["INCR", count], ["SET", right, `${version}`], ["EXEC"]],
        changes: { [left]: set, [count]: add, [right]: set },
      },
    ])
    this.#steps.push(step)
    this.increments += step.commands[0][1] === common ? 1 : 0
    return step
  }

  #acknowledge(step, reply) {
    assert.equal(reply.error, undefined)
    this.#acknowledged++
    this.acknowledgements++
    if (step.commands[0][1] === common) {
      this.counted.push(reply)
    }
  }
}

test(`No acknowledged command of Redis is lost by ${kills} kills`, { timeout: 60_000 + kills * 10_000 }, async t => {
  const port = await freePort()
  const settings = { data: temporaryDirectory(t), options: ["--memory", "128M", "--redis", `${port}`] }
  const all = Array.from({ length: writers }, (_, number) => new Writer(number))
  let count = 0
  let node = await NodeProcess.serve(settings)
  afterwards(t, () => node.kill())
  for (let kill = 1; kill <= kills; kill++) {
    const writing = all.map(writer => writer.write(port))
    await new Promise(done => setTimeout(done, 100 + (kill * 37) % 400))
    await node.kill()
    await Promise.all(writing)

    node = await NodeProcess.serve(settings)
    const resp = await Resp.connect(port)
    const counted = all.flatMap(writer => writer.counted)
    const most = count + all.reduce((sum, writer) => sum + writer.increments, 0)
    const found = Number((await resp.call([["GET", common]]))[0] ?? 0)
    assert.equal(new Set(counted).size, counted.length, "two clients got one value of the counter")
    assert.ok(found >= Math.max(count, ...counted) && found <= most, `after kill ${kill} the counter is ${found}, at least ${Math.max(count, ...counted)} was acknowledged, and ${most} is the most`)
    count = found
    for (const writer of all) {
      await writer.check(resp, `after kill ${kill}`)
    }

    resp.close()
  }

  const acknowledged = all.reduce((sum, writer) => sum + writer.acknowledgements, 0)
  assert.ok(acknowledged > 20 * kills, "there were more acknowledged commands than kills")
  t.diagnostic(`${acknowledged} commands and transactions acknowledged`)
})
