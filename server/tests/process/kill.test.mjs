// kill -9 under load: every acknowledged write is there after the restart. KILLS says how often (default 50).
import assert from "node:assert/strict"
import { test } from "node:test"
import { lost, startLoad } from "./load.mjs"
import { afterwards, NodeProcess, temporaryDirectory } from "./node-process.mjs"

const kills = Number(process.env.KILLS ?? 50)

test(`No acknowledged write is lost by ${kills} kills under load`, { timeout: kills * 10_000 }, async t => {
  const data = temporaryDirectory(t)
  const acknowledged = new Map()
  const restarts = []
  let writes = 0
  let node = await NodeProcess.serve({ data, options: ["--memory", "128M"] })
  afterwards(t, () => node.kill())
  await node.createDatabase("load")
  for (let kill = 1; kill <= kills; kill++) {
    // Documents of 100 to 4,100 bytes, so that kills meet flushes and compactions too.
    const load = startLoad(node, "load", { padding: 100 + (kill % 5) * 1000 })
    await new Promise(done => setTimeout(done, 100 + (kill * 37) % 400))
    await node.kill()
    await load.stop()
    load.acknowledged.forEach((version, id) => acknowledged.set(id, version))
    writes += load.acknowledged.size
    node = await NodeProcess.serve({ data, options: ["--memory", "128M"] })
    restarts.push(node.startMilliseconds)
    assert.deepEqual(await lost(node, "load", load.acknowledged), [], `after kill ${kill}`)
  }

  assert.deepEqual(await lost(node, "load", acknowledged), [], "at the end")
  assert.ok(writes > kills, "the load was real")
  restarts.sort((a, b) => a - b)
  t.diagnostic(`${writes} documents acknowledged; restart took ${Math.round(restarts[restarts.length >> 1])} ms (median), ${Math.round(restarts.at(-1))} ms (longest)`)
})
