// A member that moves while it is off, to an address that differs from its source address. On loopback the source
// address is 127.0.0.1, wherever the member listens.
import assert from "node:assert/strict"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "moved"

test("Members that moved while off are dialled where they listen, not only at their source addresses", { timeout: 120_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  for (const [index, address] of [[2, "127.0.0.2"], [0, "127.0.0.3"]]) {
    const path = `/databases/${database}/docs?id=off/${index}`
    await cluster.nodes[index].terminate()
    await until(async () => (await cluster.nodes[(index + 1) % 3].request("PUT", path, "{}")).status === 201)
    await cluster.start(index, "/readyz", address)
    await until(async () => (await cluster.nodes[index].request("GET", path)).status === 200)
  }

  await cluster.settled(database)
  await until(async () => {
    const { Topology } = await cluster.topology(0)
    return ["127.0.0.2", "127.0.0.3"].every(address => Object.values(Topology.Members).some(url => new URL(url).hostname === address))
  })
})

test("Members that all moved while off report where they look, and find each other by a list of addresses", { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  await cluster.nodes[0].expect(201, "PUT", `/databases/${database}/docs?id=before`, "{}")
  await Promise.all(cluster.nodes.map(node => node.terminate()))
  const newAddresses = ["127.0.1.1", "127.0.1.2", "127.0.1.3"]
  const places = cluster.ports.map((port, index) => `${newAddresses[index]}:${port + 1000}`)
  await Promise.all([0, 1, 2].map(index => cluster.start(index, "/livez", newAddresses[index])))

  const refusedAt = (name, index) => new RegExp(`^${name} is looked for at .*127\\.0\\.0\\.1:${cluster.ports[index] + 1000} \\(Connection refused\\)`, "m")
  await until(async () => {
    const status = await cluster.status(0)
    return /does not reach b \(B\) and c \(C\)/.test(status) && refusedAt("b \\(B\\)", 1).test(status) && refusedAt("c \\(C\\)", 2).test(status)
  })
  await until(() => /No leader is known here.* b \(B\) is looked for at /.test(cluster.nodes[0].log))
  assert.equal((await cluster.nodes[0].request("GET", `/databases/${database}/docs?id=before`)).status, 503)

  // One list suits all nodes: a node does not look for others at its own address.
  await Promise.all(cluster.nodes.map(node => node.terminate()))
  await Promise.all([0, 1, 2].map(index => cluster.start(index, "/livez", newAddresses[index], ["--peers", places.join()])))
  await cluster.settled(database)
  await cluster.nodes[0].expect(200, "GET", `/databases/${database}/docs?id=before`)
  await until(async () => {
    const topologies = await Promise.all([0, 1, 2].map(index => cluster.topology(index)))
    return topologies.every(({ Topology }) => newAddresses.every(address => Object.values(Topology.Members).some(url => new URL(url).hostname === address)))
  })

  // From then on all members know all addresses.
  await Promise.all(cluster.nodes.map(node => node.terminate()))
  await Promise.all([0, 1, 2].map(index => cluster.start(index, "/livez", newAddresses[index])))
  await cluster.settled(database)
})
