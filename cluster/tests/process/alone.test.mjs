// A member that starts after a power cut while the others stay off cannot learn from them what was committed.
import assert from "node:assert/strict"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "alone"
const writes = 20

test("A member that starts without the others accepts its users and shows what it knew to be committed", { timeout: 120_000 }, async t => {
  const cluster = await ThreeNodes.form(t, { secure: true })
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  for (let n = 1; n <= writes; n++) {
    await cluster.nodes[1].expect(201, "PUT", `/databases/${database}/docs?id=writes/${n}`, JSON.stringify({ n }))
  }

  await Promise.all(cluster.nodes.map(node => node.kill()))
  await cluster.start(2, "/livez")
  const alone = cluster.nodes[2]
  const read = async n => await alone.request("GET", `/databases/${database}/docs?id=writes/${n}&consistency=local`)
  await until(async () => (await read(writes - 2)).status === 200)
  for (let n = 1; n < writes - 1; n++) {
    assert.equal(JSON.parse((await read(n)).text).Results[0].n, n)
  }

  assert.equal((await alone.request("GET", `/databases/${database}/docs?id=writes/1`)).status, 503, "it cannot know whether its state is the newest")
  assert.match((await alone.request("GET", "/readyz?verbose")).text, /must reach each other/)
  const { status, text } = await alone.request("GET", "/readyz")
  assert.equal(status, 200, "it serves its own documents")
  assert.match(text, /^ok, but: No leader is known here: 2 of 3 voters must reach each other to elect one, and this node does not reach a \(A\) and b \(B\)\./)
  assert.equal((await alone.request("GET", "/metrics")).status, 200)

  await Promise.all([cluster.start(0), cluster.start(1)])
  await until(async () => (await alone.request("GET", `/databases/${database}/docs?id=writes/${writes}`)).status === 200)
})
