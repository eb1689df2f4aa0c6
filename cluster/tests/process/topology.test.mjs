// The topology that RavenDB's clients receive from three real nodes while one of them does not respond for a while.
import assert from "node:assert/strict"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

test("All nodes report the same leader and missing members, under growing etags", { timeout: 120_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("topology")
  await cluster.settled("topology")
  const leader = await cluster.leader()
  const silent = (leader + 1) % 3
  const rolesByEtag = new Map()
  let newest = 0

  // Returns what the answering nodes report, once they agree.
  const awaitAgreement = async (indexes, holds) => {
    let topology
    await until(async () => {
      const all = await Promise.all(indexes.map(index => cluster.nodes[index].expect(200, "GET", "/topology?name=topology")))
      for (const { Etag, Nodes } of all) {
        const roles = Nodes.map(({ ClusterTag, ServerRole }) => `${ClusterTag} ${ServerRole}`).join()
        assert.equal(rolesByEtag.get(Etag) ?? roles, roles, "nodes with the same etag report the same roles")
        rolesByEtag.set(Etag, roles)
      }

      topology = all[0]
      return all.every(({ Etag }) => Etag === topology.Etag && Etag > newest) && holds(topology.Nodes)
    })
    newest = topology.Etag
    return topology.Nodes
  }

  const members = await awaitAgreement([0, 1, 2], nodes => nodes.length === 3 && nodes.every(({ ServerRole }) => ServerRole === "Member"))
  assert.deepEqual(new Set(members.map(({ Url }) => Url)), new Set(cluster.urls))
  assert.equal(members[0].Url, cluster.urls[leader])

  const { child } = cluster.nodes[silent]
  child.kill("SIGSTOP")
  await awaitAgreement([0, 1, 2].filter(index => index !== silent), nodes => nodes.some(({ Url, ServerRole }) => Url === cluster.urls[silent] && ServerRole === "Rehab"))
  child.kill("SIGCONT")
  await awaitAgreement([0, 1, 2], nodes => nodes.every(({ ServerRole }) => ServerRole === "Member"))

  await cluster.transfer(await cluster.leader())
  const next = await cluster.leader()
  await awaitAgreement([0, 1, 2], nodes => nodes.length === 3 && nodes[0].Url === cluster.urls[next])
})
