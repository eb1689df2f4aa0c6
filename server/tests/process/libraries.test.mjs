// Libraries of the system that are missing, or of which only the name is right.
import assert from "node:assert/strict"
import { copyFileSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { command } from "./commands.mjs"
import { freePort, NodeProcess, temporaryDirectory } from "./node-process.mjs"

/** Creates a directory in which libraries of these names lack all functions, and returns the environment that finds them there first. */
function withOthers(t, ...names) {
  const directory = temporaryDirectory(t)
  const other = readFileSync("/proc/self/maps", "utf8").match(/\/\S*\/libm[.-]\S*/)[0]
  names.forEach(name => copyFileSync(other, join(directory, name)))
  return { LD_LIBRARY_PATH: directory }
}

// Compressible, so that the node compresses it.
const words = JSON.stringify({ words: "rookery ".repeat(10_000) })

for (const [kind, environmentOf] of [
  ["another library", t => withOthers(t, "liblz4.so.1")],
  ["a file that is no library", t => {
    const directory = temporaryDirectory(t)
    writeFileSync(join(directory, "liblz4.so.1"), "nothing")
    return { LD_LIBRARY_PATH: directory }
  }],
]) {
  test(`With ${kind} as liblz4 a node takes no write and says why, and its data are intact`, async t => {
    const data = temporaryDirectory(t)
    const port = await freePort()
    const whole = await NodeProcess.serveDuring(t, { data, port })
    await whole.request("PUT", "/admin/databases?name=birds", JSON.stringify({ DatabaseName: "birds" }))
    assert.equal((await whole.request("PUT", "/databases/birds/docs?id=rooks/1", words)).status, 201)
    await whole.terminate()

    const environment = environmentOf(t)
    const lacking = NodeProcess.start({ data, port, environment })
    t.after(() => lacking.kill())
    assert.match((await lacking.answers("/readyz", 503)).text, /^liblz4\.so\.1 is missing, .* install Debian's package liblz4-1/)
    assert.equal((await lacking.request("PUT", "/databases/birds/docs?id=rooks/2", words)).status, 503)
    await lacking.terminate()

    const env = { ...process.env, ...environment }
    for (const line of [["export", "--data", data, "--database", "birds"], ["backup", "--data", data, "--to", temporaryDirectory(t)]]) {
      const refused = await command(line, { env })
      assert.notEqual(refused.code, 0, line.join(" "))
      assert.match(refused.stderr, /^liblz4\.so\.1 is missing, [^\n]*\n$/, line.join(" "))
    }

    const again = await NodeProcess.serveDuring(t, { data, port })
    assert.equal(JSON.parse((await again.request("GET", "/databases/birds/docs?id=rooks/1")).text).Results.length, 1)
  })
}

test("Another library as libstemmer or libzstd counts as not installed", async t => {
  const environment = withOthers(t, "libstemmer.so.0d", "libzstd.so.1")
  const node = await NodeProcess.serveDuring(t, { data: temporaryDirectory(t), environment })
  await node.request("PUT", "/admin/databases?name=birds", JSON.stringify({ DatabaseName: "birds" }))
  const index = { Name: "Songs", Maps: ["from b in docs.Birds select new { b.song }"], Fields: { song: { Indexing: "Search", Analyzer: "EnglishAnalyzer" } } }
  const refused = await node.request("PUT", "/databases/birds/admin/indexes", JSON.stringify({ Indexes: [index] }))
  assert.notEqual(refused.status, 500, refused.text)
  assert.match(refused.text, /libstemmer0d/)

  const packed = join(temporaryDirectory(t), "birds.ndjson.zst")
  writeFileSync(packed, Buffer.from("28b52ffd2008410000", "hex"))
  const imported = await command(["import", "birds", packed, "--url", node.url], { env: { ...process.env, ...environment } })
  assert.notEqual(imported.code, 0)
  assert.match(imported.stderr, /libzstd\.so\.1 is not installed\. Install libzstd1/)
})
