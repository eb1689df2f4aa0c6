// Three real nodes with one webhook: the leader sends each alert once for all of them, and a node without a known
// leader sends its own.
import assert from "node:assert/strict"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { test } from "node:test"
import { afterwards, temporaryDirectory, until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const tags = "ABC"

test("An alert is sent once for the cluster across a change of leader, and by the node itself without a majority", { timeout: 420_000 }, async t => {
  const directory = temporaryDirectory(t)
  const received = []
  const hook = createServer((request, response) => {
    const parts = []
    request.on("data", part => parts.push(part))
    request.on("end", () => {
      received.push(JSON.parse(Buffer.concat(parts).toString()))
      response.end()
    })
  }).listen(0, "127.0.0.1")
  await once(hook, "listening")
  afterwards(t, () => new Promise(done => {
    hook.close(done)
    hook.closeAllConnections()
  }))
  const config = join(directory, "config.json")
  writeFileSync(config, JSON.stringify({ webhook: { url: `http://127.0.0.1:${hook.address().port}/` } }))
  // Writes the metrics from which a node learns whether its machine fell back to the system before an update.
  const noteSlot = (index, hasFallenBack) => {
    const notes = join(directory, tags[index], "var/lib/prometheus/node-exporter")
    mkdirSync(notes, { recursive: true })
    writeFileSync(join(notes, "rookery_slot.prom"), `rookery_slot_on_trial 0\nrookery_slot_fell_back ${hasFallenBack ? 1 : 0}\n`)
  }

  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("watched")
  for (const index of [0, 1, 2]) {
    noteSlot(index, false)
    process.env.ROOKERY_SIMULATED_BOARD = join(directory, tags[index])
    await cluster.nodes[index].terminate()
    await cluster.start(index, "/readyz", "127.0.0.1", ["--config", config])
    delete process.env.ROOKERY_SIMULATED_BOARD
    await cluster.settled("watched")
  }

  const first = await cluster.leader()
  const follower = (first + 1) % 3
  const slotAlerts = () => received.filter(({ Name }) => Name === "slot_fell_back").map(({ State, Node, Cluster }) => [State, Node, Cluster])
  noteSlot(follower, true)
  await until(() => slotAlerts().length > 0)
  assert.deepEqual(slotAlerts(), [["firing", tags[follower], "chaos"]])

  // The next leader counts the alert as sent if it has known of the alert for half a minute.
  const since = performance.now()
  await until(() => performance.now() - since > 50_000)
  await cluster.transfer(first)
  await until(async () => await cluster.leader() !== first)
  await cluster.settled("watched")
  noteSlot(follower, false)
  await until(() => slotAlerts().length > 1)
  assert.deepEqual(slotAlerts(), [["firing", tags[follower], "chaos"], ["resolved", tags[follower], "chaos"]])

  await Promise.all([cluster.nodes[first].kill(), cluster.nodes[follower].kill()])
  const remaining = 3 - first - follower
  const ownAlerts = () => received.filter(({ Name, Node }) => Name === "no_writes" && Node === tags[remaining])
  const killed = performance.now()
  await until(() => ownAlerts().length > 0 || performance.now() - killed > 55_000)
  await until(() => ownAlerts().length > 0)
  assert.equal(ownAlerts()[0].State, "firing")
  assert.match(ownAlerts()[0].Sentence, /^This node accepts no writes: No leader is known here: 2 of 3 voters must reach each other/)
})

test("Three nodes have the same alert settings, at once and after restarts, and each can send a test message by them", { timeout: 300_000 }, async t => {
  const received = []
  const hook = createServer((request, response) => {
    request.resume().on("end", () => {
      received.push(request.url)
      response.end()
    })
  }).listen(0, "127.0.0.1")
  await once(hook, "listening")
  afterwards(t, () => new Promise(done => {
    hook.close(done)
    hook.closeAllConnections()
  }))
  const place = `http://127.0.0.1:${hook.address().port}`
  const cluster = await ThreeNodes.form(t)
  const ask = async (index, method, path, body) => {
    const answer = await fetch(`${cluster.urls[index]}/admin/alerts/${path}`, { method, body })
    return { status: answer.status, text: await answer.text() }
  }
  const expectOnAll = async (settings, path) => {
    for (const index of [0, 1, 2]) {
      const { status, text } = await ask(index, "GET", "webhook")
      assert.deepEqual([status, text === "" ? null : JSON.parse(text)], [200, settings])
      received.length = 0
      const tested = await ask(index, "POST", "test")
      assert.equal(tested.status, path === null ? 409 : 200, tested.text)
      assert.deepEqual(received, path === null ? [] : [path])
    }
  }

  const quiet = { QuietFrom: "21:00", QuietUntil: "06:30" }
  const settings = { Place: place, Form: "json", IsOfFile: false, ...quiet }
  const follower = (await cluster.leader() + 1) % 3
  assert.equal((await ask(follower, "PUT", "webhook", JSON.stringify({ Url: `${place}/first-path`, ...quiet }))).status, 204)
  await expectOnAll(settings, "/first-path")

  for (const index of [0, 1, 2]) {
    await cluster.nodes[index].kill()
    await cluster.start(index)
    await expectOnAll(settings, "/first-path")
  }

  await Promise.all(cluster.nodes.map(node => node.kill()))
  await Promise.all([0, 1, 2].map(index => cluster.start(index)))
  await until(async () => (await ask(0, "GET", "webhook")).status === 200)
  await expectOnAll(settings, "/first-path")

  // A member that was away learns of the change.
  await cluster.nodes[follower].kill()
  const other = (follower + 1) % 3
  await until(async () => (await ask(other, "PUT", "webhook", JSON.stringify({ Url: `${place}/second-path`, ...quiet }))).status === 204)
  await cluster.start(follower)
  await expectOnAll(settings, "/second-path")

  assert.equal((await ask(follower, "PUT", "webhook", "null")).status, 204)
  await expectOnAll({ Place: null, Form: null, IsOfFile: false, QuietFrom: null, QuietUntil: null }, null)
})
