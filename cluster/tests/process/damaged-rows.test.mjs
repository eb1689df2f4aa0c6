// Writes replace damaged rows of one member: it can neither apply the entries nor repair the rows, and installs the
// leader's snapshot.
import assert from "node:assert/strict"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { filesOf, rot } from "./cards.mjs"
import { Chance } from "./chance.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const database = "damaged"

// 24 MB: more than a memtable holds, so most are in a run.
const documents = 1_200
const document = () => JSON.stringify({ text: randomBytes(15 << 10).toString("base64") })

test("A member with damaged rows installs the leader's snapshot while clients continue to write", { timeout: 120_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase(database)
  await cluster.settled(database)
  const put = async (id, body) => until(() => cluster.nodes[0].request("PUT", `/databases/${database}/docs?id=${id}`, body).then(({ status }) => status === 201, () => false))
  for (let n = 0; n < documents; n++) {
    await put(`users/${n}`, document())
  }

  if (await cluster.leader() === 2) {
    await cluster.transfer(0)
    await until(async () => await cluster.leader() !== 2)
  }

  const damaged = cluster.nodes[2]
  await damaged.terminate()
  const [run] = filesOf(join(cluster.dataOf(2), "storage"), /\.run$/)
  rot(run, new Chance(1), { places: 200 })
  await cluster.start(2)
  const newest = new Map()
  for (let n = 0; n < documents; n += 2) {
    newest.set(n, document())
    await put(`users/${n}`, newest.get(n))
  }

  await until(async () => (await cluster.nodes[2].request("GET", "/metrics")).text.includes('rookery_state_installed_total{kind="files"} 1'))
  assert.match(cluster.nodes[2].log, /This node cannot apply further writes, because a part of its data cannot be read\. It fetches the state of another member as soon as that member leads\. /)
  for (const [n, body] of newest) {
    const { status, text } = await cluster.nodes[2].request("GET", `/databases/${database}/docs?id=users/${n}`)
    assert.equal(status, 200, text)
    assert.equal(JSON.parse(text).Results[0].text, JSON.parse(body).text, `users/${n}`)
  }

  assert.match((await cluster.nodes[2].request("GET", "/metrics")).text, /^rookery_damaged_places 0$/m)
})
