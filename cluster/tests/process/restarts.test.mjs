// Old copies and restarts: the founder's disk from when it was single is refused, and a node that was killed and
// restarted immediately is not refused as its own copy.
import assert from "node:assert/strict"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { NamespacedCluster, pause } from "./namespaced-cluster.mjs"
import { whyNoNamespaces } from "./namespaces.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const refused = /The cluster refused this node's data for good/

test("The founder's old disk, from when it was the only member, is refused within seconds and acknowledges no write after that", { timeout: 120_000 }, async t => {
  const cluster = await ThreeNodes.form(t, { keepsFirstCard: true })
  const write = (index, id) => cluster.nodes[index].request("PUT", `/databases/alone/docs?id=${id}`, "{}")
  await until(async () => (await write(1, "together")).status === 201)
  await cluster.nodes[0].terminate()
  cluster.putOldCardBack()
  const startedAt = performance.now()
  await cluster.start(0, "/livez")
  await until(() => refused.test(cluster.nodes[0].log))
  const milliseconds = performance.now() - startedAt
  t.diagnostic(`refused after ${Math.round(milliseconds)} ms`)
  assert.ok(milliseconds < 30_000, `refused after ${milliseconds} ms`)
  for (let n = 0; n < 10; n++) {
    assert.equal((await write(0, `late/${n}`)).status, 503, "it must not acknowledge writes that the other members do not have")
  }

  for (const index of [1, 2]) {
    await until(async () => (await write(index, `others/${index}`)).status === 201)
    assert.equal((await cluster.nodes[index].request("GET", "/databases/alone/docs?id=together")).status, 200)
    assert.equal((await cluster.nodes[index].request("GET", "/databases/alone/docs?id=late/0")).status, 404)
  }
})

test("A leader that is killed behind a slow link and restarted at once is not taken for a copy, and votes again", { skip: whyNoNamespaces(), timeout: 180_000 }, async t => {
  const cluster = await NamespacedCluster.form(t)
  await cluster.nodes[0].createDatabase("chaos")
  await cluster.settled()
  const leader = await cluster.leader()
  await cluster.network.slow(leader, 256)

  // More than the link carries, so that the leader's kernel continues to send after the process has ended.
  let isLoaded = true
  const text = "x".repeat(32 << 10)
  const load = Promise.all(Array.from({ length: 16 }, async (_, client) => {
    for (let n = 0; isLoaded; n++) {
      const { node } = cluster.members[(client + n) % 3]
      await node.request("PUT", `/databases/chaos/docs?id=load/${client}`, JSON.stringify({ text }), { timeout: 2_000 }).catch(() => pause(50))
    }
  }))
  try {
    await pause(1_500)
    await cluster.kill(leader)
    await cluster.start(leader)
    await cluster.waitUntil("the link was too slow for what was sent", async () => await cluster.network.waited(leader) > 0)
    await pause(2_000)
  } finally {
    isLoaded = false
    await load
  }

  await cluster.network.unslow(leader)
  await cluster.settled()
  assert.doesNotMatch(leader.node.log, refused)
  assert.ok(await cluster.hasVoters(3), "it votes")
})
