// What three real nodes report about each other: while all live, when one is killed, and without a majority.
import assert from "node:assert/strict"
import http from "node:http"
import https from "node:https"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

/** Follows a node's live view like a page. */
class Page {
  state = null
  #request

  constructor(test, node) {
    this.#request = http.get(`${node.url}/dashboard/live`, response => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", part => {
        text += part
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) {
          const data = /^data: (.*)$/m.exec(text.slice(0, end))
          if (data) {
            this.state = JSON.parse(data[1])
          }
        }
      })
      response.on("error", () => {})
    })
    this.#request.on("error", () => {})
    test.after(() => this.#request.destroy())
  }

  async shows(holds) {
    await until(() => this.state !== null && holds(this.state)).catch(late => {
      throw new Error(`${late.message}; it shows ${JSON.stringify(this.state)?.slice(0, 3000)}`)
    })
    return this.state
  }
}

test("A killed member is shown as down, and the other members show its history, even when they have no majority", { timeout: 240_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("watched")
  await cluster.settled("watched")
  const leader = await cluster.leader()
  const [survivorIndex, victim] = [0, 1, 2].filter(index => index !== leader)
  const tag = index => "ABC"[index]
  const survivor = cluster.nodes[survivorIndex]

  const page = new Page(t, survivor)
  const healthy = await page.shows(({ Nodes }) => Nodes.length === 3 && Nodes.every(({ State, Sample, LagEntries }) => State === "up" && Sample !== null && LagEntries !== null))
  assert.deepEqual(healthy.Nodes.map(({ Role }) => Role).sort(), ["leader", "voter", "voter"])
  assert.equal(healthy.Health.Sentence, "All 3 nodes are well; the cluster tolerates the failure of any one of them.")
  // MayI: whether the node may be unplugged now, without stopping the cluster's writes.
  assert.ok(healthy.Nodes.every(({ Unplug }) => Unplug.MayI), JSON.stringify(healthy.Nodes.map(({ Unplug }) => Unplug)))
  // The leader knows its successor once that member has reported its health.
  await page.shows(({ Nodes }) => /^Yes\. [abc] leads next; after that the cluster tolerates no further failure\.$/.test(Nodes[leader].Unplug.Sentence))
  // The member that limits the capacity is known once every member has reported its free space.
  await page.shows(({ Nodes }) => Nodes.filter(({ LimitsCapacity }) => LimitsCapacity).length === 1)

  // Each member can be asked through any other node.
  const direct = await cluster.nodes[victim].expect(200, "GET", "/debug/io")
  const forwarded = await survivor.expect(200, "GET", `/debug/io?node=${tag(victim)}`)
  assert.deepEqual(forwarded.Events.Rows[0], direct.Events.Rows[0])
  assert.equal((await survivor.request("GET", "/debug/io?node=Z")).status, 400)

  const historyOf = () => survivor.expect(200, "GET", `/dashboard/history?node=${tag(victim)}`)
  await until(async () => (await historyOf()).Rows.length > 0)
  const slow = await cluster.nodes[victim].expect(200, "GET", "/dashboard/slow")
  await until(async () => (await survivor.expect(200, "GET", `/dashboard/slow?node=${tag(victim)}`)).Rows.length >= slow.Rows.length)
  const before = await historyOf()

  await cluster.nodes[victim].kill()
  const degraded = await page.shows(({ Nodes }) => Nodes[victim].State === "down")
  assert.notEqual(degraded.Nodes[victim].Sample, null)
  await page.shows(({ Health }) => Health.Level === "warning" && /^Writes go on, and the cluster tolerates no further failure: .* does not answer, and 2 of 3 nodes run\.$/.test(Health.Sentence))
  await page.shows(({ Nodes }) => !Nodes[leader].Unplug.MayI && Nodes[victim].Unplug.MayI)
  const after = await historyOf()
  // The answer comes from what the survivor recorded, not from the member itself.
  assert.equal(after.IsObserved, true)
  assert.ok(after.Rows.length >= before.Rows.length)
  assert.ok((await survivor.expect(200, "GET", `/dashboard/slow?node=${tag(victim)}`)).Rows.length >= slow.Rows.length)
  const refused = await survivor.request("GET", `/debug/io?node=${tag(victim)}`)
  assert.equal(refused.status, 502, refused.text)
  assert.match(JSON.parse(refused.text).Message, /could not ask/)

  await cluster.nodes[leader].kill()
  const alone = await page.shows(({ Cluster, Nodes, Health }) => Cluster.LeaderTag === null && Nodes[leader].State === "down" && Health.Level === "error")
  assert.equal(alone.Cluster.ReadsAreLocal, true)
  assert.match(alone.Health.Sentence, /No leader is known here/)
  assert.equal(alone.Nodes[survivorIndex].State, "up")
  assert.ok((await historyOf()).Rows.length >= before.Rows.length)

  // A restarted member still has its earlier history, and the cluster has a leader again.
  await cluster.start(victim)
  const oldest = before.Rows[0][0]
  await until(async () => (await cluster.nodes[victim].expect(200, "GET", "/dashboard/history")).Rows.some(([second]) => second <= oldest))
  await page.shows(({ Nodes, Cluster }) => Nodes[victim].State === "up" && Cluster.LeaderTag !== null)

  // The port for members rejects clients without a member's certificate.
  const stranger = await new Promise((done, failed) => https.get(`https://127.0.0.1:${cluster.ports[survivorIndex] + 1000}/observe/samples`, { rejectUnauthorized: false }, response => {
    response.resume()
    done(response.statusCode)
  }).on("error", failed))
  assert.equal(stranger, 403)
})
