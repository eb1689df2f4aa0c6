// Writes through a follower while the leader's process is paused: the answers, and what is stored afterwards.
import assert from "node:assert/strict"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { pause } from "./namespaced-cluster.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const rounds = 2
const name = "A write that failed during the leader's pause is not stored later, and no acknowledged write is lost"

test(name, { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("chaos")
  await cluster.settled("chaos")
  for (let round = 0; round < rounds; round++) {
    const leader = await cluster.leader()
    const [follower, other] = [0, 1, 2].filter(index => index !== leader)
    const answers = []
    const write = async id => {
      const { status } = await cluster.nodes[follower].request("PUT", `/databases/chaos/docs?id=${id}`, "{}")
      answers.push({ id, status, at: performance.now() })
    }
    const isStored = async id => {
      const { status } = await cluster.nodes[follower].request("GET", `/databases/chaos/docs?id=${id}`)
      return status === 200
    }
    const missing = []
    cluster.nodes[leader].child.kill("SIGSTOP")
    try {
      const writes = Array.from({ length: 50 }, (_, n) => write(`${round}/${n}`))
      await until(async () => {
        const answers = await Promise.all([follower, other].map(index => cluster.topology(index)))
        return answers.some(({ CurrentState }) => CurrentState === "Leader")
      })
      const ledAt = performance.now()
      await Promise.all(writes)
      const lastMilliseconds = Math.max(...answers.map(({ at }) => at)) - ledAt
      await write(`${round}/after`)
      const counts = new Map()
      for (const { id, status } of answers) {
        counts.set(status, (counts.get(status) ?? 0) + 1)
        assert.ok([201, 503, 504].includes(status), `${id} was answered with ${status}`)
        if (!await isStored(id)) {
          assert.notEqual(status, 201, `${id} was acknowledged`)
          missing.push(id)
        } else {
          assert.notEqual(status, 503, `${id} was answered as not stored`)
        }
      }

      const summary = [...counts].map(([status, count]) => `${count} times ${status}`).join(", ")
      t.diagnostic(`round ${round}: ${summary}; the last ${Math.round(lastMilliseconds)} ms after the next leader served`)
    } finally {
      cluster.nodes[leader].child.kill("SIGCONT")
    }

    await until(async () => (await cluster.topology(leader)).CurrentState !== "Leader")
    await cluster.settled("chaos")
    await pause(2_000)
    for (const id of missing) {
      assert.equal(await isStored(id), false, `${id} was stored after its sender was answered`)
    }
  }
})
