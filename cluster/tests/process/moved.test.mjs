// A member that moves while it is off, to an address that its calls do not come from: on loopback these come from 127.0.0.1 wherever it listens.
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "moved"

test("Members that moved while they were off are called where they listen, and not only where their calls come from", { timeout: 120_000 }, async t => {
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
