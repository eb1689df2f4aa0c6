// Backup of a running node, restore, and export of a stopped one, by the commands an operator types.
import assert from "node:assert/strict"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { command, environmentAt, unread } from "./commands.mjs"
import { lost, startLoad } from "./load.mjs"
import { executable, freePort, NodeProcess, run, temporaryDirectory, until } from "./node-process.mjs"

/** Asserts that a command ended with an exit code and printed one sentence. */
function refused({ code, stdout, stderr }, expectedCode, pattern) {
  assert.equal(code, expectedCode, stderr)
  assert.equal(stdout, "")
  assert.match(stderr, pattern)
  assert.equal(stderr.trim().split("\n").length, 1, `one sentence, not:\n${stderr}`)
}

/** Asserts that a command succeeded, and returns what it printed. */
async function succeeded(command) {
  const { code, stdout, stderr } = await command
  assert.equal(code, 0, stderr)
  return stdout
}

/** Runs a node on a directory while `work` runs. */
async function serving(data, work, options = []) {
  const node = await NodeProcess.serve({ data, options })
  try {
    return await work(node)
  } finally {
    await node.terminate()
  }
}

/** Asserts that a node on an unfinished restore reports it, serves nothing and creates no files. */
async function refusesUnfinishedRestore(data) {
  const files = readdirSync(data).sort()
  const node = NodeProcess.start({ data, port: await freePort() })
  try {
    await node.answers("/readyz", 503)
    const { text } = await node.answers("/databases", 503)
    assert.match(text, /restore that did not finish/)
    assert.match(node.log, /restore that did not finish/)
  } finally {
    await node.terminate()
  }

  // A node creates `lock` and `local-access` even so: they show other processes that it runs, and at which address.
  const created = readdirSync(data).filter(name => !files.includes(name) && name !== "lock" && name !== "local-access")
  assert.deepEqual([created, files.filter(name => !existsSync(join(data, name)))], [[], []], "nothing was created or deleted")
}

test("A backup taken under load holds everything that was acknowledged before it began", async t => {
  const directory = temporaryDirectory(t)
  const [data, backup, restored, alone, unfinished] = ["data", "backup", "restored", "alone", "unfinished"].map(name => join(directory, name))
  let before
  await serving(data, async node => {
    await node.createDatabase("Load")
    await node.createDatabase("Quiet")
    await node.expect(201, "PUT", "/databases/Quiet/docs?id=a", '{"n":1}')
    const load = startLoad(node, "Load", { padding: 2000 })
    while (load.acknowledged.size < 1000) {
      await new Promise(done => setImmediate(done))
    }

    before = new Map(load.acknowledged)
    assert.match(await succeeded(run("backup", "--to", backup, "--url", node.url)), /Backup complete in .*, durable and checked\./)
    await load.stop()
    assert.deepEqual(await lost(node, "Load", load.acknowledged), [], "the node lost nothing during the backup")
    assert.ok(!existsSync(join(data, "checkpoint")), "the checkpoint is deleted")
    refused(await run("backup", "--to", backup, "--url", node.url), 78, /not empty/)
    refused(await run("backup", "--to", join(directory, "none"), "--data", data), 78, /in use/)
    refused(await run("export", "--data", data), 78, /in use/)

    assert.match(await succeeded(run("restore", "--from", backup, "--data", restored)), /Quiet: 1 document\.\nRestored into /)
    const original = await node.expect(200, "GET", "/databases/Quiet/docs?id=a")
    await serving(restored, async other => {
      assert.deepEqual(await lost(other, "Load", before), [])
      const copy = await other.expect(200, "GET", "/databases/Quiet/docs?id=a")
      const vectors = [original, copy].map(answer => answer.Results[0]["@metadata"]["@change-vector"])
      assert.notEqual(vectors[1], vectors[0], "a change vector from before the restore matches no document after it")
      const change = { Id: "a", ChangeVector: vectors[0], Document: {}, Type: "PUT" }
      await other.expect(409, "POST", "/databases/Quiet/bulk_docs", JSON.stringify({ Commands: [change] }))
      await other.expect(201, "PUT", "/databases/Quiet/docs?id=b", "{}")
      await succeeded(run("backup", "--to", join(directory, "second"), "--url", other.url))
    })
  })

  assert.match(await succeeded(run("restore", "--from", join(directory, "second"), "--data", alone, "--database", "quiet")), /^Quiet: 2 documents\.\nRestored/)
  assert.equal((await succeeded(run("export", "--data", alone))).trim().split("\n").length, 2)
  refused(await run("restore", "--from", backup, "--data", alone), 78, /not empty/)
  refused(await run("restore", "--from", backup, "--data", unfinished, "--database", "Quite"), 66, /no database "Quite".*Load, Quiet/)

  const largest = readdirSync(join(backup, "storage")).sort().at(-1)
  damage(join(backup, "storage", largest))
  refused(await run("restore", "--from", backup, "--data", unfinished), 1, new RegExp(`${largest} is damaged`))
  refused(await run("restore", "--from", backup, "--data", unfinished), 78, /restore that did not finish/)
  refused(await run("export", "--data", unfinished), 1, /restore that did not finish/)
  await refusesUnfinishedRestore(unfinished)
  refused(await run("restore", "--from", data, "--data", join(directory, "other")), 1, /no complete backup/)
})

