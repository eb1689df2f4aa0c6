// RavenDB's official clients against three real nodes that are killed and started again.
import { test } from "node:test"
import { ThreeNodes } from "../../../cluster/tests/process/three-nodes.mjs"
import { clients } from "./clients.mjs"
import { failover } from "./suites/failover.mjs"

const everything = Object.keys(failover)
const [newest, older] = clients

test("over plain HTTP", { timeout: 240_000 }, t => againstThreeNodes(t, { secure: false }, [[newest, everything], [older, everything]]))

test("over mutual TLS", { timeout: 240_000 }, t => againstThreeNodes(t, { secure: true }, [[newest, everything], [older, everything.slice(0, 1)]]))

/** Runs scenarios of failover.mjs; `plan` has pairs of a client and the names of its scenarios. */
async function againstThreeNodes(t, { secure }, plan) {
  const cluster = await ThreeNodes.form(t, { secure })
  cluster.authentication = secure ? { type: "pfx", certificate: cluster.credentials.pfx, password: "", ca: cluster.credentials.ca } : undefined
  for (const [client, names] of plan) {
    for (const name of names) {
      await t.test(`ravendb ${client.version}: ${name}`, async inner => {
        await cluster.restart()
        const database = `failover-${everything.indexOf(name)}-${client.version}`
        await cluster.nodes[await cluster.leader()].createDatabase(database)
        await cluster.settled(database)
        await failover[name](inner, client, cluster, database)
      })
    }
  }
}
