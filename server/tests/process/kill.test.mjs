// kill -9 under load: every acknowledged write is there after the restart. KILLS is the number of kills (default 50).
import assert from "node:assert/strict"
import { test } from "node:test"
import { lost, startLoad } from "./load.mjs"
import { afterwards, NodeProcess, temporaryDirectory } from "./node-process.mjs"

const kills = Number(process.env.KILLS ?? 50)

test(`A database whose creation is interrupted by one of ${kills} kills exists completely or not at all`, { timeout: kills * 10_000 }, async t => {
  const settings = { data: temporaryDirectory(t), options: ["--memory", "128M"] }
  const acknowledged = new Set()
  const checked = new Set()
  let requested = 0
  let node = await NodeProcess.serve(settings)
  afterwards(t, () => node.kill())
  for (let kill = 1; kill <= kills; kill++) {
    const clients = Array.from({ length: 6 }, async () => {
      for (;;) {
        const name = `d${++requested}`
        try {
          await node.createDatabase(name)
        } catch {
          return // The kill.
        }

        acknowledged.add(name)
      }
    })
    await new Promise(done => setTimeout(done, 20 + (kill * 37) % 300))
    await node.kill()
    await Promise.all(clients)

    node = await NodeProcess.serve(settings)
    const { Databases } = await node.expect(200, "GET", "/databases?pageSize=1000")
    const present = new Set(Databases.map(database => database.Name))
    assert.deepEqual([...acknowledged].filter(name => !present.has(name)), [], `after kill ${kill}`)
    for (const name of present) {
      if (acknowledged.has(name) && checked.size > 0) continue
      assert.match(name, /^d\d+$/)
      await node.expect(201, "PUT", `/databases/${name}/docs?id=a`, '{"n":1,"@metadata":{"@collection":"A"}}')
      const answer = await node.expect(200, "POST", `/databases/${name}/queries`, '{"Query":"from A where n = 1"}')
      assert.equal(answer.TotalResults, 1, name)
      assert.equal((await node.expect(200, "GET", `/databases/${name}/stats`)).CountOfDocuments, 1, name)
      checked.add(name)
    }

    // All databases are deleted before the next round.
    const names = [...present]
    if (names.length > 0) {
      await node.expect(200, "DELETE", "/admin/databases", JSON.stringify({ DatabaseNames: names, HardDelete: true }))
    }

    acknowledged.clear()
  }

  t.diagnostic(`${requested} creations, ${checked.size} of them checked`)
})

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
  assert.ok(writes > kills, "there were more acknowledged writes than kills")
  restarts.sort((a, b) => a - b)
  t.diagnostic(`${writes} documents acknowledged; restart took ${Math.round(restarts[restarts.length >> 1])} ms (median), ${Math.round(restarts.at(-1))} ms (longest)`)
})