test("A backup that a browser downloaded is unpacked, checked and restored, and a damaged one is refused", async t => {
  const directory = temporaryDirectory(t)
  const [file, cut, changed, longer, unpacked] = ["file", "cut", "changed", "longer", "unpacked"].map(name => join(directory, name))
  await serving(join(directory, "data"), async node => {
    await node.createDatabase("Quiet")
    await node.expect(201, "PUT", "/databases/Quiet/docs?id=a", JSON.stringify({ text: "rook".repeat(1000) }))
    writeFileSync(file, Buffer.from(await (await fetch(`${node.url}/admin/node/backup`)).arrayBuffer()))
  })
  const bytes = readFileSync(file)
  writeFileSync(cut, bytes.subarray(0, bytes.length - 5))
  writeFileSync(changed, bytes)
  damage(changed)
  writeFileSync(longer, Buffer.concat([bytes, Buffer.from("x")]))
  refused(await run("backup", "--from", cut, "--to", join(directory, "one")), 1, /cut is not a complete backup/)
  refused(await run("backup", "--from", cut, "--to", join(directory, "one"), "--ca", "x"), 78, /--ca is for a running node/)
  refused(await run("backup", "--from", changed, "--to", join(directory, "two")), 1, /changed is not a complete backup/)
  refused(await run("backup", "--from", longer, "--to", join(directory, "three")), 1, /bytes after the end/)
  refused(await run("restore", "--from", join(directory, "one"), "--data", join(directory, "none")), 1, /no complete backup/)
  writeFileSync(changed, "rook")
  refused(await run("backup", "--from", changed, "--to", join(directory, "four")), 1, /changed is not a backup/)
  assert.ok(!existsSync(join(directory, "four")), "nothing was begun")
  refused(await run("backup", "--from", file, "--to", unpacked, "--url", "http://127.0.0.1:1"), 78, /Leave one of them out/)
  assert.match(await succeeded(run("backup", "--from", file, "--to", unpacked)), /Backup complete in .*, durable and checked\./)
  assert.match(await succeeded(run("restore", "--from", unpacked, "--data", join(directory, "restored"))), /Quiet: 1 document\./)
})

test("A backup that is interrupted when it is complete already is reported as complete", async t => {
  const directory = temporaryDirectory(t)
  const backup = join(directory, "backup")
  await serving(join(directory, "data"), async node => {
    await node.createDatabase("Quiet")
    const line = `exec ${unread(1)}$rookery backup --to ${backup} --url ${node.url}`
    const result = await command(["-c", line], {
      env: { ...environmentAt(directory), rookery: executable },
      program: "/bin/bash",
      onStart: child => until(() => existsSync(join(backup, "backup.manifest"))).then(() => child.kill("SIGINT")),
    })
    assert.equal(result.code, 130)
    assert.match(result.stderr, /Interrupted\. The backup in \S+ is complete and checked\.\n$/)
  })
})

