// The disk of a real node is full or becomes read-only. The tests check the node's answers meanwhile, and that no
// acknowledged write is lost.
import assert from "node:assert/strict"
import { test } from "node:test"
import { lost, startLoad } from "./load.mjs"
import { asRoot, Ballast, BreakableDisk, mountMemory } from "./mounts.mjs"
import { afterwards, NodeProcess, run, temporaryDirectory, until } from "./node-process.mjs"

const memory = ["--memory", "96M"]
const document = "/databases/load/docs?id=one"

async function serveLoaded(t, data, options = []) {
  const node = await NodeProcess.serve({ data, options: [...memory, ...options] })
  afterwards(t, () => node.kill())
  await node.createDatabase("load")
  return node
}

async function expectNothingLost(t, data, acknowledged, options = []) {
  const node = await NodeProcess.serve({ data, options: [...memory, ...options] })
  afterwards(t, () => node.kill())
  assert.ok(acknowledged.size > 0, "the load has written something")
  assert.deepEqual(await lost(node, "load", acknowledged), [])
  assert.equal((await node.request("PUT", document, "{}")).status, 201, "the node accepts writes again")
}

const put = node => node.request("PUT", document, "{}")

test("With less free space than the reserve, writes get 507 and reads and deletions work; with more space, writes work again", asRoot, async t => {
  const data = mountMemory(t, 600)
  const node = await serveLoaded(t, data)
  const load = startLoad(node, "load")
  await until(() => load.acknowledged.size > 500)
  const ballast = new Ballast(data, 200 << 20)
  await until(() => load.refusals.has(507))
  await load.stop()
  assert.deepEqual([...load.refusals.keys()], [507], "no other refusal")

  const refused = await put(node)
  assert.equal(refused.status, 507)
  assert.match(JSON.parse(refused.text).Message, /its free space of [\d.]+ [KMG]iB is below its reserve of [\d.]+ [KMG]iB/)
  const status = await run("status", "--url", node.url)
  assert.equal(status.code, 1)
  assert.match(status.stdout, /^Nothing new can be written: this node's card is full\. Documents can be read and deleted; free some space, or give it a larger card\.\n/)
  assert.match((await node.request("GET", "/readyz")).text, /^ok, but: Nothing new can be written/)
  assert.deepEqual(await lost(node, "load", load.acknowledged), [])
  const [deleted] = load.acknowledged.keys()
  assert.equal((await node.request("DELETE", `/databases/load/docs?id=${deleted}`)).status, 204)
  load.acknowledged.delete(deleted)

  ballast.release()
  await until(async () => (await put(node)).status === 201)
  assert.equal((await run("status", "--url", node.url)).code, 0)
  assert.equal(await node.terminate(), 0)
  await expectNothingLost(t, data, load.acknowledged)
})

test("A node that is killed on an entirely full disk loses nothing", asRoot, async t => {
  const data = mountMemory(t, 600)
  const node = await serveLoaded(t, data)
  const load = startLoad(node, "load", { padding: 4000 })
  await until(() => load.acknowledged.size > 500)
  const ballast = new Ballast(data, 0)
  await until(() => load.refusals.has(507))
  await node.kill()
  await load.stop()

  const full = NodeProcess.start({ data, port: node.port, options: memory })
  afterwards(t, () => full.kill())
  await full.answers("/livez", 200)
  await until(async () => !/opening/.test((await full.request("GET", "/readyz")).text))
  const ready = await full.request("GET", "/readyz")
  if (ready.status === 200) {
    assert.deepEqual(await lost(full, "load", load.acknowledged), [], "readable while the disk is full")
  } else {
    assert.match(ready.text, /no space is left/)
  }

  await full.kill()
  ballast.release()
  await expectNothingLost(t, data, load.acknowledged)
})

test("Writes are refused while the journal's own device is full, and work again when it has space", asRoot, async t => {
  const data = temporaryDirectory(t)
  const journal = mountMemory(t, 200)
  const options = ["--journal", journal]
  const node = await serveLoaded(t, data, options)
  const load = startLoad(node, "load", { padding: 4000 })
  await until(() => load.acknowledged.size > 500)
  const ballast = new Ballast(journal, 40 << 20)
  await until(() => load.refusals.has(507))
  await load.stop()
  assert.deepEqual([...load.refusals.keys()], [507], "no other refusal")
  assert.match(JSON.parse((await put(node)).text).Message, /free space of [\d.]+ [KMG]iB for its journal in .* is below the reserve of [\d.]+ [KMG]iB/)
  const [deleted] = load.acknowledged.keys()
  assert.equal((await node.request("DELETE", `/databases/load/docs?id=${deleted}`)).status, 204)
  load.acknowledged.delete(deleted)

  ballast.release()
  await until(async () => (await put(node)).status === 201)
  assert.equal(await node.terminate(), 0)
  await expectNothingLost(t, data, load.acknowledged, options)
})

test("On a file system that became read-only the node acknowledges no writes, but its process does not end", asRoot, async t => {
  const disk = new BreakableDisk(t, 800)
  const data = `${disk.directory}/data`
  const node = await serveLoaded(t, data)
  const load = startLoad(node, "load")
  await until(() => load.acknowledged.size > 500)
  disk.breakNow()
  await until(() => load.refusals.size > 0)
  await load.stop()
  assert.match((await node.answers("/readyz", 503)).text, /read-only/)
  assert.equal((await node.request("GET", "/livez")).status, 200)
  assert.equal((await put(node)).status, 503)
  const other = await run("cluster", "init", "--data", `${disk.directory}/other`)
  assert.match(other.stderr, /read-only/)
  assert.equal(other.code, 1, "a failing disk is not a wrong setting (78)")
  assert.equal(await node.terminate(), 0)

  disk.repair()
  await expectNothingLost(t, data, load.acknowledged)
})
