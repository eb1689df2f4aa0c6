// Each member indexes by itself and answers from its own index, also after it was killed while building it or while
// documents changed.
import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "/databases/shop"
const index = "Auto/Orders/Bybuyer"
const documents = 20_000
const buyers = 50

test("Members index by themselves and continue after kill -9", { timeout: 240_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("shop")
  await cluster.settled("shop")

  // The expected result: the number of orders of each buyer.
  const expected = new Map()
  const buyerOf = new Map()
  const put = async (node, changes) => {
    const commands = changes.map(([id, buyer]) => ({ Id: id, Type: buyer === null ? "DELETE" : "PUT", Document: buyer === null ? undefined : { buyer, note: "x".repeat(100), "@metadata": { "@collection": "Orders" } } }))
    await node.expect(201, "POST", `${database}/bulk_docs`, JSON.stringify({ Commands: commands }))
    for (const [id, buyer] of changes) {
      expected.set(buyerOf.get(id), (expected.get(buyerOf.get(id)) ?? 0) - 1)
      buyerOf.set(id, buyer)
      expected.set(buyer, (expected.get(buyer) ?? 0) + 1)
    }
  }
  for (let from = 0; from < documents; from += 1000) {
    await put(cluster.nodes[0], Array.from({ length: 1000 }, (_, i) => [`orders/${from + i}`, `buyer ${(from + i) % buyers}`]))
  }

  const ask = async (node, buyer, milliseconds = 60_000) => await node.expect(200, "POST", `${database}/queries`, JSON.stringify({
    Query: "from Orders where buyer = $buyer limit 3",
    QueryParameters: { buyer },
    WaitForNonStaleResults: true,
    WaitForNonStaleResultsTimeout: milliseconds,
  }))
  const checkAll = async why => {
    for (const node of cluster.nodes) {
      for (const n of [0, 7, buyers - 1]) {
        const answer = await ask(node, `BUYER ${n}`)
        assert.equal(answer.IsStale, false)
        assert.equal(answer.TotalResults, expected.get(`buyer ${n}`), `${why}: orders of buyer ${n} at ${node.url}`)
      }
    }
  }
  const state = async node => (await node.expect(200, "GET", `${database}/indexes/stats?name=${index}`)).Results[0]

  // All members have the definition; one is killed while it builds the index.
  await ask(cluster.nodes[1], "buyer 0")
  const victim = (await cluster.leader() + 1) % 3
  await cluster.nodes[victim].kill()
  await cluster.start(victim)
  for (const node of cluster.nodes) {
    await until(async () => (await state(node)).EntriesCount === documents)
    assert.equal((await ask(node, "buyer 0")).IndexName, index)
  }

  await checkAll("after the build")

  // Members are killed while documents change, the leader too.
  for (let round = 0; round < 3; round++) {
    const killed = round === 2 ? await cluster.leader() : victim
    const writer = cluster.nodes[(killed + 1) % 3]
    await until(() => put(writer, [[`orders/${round}`, "buyer 1"]]).then(() => true, () => false))
    await cluster.nodes[killed].kill()
    await until(() => put(writer, Array.from({ length: 200 }, (_, i) => [`orders/${1000 * round + i}`, i % 3 ? `buyer ${(i * 7 + round) % buyers}` : null])).then(() => true, () => false))
    await cluster.start(killed)
    await checkAll(`after kill ${round + 1}`)
  }

  for (const n of [0, 1, 2]) {
    assert.deepEqual(readdirSync(join(cluster.dataOf(n), "indexes", "1")), ["1"], "each member has one folder for the index")
    assert.match((await cluster.nodes[n].request("GET", "/metrics")).text, /^rookery_indexes{state="normal"} 1$/m)
  }
})