test("A stopped node is backed up and exported from its directory, and damage is reported", async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "data")
  await serving(data, async node => {
    await node.createDatabase("Shop")
    for (let n = 0; n < 20; n++) {
      await node.expect(201, "PUT", `/databases/Shop/docs?id=d/${n}`, JSON.stringify({ n, text: "rook".repeat(1000) }))
    }
  })

  await succeeded(run("backup", "--to", join(directory, "backup"), "--data", data))
  assert.match(await succeeded(run("restore", "--from", join(directory, "backup"), "--data", join(directory, "restored"))), /Shop: 20 documents/)
  const lines = (await succeeded(run("export", "--data", join(directory, "restored"), "--database", "shop"))).trim().split("\n").map(JSON.parse)
  assert.deepEqual(lines.map(line => line["@metadata"]["@id"]).sort(), Array.from({ length: 20 }, (_, n) => `d/${n}`).sort())
  refused(await run("export", "--data", data, "--database", "Shops"), 66, /no database "Shops".*Shop/)

  const empty = join(directory, "empty")
  mkdirSync(empty)
  refused(await run("export", "--data", empty), 78, /no data directory/)
  assert.deepEqual(readdirSync(empty), [], "nothing was created in a directory that was named by mistake")
  refused(await run("backup", "--to", join(directory, "x"), "--data", join(directory, "none")), 78, /no data directory/)
  refused(await run("backup", "--to", join(directory, "x"), "--url", "http://127.0.0.1:1"), 1, /No node answers at http:\/\/127\.0\.0\.1:1/)
  assert.ok(!existsSync(join(directory, "x")), "a backup that could not begin leaves no directory")

  // The restored directory has its documents in sorted files ("runs"). The first of them contains the documents.
  const copy = join(directory, "damaged")
  cpSync(join(directory, "restored"), copy, { recursive: true })
  damage(join(copy, "storage", readdirSync(join(copy, "storage")).filter(name => name.endsWith(".run")).sort()[0]))

  const partial = await run("export", "--data", copy)
  assert.equal(partial.code, 1, partial.stderr)
  assert.match(partial.stderr, /Shop: not exported: .*\.run is damaged at byte \d+: .*\(d\//)
  assert.match(partial.stderr, /1 range could not be read and is missing in the export/)
  const damaged = await run("backup", "--to", join(directory, "y"), "--data", copy)
  assert.equal(damaged.code, 1, damaged.stderr)
  assert.match(damaged.stderr, /The node's data is damaged, and so is this copy of it, which is not a backup: .*\.run is damaged/)
})

test("A node whose journal is in a separate directory is backed up, exported and restored with the journal", async t => {
  const directory = temporaryDirectory(t)
  const [data, journal, backup, restored, other] = ["data", "journal", "backup", "restored", "other"].map(name => join(directory, name))
  await serving(data, async node => {
    await node.createDatabase("Shop")
    await node.expect(201, "PUT", "/databases/Shop/docs?id=a", "{}")
  }, ["--journal", journal])

  refused(await run("export", "--data", data), 1, /no journal in/)
  assert.match(await succeeded(run("export", "--data", data, "--journal", journal)), /"@id":"a"/)
  refused(await run("backup", "--to", backup, "--journal", journal), 78, /--data/)
  await succeeded(run("backup", "--to", backup, "--data", data, "--journal", journal))
  refused(await run("restore", "--from", backup, "--data", restored, "--journal", journal), 78, /journal is not empty/)
  assert.ok(!existsSync(restored), "nothing was created")
  assert.match(await succeeded(run("restore", "--from", backup, "--data", restored, "--journal", other)), /serve --data .*restored --journal .*other`/)
  assert.ok(!existsSync(join(restored, "journal")))
  await serving(restored, node => node.expect(200, "GET", "/databases/Shop/docs?id=a"), ["--journal", other])
})

/** Inverts a bit of a file. */
function damage(file) {
  const bytes = readFileSync(file)
  bytes[Math.floor(bytes.length / 3)] ^= 0x10
  writeFileSync(file, bytes)
}
