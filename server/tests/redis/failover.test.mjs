// Redis clients against three real nodes of one cluster.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Redis } from "ioredis"
import { ThreeNodes } from "../../../cluster/tests/process/three-nodes.mjs"
import { freePort, until } from "../process/node-process.mjs"

test("three nodes serve one database", { timeout: 240_000 }, async t => {
  const ports = [await freePort(), await freePort(), await freePort()]
  const cluster = await ThreeNodes.form(t, { optionsOf: index => ["--redis", `${ports[index]}`] })
  const clients = ports.map(port => new Redis({ port, host: "127.0.0.1", retryStrategy: () => 50, maxRetriesPerRequest: null }))
  clients.forEach(client => client.on("error", () => {}))
  t.after(() => clients.forEach(client => client.disconnect()))

  await t.test("any member takes any command", async () => {
    for (const [index, client] of clients.entries()) {
      assert.equal(await client.set(`by:${index}`, `${index}`), "OK")
    }

    for (const client of clients) {
      assert.deepEqual(await client.mget("by:0", "by:1", "by:2"), ["0", "1", "2"])
      assert.equal(await client.wait(2, 0), 1)
    }
  })

  await t.test("messages reach the subscribers on the other members", async () => {
    const subscriber = new Redis({ port: ports[1], host: "127.0.0.1" })
    const received = []
    subscriber.on("message", (_, message) => received.push(message))
    await subscriber.subscribe("news")
    // The first connection between two members may need a moment; messages are volatile.
    await until(async () => {
      await clients[0].publish("news", "hello")
      return received.length > 0
    })
    subscriber.disconnect()
  })

  await t.test("a blocking pop on one member takes an element from another", async () => {
    const blocked = new Redis({ port: ports[2], host: "127.0.0.1" })
    const popped = blocked.blpop("queue", 0)
    await until(async () => (await clients[2].info("clients")).includes("blocked_clients:1"))
    await clients[0].rpush("queue", "element")
    assert.deepEqual(await popped, ["queue", "element"])
    blocked.disconnect()
  })

  await t.test("acknowledged writes survive the leader", async () => {
    const leader = await cluster.leader()
    const other = (leader + 1) % 3
    const acknowledged = []
    let isWriting = true
    const writing = (async () => {
      for (let i = 0; isWriting; i++) {
        // A write without leader is refused, or its outcome is unknown; only OK counts.
        await clients[other].set(`kept:${i}`, `${i}`).then(reply => reply === "OK" && acknowledged.push(i), () => {})
      }
    })()
    await until(() => acknowledged.length > 50)
    await cluster.nodes[leader].kill()
    const before = acknowledged.length
    await until(() => acknowledged.length > before + 50)
    isWriting = false
    await writing
    const values = await clients[other].mget(acknowledged.map(i => `kept:${i}`))
    assert.deepEqual(values, acknowledged.map(String))
    await cluster.restart()
    await until(() => clients[leader].get("kept:0").then(value => value === "0", () => false))
  })
})
