// SIGTERM: the answer in flight is given, nothing is lost, the exit code is 0.
import assert from "node:assert/strict"
import { test } from "node:test"
import { lost, startLoad } from "./load.mjs"
import { afterwards, NodeProcess, temporaryDirectory } from "./node-process.mjs"

test("SIGTERM during load exits 0 and loses nothing", async t => {
  const data = temporaryDirectory(t)
  let node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  await node.createDatabase("load")
  const load = startLoad(node, "load")
  await new Promise(done => setTimeout(done, 500))
  assert.equal(await node.terminate(), 0, node.log)
  await load.stop()
  assert.ok(load.acknowledged.size > 0)

  node = await NodeProcess.serve({ data })
  assert.deepEqual(await lost(node, "load", load.acknowledged), [])
})

test("SIGTERM ends an idle node with open connections and feeds", async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  afterwards(t, () => node.kill())
  await node.createDatabase("quiet")
  const feed = fetch(`${node.url}/databases/quiet/changes/stream`)
  assert.equal((await feed).status, 200)
  assert.equal(await node.terminate(), 0, node.log)
})

test("SIGQUIT ends a node, and does not leave one that answers no long read", { timeout: 60_000 }, async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  afterwards(t, () => node.kill())
  await node.createDatabase("quiet")
  node.child.kill("SIGQUIT")
  assert.equal(await node.ended, "SIGQUIT", node.log)
})
