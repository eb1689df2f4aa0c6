// `rookery import` and `rookery export` in each format, and their failures.
import assert from "node:assert/strict"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { createServer, request as httpRequest } from "node:http"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { test } from "node:test"
import { gunzipSync, gzipSync } from "node:zlib"
import { command, environmentAt, Terminal } from "./commands.mjs"
import { afterwards, executable, NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

/** Starts a node with a database `birds`. Returns functions that read its documents, and one that runs commands. */
async function setUp(t) {
  const directory = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data") })
  await node.createDatabase("birds")
  const env = { ...environmentAt(directory), ROOKERY_URL: node.url, ROOKERY_DATABASE: "birds" }
  const write = (name, content) => {
    writeFileSync(join(directory, name), content)
    return join(directory, name)
  }
  const count = async () => (await node.expect(200, "GET", "/databases/birds/stats")).CountOfDocuments
  const read = async id => (await node.expect(200, "GET", `/databases/birds/docs?id=${encodeURIComponent(id)}`)).Results[0]
  return { directory, node, env, write, count, read, rookery: (...words) => command(words, { env }) }
}

test("Valid lines are stored, each invalid line is reported with its number, and the summary counts both", async t => {
  const { rookery, write, count, env } = await setUp(t)
  const file = write("birds.ndjson", '\ufeff{"n":1,"@metadata":{"@id":"a/1"}}\n\n{"n":2\n{"n":3,"@metadata":{"@id":"a/3","@collection":"A"}}\n[1]\n{"n":4}')
  const imported = await rookery("import", ".", file)
  assert.equal(imported.code, 65, imported.stderr)
  assert.equal(imported.stdout, "")
  assert.match(imported.stderr, /Not stored: line 3: .*\n/)
  assert.match(imported.stderr, /Not stored: line 5: .*\n/)
  assert.match(imported.stderr, /3 documents were stored, 2 were not\.\n$/)
  assert.equal(await count(), 3)
  assert.deepEqual(readdirSync(join(file, "..")).filter(name => name.includes("rookery-import")), [])

  const piped = await command(["import", ".", "-", "--json"], { env, input: gzipSync('{"n":5,"@metadata":{"@id":"a/5"}}\n') })
  assert.equal(piped.code, 0, piped.stderr)
  assert.deepEqual(JSON.parse(piped.stdout), { Records: 1, Stored: 1, Bad: 0 })
  const lessened = await command(["import", ".", "-", "--json"], { env, input: '{"@metadata":{"@counters":["a"],"@attachments":[{"Name":"a"}],"@id":"a/6"}}' })
  assert.deepEqual(JSON.parse(lessened.stdout), { Records: 1, Stored: 1, Bad: 0, WithoutCounters: 1, WithoutAttachments: 1 })
  assert.equal(lessened.stderr, "Left out: the values of the counters of 1 document.\nLeft out: the contents of the attachments of 1 document.\n")
  const cut = await rookery("import", ".", write("cut.ndjson.gz", gzipSync('{"n":6}\n'.repeat(100_000)).subarray(0, 400)))
  assert.equal(cut.code, 65)
  assert.match(cut.stderr, /^The decompressed input cannot be read after byte \d+: its compression is damaged or cut off\. [\d,]+ documents were stored before that\. Get the whole file or correct it, and import it with --restart: [^\n]*\n$/)
  const line = gzipSync('{"n":7,"@metadata":{"@id":"a/7"}}\n')
  const followed = await rookery("import", ".", write("followed.ndjson.gz", Buffer.concat([line, line, Buffer.from("more")])))
  assert.equal(followed.code, 65, followed.stderr)
  assert.match(followed.stderr, new RegExp(`the gzip ends at byte ${2 * line.length}, and other bytes follow it`))
  for (const [words, sentence] of [[["-", "--resume"], /cannot be resumed/], [[file, "--resume"], /There is no import of .* to resume/], [["/nowhere"], /no such file/], [[file, "--format", "xml"], /--format must be .*, not "xml"/], [[file, "--collection", "X"], /are for tables/], [[file, "--separator", ";"], /are for tables, but .* is read as JSON/]]) {
    const result = await command(["import", ".", ...words], { env })
    assert.equal(result.code, 78, result.stderr)
    assert.match(result.stderr, sentence)
  }

  assert.equal((await rookery("import", "fishes", file)).code, 66)
})

test("Pipes and devices are neither waited for nor replaced, and no file is read beyond a limit", { timeout: 60_000 }, async t => {
  const { directory, rookery, write, count, env } = await setUp(t)
  const file = write("birds.ndjson", '{"n":1,"@metadata":{"@id":"a/1"}}\n')
  execFileSync("mkfifo", [`${file}.rookery-import`, join(directory, "pipe")])
  for (const words of [["import", ".", file], ["import", ".", file, "--resume"]]) {
    const refused = await rookery(...words)
    assert.equal(refused.code, 78, refused.stderr)
    assert.match(refused.stderr, /is not a valid record of an import\. Delete it, and start over\./)
  }

  assert.equal(await count(), 0)
  for (const words of [["export", ".", "--replace"], ["debug-package"]]) {
    const refused = await rookery(...words, "--to", join(directory, "pipe"))
    assert.equal(refused.code, 78, refused.stderr)
    assert.match(refused.stderr, /pipe is a device or a pipe\. Name a file/)
    assert.ok(statSync(join(directory, "pipe")).isFIFO())
    const inDirectory = await rookery(...words, "--to", directory)
    assert.equal(inDirectory.code, 78, inDirectory.stderr)
    assert.match(inDirectory.stderr, /is a directory\. Name a file with --to\./)
  }

  // The file is refused before the node is asked: nothing listens on this port.
  const unasked = await command(["debug-package", "--url", "http://127.0.0.1:9", "--to", directory], { env })
  assert.equal(unasked.code, 78, unasked.stderr)

  const huge = write("huge", "x")
  truncateSync(huge, 1 << 30)
  for (const [words, code, sentence] of [[["put", ".", "a/2", huge], 65, /holds more than 64 MiB/], [["index", "put", ".", huge], 65, /holds more than 64 MiB/], [["get", ".", "a/1", "--token-file", huge], 78, /holds more than 1 MiB/], [["get", ".", "a/1", "--ca", huge], 78, /holds more than 1 MiB/], [["serve", "--config", huge], 78, /holds more than 4 MiB/]]) {
    const refused = await rookery(...words)
    assert.equal(refused.code, code, refused.stderr)
    assert.match(refused.stderr, sentence)
  }
})

test("An invalid record of an import is refused, and an import whose file became shorter can only be started over", async t => {
  const { node, rookery, write, count } = await setUp(t)
  const file = write("birds.ndjson", '{"n":1,"@metadata":{"@id":"a/1"}}\n')
  const { size, mtimeNs } = statSync(file, { bigint: true })
  const history = (await node.expect(200, "GET", "/databases/birds/stats")).DatabaseId
  const record = change => write("birds.ndjson.rookery-import", JSON.stringify({ Database: "birds", History: history, InputBytes: Number(size), InputTicks: 0, Seed: "0".repeat(32), Reading: "ndjson", Records: 5, Stored: 5, Bad: 0, ...change }).replace('"InputTicks":0', `"InputTicks":${mtimeNs / 100n + 621_355_968_000_000_000n}`))
  for (const change of [{ Records: -1 }, { Stored: -1 }, { Stored: 6 }, { Bad: 6 }, { Seed: "" }, { Seed: null }]) {
    record(change)
    const refused = await rookery("import", ".", file, "--resume")
    assert.equal(refused.code, 78, refused.stderr)
    assert.match(refused.stderr, /is not a valid record of an import\. Delete it, and start over\./)
  }

  record({})
  const shorter = await rookery("import", ".", file, "--resume")
  assert.equal(shorter.code, 65, shorter.stderr)
  assert.match(shorter.stderr, /^The input has fewer than the 5 records that were imported already, so it has changed\. 5 documents were stored before that\. Get the whole file or correct it, and import it with --restart/)
  assert.equal(await count(), 0)
})

test("A path after the port of an address is refused instead of ignored", async t => {
  const { node, rookery } = await setUp(t)
  for (const more of ["/birds", "/?x", "/#x"]) {
    for (const words of [["status", "--url"], ["login"]]) {
      const refused = await rookery(...words, node.url + more)
      assert.equal(refused.code, 78, refused.stderr)
      assert.match(refused.stderr, /is more than the address of a node\. Name only http:\/\/127\.0\.0\.1:\d+\./)
    }
  }

  assert.equal((await rookery("status", "--url", `${node.url}/`)).code, 0)
})

test("JSON arrays, and objects over several lines, are imported like JSON Lines", async t => {
  const { rookery, write, count, env } = await setUp(t)
  const documents = Array.from({ length: 20_000 }, (_, n) => ({ n, name: `rook ${n}`, "@metadata": { "@id": `rooks/${n}`, "@collection": "Rooks" } }))
  const array = await rookery("import", ".", write("rooks.json", JSON.stringify(documents, null, 2)))
  assert.equal(array.code, 0, array.stderr)
  assert.match(array.stderr, /^20,000 documents were stored\.\n$/)
  const pretty = documents.slice(0, 3).map(document => JSON.stringify({ ...document, "@metadata": { "@id": `more/${document.n}` } }, null, 2)).join("\n")
  const piped = await command(["import", ".", "-", "--json"], { env, input: gzipSync(pretty) })
  assert.deepEqual(JSON.parse(piped.stdout), { Records: 3, Stored: 3, Bad: 0 })
  const bad = await rookery("import", ".", write("bad.json", '[{"@metadata":{"@id":"a/1"}},7,{"@metadata":{"@id":"a/2"}}]'))
  assert.equal(bad.code, 65)
  assert.match(bad.stderr, /^Not stored: document 2: .*\n2 documents were stored, 1 was not\.\n$/)
  assert.equal((await rookery("import", ".", write("cut.json", '[{"@metadata":{"@id":"a/3"}},{"n":'))).code, 65)
  assert.equal(await count(), 20_006)
})

test("An interrupted import or export says how to continue", async t => {
  const { rookery, write, count, env } = await setUp(t)
  const file = write("many.ndjson", Array.from({ length: 300_000 }, (_, n) => `{"n":${n},"note":"${"x".repeat(80)}"}\n`).join(""))
  const interrupted = new Terminal(`$rookery import . ${file}; echo "code $?"`, { env })
  await interrupted.shows(/[1-9][\d,]* documents, /)
  interrupted.type("\u0003")
  await interrupted.shows(/Interrupted\. (At least )?[1-9][\d,]* documents were stored\. Run the same command with /)
  await interrupted.shows(/--resume to continue after them, or with --restart to start over\.\r\ncode 130/)
  const resumed = await rookery("import", ".", file, "--resume")
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal(await count(), 300_000)

  // The export cannot end, because nothing reads its output.
  const exporting = spawn(executable, ["export", "."], { env, stdio: ["ignore", "pipe", "pipe"] })
  const report = text(exporting.stderr)
  await once(exporting.stdout, "readable")
  exporting.kill("SIGTERM")
  assert.deepEqual(await once(exporting, "exit"), [143, null])
  assert.match(await report, /^Interrupted\. [\d,]+ of about 300,000 documents were received; the written data are incomplete\. An export cannot be resumed\. Run the same command again\.\n$/)
  const old = write("old", "as it was")
  for (const [signal, code] of [["SIGTERM", 143], ["SIGHUP", 129], ["SIGQUIT", 131], ["SIGINT", 130]]) {
    const onStart = child => until(() => existsSync(`${old}.part`)).then(() => child.kill(signal))
    const toFile = await command(["export", ".", "--to", old, "--replace"], { env, onStart })
    assert.equal(toFile.code, code, signal)
    assert.match(toFile.stderr, /^Interrupted\. .*old is unchanged\. An export cannot be resumed\./m)
    assert.equal(readFileSync(old, "utf8"), "as it was")
    assert.ok(!existsSync(`${old}.part`), signal)
  }

  const fresh = `${old}.new`
  const onStart = child => until(() => existsSync(`${fresh}.part`)).then(() => child.kill("SIGINT"))
  assert.match((await command(["export", ".", "--to", fresh], { env, onStart })).stderr, /^Interrupted\. .*old\.new was not created\. An/m)
})

test("A benchmark that ends with its terminal removes its database", async t => {
  const { node, env } = await setUp(t)
  const databases = async () => (await node.expect(200, "GET", "/databases?namesOnly=true")).Databases
  const before = (await databases()).length
  const onStart = async child => {
    await until(async () => (await databases()).length > before)
    child.kill("SIGHUP")
  }
  const { code, stderr } = await command(["bench", "--seconds", "30"], { env, onStart })
  assert.equal(code, 129, stderr)
  assert.match(stderr, /Interrupted; the database .* was removed/)
  assert.equal((await databases()).length, before)
})

test("A command that runs under nohup continues when its terminal closes", async t => {
  const { write, count, env } = await setUp(t)
  const file = write("many.ndjson", Array.from({ length: 60_000 }, (_, n) => `{"n":${n}}\n`).join(""))
  const child = spawn("nohup", [executable, "import", ".", file], { env, stdio: ["ignore", "pipe", "pipe"] })
  await until(async () => await count() > 0)
  child.kill("SIGHUP")
  assert.deepEqual(await once(child, "exit"), [0, null])
  assert.equal(await count(), 60_000)
})

test("An import continues by itself when its stopped node runs again, and with --resume after the user ended it", { timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "data")
  let node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  await node.createDatabase("birds")
  const env = { ...environmentAt(directory), ROOKERY_URL: node.url }
  const file = join(directory, "many.ndjson")
  writeFileSync(file, Array.from({ length: 300_000 }, (_, n) => `{"n":${n},"note":"${"x".repeat(80)}"}\n`).join(""))
  const count = async () => (await node.expect(200, "GET", "/databases/birds/stats")).CountOfDocuments
  // The node starts again, so the user need not do anything.
  const importingBirds = command(["import", "birds", file], { env })
  await until(async () => await count() > 1000)
  assert.equal(await node.terminate(), 0, node.log)
  assert.doesNotMatch(node.log, /cut off/)
  node = await NodeProcess.serve({ data, port: node.port })
  const imported = await importingBirds
  assert.equal(imported.code, 0, imported.stderr)
  assert.equal(await count(), 300_000)

  // The node stays off. The user ends the import, reads how to continue, and does so.
  await node.createDatabase("fishes")
  const fishes = async () => (await node.expect(200, "GET", "/databases/fishes/stats")).CountOfDocuments
  let child
  const importing = command(["import", "fishes", file], { env, onStart: started => { child = started } })
  await until(async () => await fishes() > 1000)
  assert.equal(await node.terminate(), 0, node.log)
  child.kill("SIGTERM")
  const stopped = await importing
  assert.equal(stopped.code, 143, stopped.stderr)
  assert.match(stopped.stderr, /Run the same command with --resume to continue after them/)
  node = await NodeProcess.serve({ data, port: node.port })
  const before = await fishes()
  assert.ok(before > 0 && before < 300_000, `${before}`)
  const resumed = await command(["import", "fishes", file, "--resume"], { env })
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.equal(await fishes(), 300_000)
})

test("When a node stops, its answer to an import says after which line to continue", { timeout: 60_000 }, async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "data")
  let node = await NodeProcess.serve({ data })
  afterwards(t, () => node.kill())
  await node.createDatabase("birds")
  const count = async () => (await node.expect(200, "GET", "/databases/birds/stats")).CountOfDocuments
  const lines = Array.from({ length: 40_000 }, (_, n) => `{"n":${n},"note":"${"x".repeat(80)}","@metadata":{"@id":"b/${n}"}}\n`)
  const answered = new Promise((done, failed) => {
    const sending = httpRequest(`${node.url}/databases/birds/import`, { method: "POST" }, async answer => done({ status: answer.statusCode, text: await text(answer) }))
    sending.on("error", failed)
    sending.write(lines.slice(0, 30_000).join("")) // The body does not end.
  })
  await until(async () => await count() > 1000)
  assert.equal(await node.terminate(), 0, node.log)
  assert.doesNotMatch(node.log, /cut off/)
  const { text: answer } = await answered
  const line = Number(/The node is stopping\. The import ended after line (\d+): send the lines after it again/.exec(answer)?.[1])
  assert.ok(line > 1000, answer)
  node = await NodeProcess.serve({ data, port: node.port })
  assert.equal(await count(), line)
  const continued = await node.request("POST", "/databases/birds/import", lines.slice(line).join(""))
  assert.equal(continued.status, 200, continued.text)
  assert.equal(await count(), 40_000)
})

test("A CSV table is imported: quoted fields, ids from a column, values as text or with inferred types", async t => {
  const { rookery, write, read, count } = await setUp(t)
  const table = write("rooks.csv", 'id,name,age,zip,note\r\nr/1,"Anna ""the"" rook",7,01067,"two\r\nlines"\r\nr/2,Bert,,8,\r\nr/3,too,few\r\n')
  const imported = await rookery("import", ".", table, "--collection", "Rooks", "--id-column", "id")
  assert.equal(imported.code, 65)
  assert.match(imported.stderr, /Not stored: line 5: The row has 3 fields, but the heading has 5\./)
  const anna = await read("r/1")
  assert.equal(anna["@metadata"]["@collection"], "Rooks")
  assert.deepEqual([anna.name, anna.age, anna.zip, anna.note, "id" in anna], ['Anna "the" rook', "7", "01067", "two\r\nlines", false])

  await rookery("import", ".", table, "--collection", "Rooks", "--id-column", "id", "--infer")
  const { age, zip } = await read("r/1")
  assert.deepEqual([age, zip], [7, "01067"], "a value with a leading zero stays text")
  assert.deepEqual([(await read("r/2")).age, (await read("r/2")).note], [null, null])
  assert.equal((await rookery("import", ".", write("tabs.csv", "a\tb\n1\t2\n"), "--collection", "T", "--separator", "tab")).code, 0)
  assert.equal(await count(), 3)
  for (const [text, words, sentence] of [["a,b\n", [], /--collection/], ["a,a\n", ["--collection", "X"], /twice/], ["a,b\n1,\"2\n", ["--collection", "X"], /not closed/], ["a,b\n", ["--collection", "X", "--id-column", "c"], /no column "c"/]]) {
    const result = await rookery("import", ".", write("wrong.csv", text), ...words)
    assert.ok([65, 78].includes(result.code), result.stderr)
    assert.match(result.stderr, sentence)
  }
  for (const [name, bytes, sentence] of [["cut", gzipSync("a\n1\n").subarray(0, 20), /from line \d on: .*damaged or cut off/], ["followed", Buffer.concat([gzipSync("a\n1\n"), Buffer.from("more")]), /other bytes follow it/]]) {
    const result = await rookery("import", ".", write(`${name}.csv.gz`, bytes), "--collection", "X")
    assert.equal(result.code, 65, result.stderr)
    assert.match(result.stderr, sentence)
  }
})

/** A dump as RavenDB 7 writes it: JSON, with raw bytes of attachments and time series between its values. */
function dump(documents) {
  const attachment = Buffer.from('raw bytes, with ] and " and }')
  const segment = Buffer.from([1, 2, 0, 255, 93])
  const array = items => Buffer.from(items.map(item => JSON.stringify(item)).join(","))
  return Buffer.concat([
    Buffer.from('{"BuildVersion":70000,"DatabaseRecord":{"DatabaseName":"shop","Settings":[{"a":"b"}],"Revisions":null},"Docs":['),
    Buffer.from(`{"@metadata":{"@export-type":"Attachment"},"Hash":"abc=","Size":${attachment.length},"Tag":"a"}`), attachment, Buffer.from(","),
    array(documents),
    Buffer.from('],"RevisionDocuments":['),
    array([{ n: 0, "@metadata": { "@id": "orders/1", "@flags": "Revision" } }]),
    Buffer.from('],"Indexes":['),
    array([
      { Type: "Map", IndexDefinition: { Name: "Orders/ByCompany", Maps: ["from order in docs.Orders select new { order.Company }"], Reduce: null, Fields: {}, Configuration: {}, AdditionalSources: {}, LockMode: "Unlock", Priority: "Normal", State: "Normal", Type: "Map", SourceType: "Documents" } },
      { Type: "AutoMap", IndexDefinition: { Name: "Auto/Orders/ByFreight" } },
      { Type: "Map", IndexDefinition: { Name: "Broken", Maps: ["from order in docs.Orders select"] } },
    ]),
    Buffer.from('],"Identities":['),
    array([{ Key: "orders|", Value: "17" }]),
    Buffer.from('],"CompareExchange":['),
    array([{ Key: "k", Value: "{}" }, { Key: "l", Value: "{}" }]),
    Buffer.from('],"TimeSeries":['),
    Buffer.from(`{"@raven-data":{"DocId":"orders/1","Name":"heat","ChangeVector":"A:1","Collection":"Orders","Baseline":"2026-01-01T00:00:00.0000000Z"},"@raven-blob-size":${segment.length}}`), segment,
    Buffer.from("]}"),
  ])
}

test("All parts of a RavenDB dump are imported, and what is not stored is listed", async t => {
  const { rookery, write, read, node } = await setUp(t)
  const bytes = dump([
    { Company: "companies/1", "@metadata": { "@collection": "Orders", "@change-vector": "A:7-xyz", "@flags": "HasAttachments, HasRevisions", "@attachments": [{ Name: "a", Hash: "abc=" }], "@id": "orders/1", "@last-modified": "2026-01-01T00:00:00.0000000Z" } },
    { Max: 32, "@metadata": { "@collection": "@hilo", "@id": "Raven/Hilo/orders" } },
  ])
  const imported = await rookery("import", ".", write("shop.ravendbdump", gzipSync(bytes)))
  assert.equal(imported.code, 65, imported.stderr)
  const sentences = [
    /2 documents were stored\./,
    /Stored too: .*1 identity, 1 index\./,
    /Broken/,
    /The bytes of the attachments with the hash abc= do not have this hash/,
    /A revision of orders\/1 is not stored/,
    /Settings of the dump's DatabaseRecord is not stored/,
    /Left out: 1 × TimeSeries/,
    /Left out: 1 × Indexes of queries/,
  ]
  for (const sentence of sentences) {
    assert.match(imported.stderr, sentence)
  }
  assert.equal((await read("orders/1")).Company, "companies/1")
  assert.deepEqual(await node.expect(200, "GET", "/databases/birds/debug/identities"), { "orders|": 17 })
  assert.deepEqual((await node.expect(200, "GET", "/databases/birds/indexes?namesOnly=true")).Results, ["Orders/ByCompany"])
  assert.ok((await node.expect(200, "GET", "/databases/birds/hilo/next?tag=orders&lastBatchSize=0")).Low > 32, "ids continue after those of the dump")
  assert.equal((await rookery("import", ".", write("plain.ravendbdump", bytes))).code, 65, "not packed")
  const damaged = gzipSync(bytes)
  damaged[damaged.length - 6] ^= 1
  const checked = await rookery("import", ".", write("damaged.ravendbdump", damaged))
  assert.equal(checked.code, 65)
  assert.match(checked.stderr, /its compression is damaged or cut off/)
  const cut = await rookery("import", ".", write("cut.ravendbdump", bytes.subarray(0, bytes.length - 40)))
  assert.equal(cut.code, 65)
  assert.match(cut.stderr, /ends early/)
  const resumed = await rookery("import", ".", write("whole.ravendbdump", bytes), "--resume")
  assert.equal(resumed.code, 78)
  assert.match(resumed.stderr, /A dump is imported whole/)
})

/** A proxy in front of a node. `meddle` answers a request itself or returns false; then the request is forwarded. */
async function proxyOf(t, node, meddle) {
  const server = createServer((request, response) => {
    if (meddle(request, response) !== false) return
    const { method, url, headers } = request
    const onward = httpRequest({ host: "127.0.0.1", port: node.port, method, path: url, headers }, answer => {
      response.writeHead(answer.statusCode, answer.headers)
      answer.pipe(response)
    })
    onward.on("error", () => response.destroy())
    request.pipe(onward)
  })
  await new Promise(done => server.listen(0, "127.0.0.1", done))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${server.address().port}`
}

test("A dump that is exported has everything, and is imported into another database", async t => {
  const { rookery, node, directory } = await setUp(t)
  const send = (status, method, path, body) => node.expect(status, method, `/databases/birds/${path}`, JSON.stringify(body))
  const document = { name: "Anna", "@metadata": { "@collection": "Rooks" } }
  await send(200, "POST", "admin/revisions/config", { Default: { Disabled: false } })
  await send(201, "PUT", "docs?id=rooks/1", document)
  await send(201, "PUT", "docs?id=rooks/1", { ...document, name: "Berta" })
  await send(201, "PUT", "attachments?id=rooks/1&name=a", { any: "bytes" })
  await send(201, "PUT", "subscriptions", { Name: "all", Query: "from Rooks" })
  const to = join(directory, "birds.ravendbdump")
  const exported = await rookery("export", ".", "--to", to)
  assert.equal(exported.code, 0, exported.stderr)
  assert.match(exported.stderr, /1 document, 1 attachment, 3 revisions, 1 subscription in .*birds\.ravendbdump\./)
  assert.equal((await rookery("export", ".", "--to", to)).code, 78, "an existing file is kept")
  assert.equal((await rookery("db", "create", "copy")).code, 0)
  const imported = await rookery("import", "copy", to)
  assert.equal(imported.code, 0, imported.stderr)
  assert.match(imported.stderr, /1 document was stored\.\nStored too: 1 attachment, 3 revisions, 1 subscription\./)
  const revisions = await node.expect(200, "GET", "/databases/copy/revisions?id=rooks/1")
  assert.deepEqual(revisions.Results.map(({ name }) => name), ["Berta", "Berta", "Anna"])
})

test("An interrupted import counts an unanswered part as possibly stored", async t => {
  const { write, node, directory } = await setUp(t)
  const file = write("many.ndjson", Array.from({ length: 20_000 }, (_, n) => JSON.stringify({ n })).join("\n"))
  let parts = 0
  let reportHeld
  const secondPartHeld = new Promise(done => { reportHeld = done })
  const holding = await proxyOf(t, node, request => {
    if (!request.url.endsWith("/import") || ++parts < 2) return false
    reportHeld()
    return true
  })
  const words = ["import", "birds", file, "--url", holding]
  const onStart = child => secondPartHeld.then(() => child.kill("SIGINT"))
  const { code, stderr } = await command(words, { env: environmentAt(directory), onStart })
  assert.equal(code, 130, stderr)
  assert.match(stderr, /Interrupted\. At least 8,192 documents were stored\. Run the same command with --resume/)
})

test("A dump that is compressed with Zstandard is imported", async t => {
  const { rookery, write, read } = await setUp(t)
  const plain = write("shop.ravendbdump", dump([{ n: 1, "@metadata": { "@id": "zstd/1" } }]))
  execFileSync("zstd", ["-q", plain, "-o", `${plain}.packed`])
  assert.equal((await rookery("import", ".", `${plain}.packed`, "--format", "ravendbdump")).code, 65)
  assert.equal((await read("zstd/1")).n, 1)
  writeFileSync(`${plain}.packed`, readFileSync(`${plain}.packed`).subarray(0, 100))
  const cut = await rookery("import", ".", `${plain}.packed`, "--format", "ravendbdump")
  assert.equal(cut.code, 65)
  assert.match(cut.stderr, /damaged or cut off/)
})

test("An import that was killed continues where it stopped, and stores nothing twice", async t => {
  const { rookery, write, count, env } = await setUp(t)
  const documents = 20_000
  const padding = Array.from({ length: documents }, (_, number) => JSON.stringify({ number, text: `${number}`.repeat(400) }))
  const file = write("many.ndjson", padding.join("\n"))
  const record = `${file}.rookery-import`
  const killed = await command(["import", ".", file], { env, onStart: child => {
    const timer = setInterval(() => {
      if (existsSync(record)) {
        child.kill("SIGKILL")
        clearInterval(timer)
      }
    }, 1)
  } })
  assert.equal(killed.code, "SIGKILL")
  const stopped = JSON.parse(readFileSync(record, "utf8"))
  assert.ok(stopped.Records > 0 && stopped.Records < documents, `${stopped.Records}`)

  const anew = await rookery("import", ".", file)
  assert.equal(anew.code, 78)
  assert.match(anew.stderr, /stopped after .* records?\. Continue it with --resume, or start over with --restart/)
  const elsewhere = await rookery("import", "other", file, "--resume")
  assert.equal(elsewhere.code, 66)
  const resumed = await rookery("import", ".", file, "--resume", "--json")
  assert.equal(resumed.code, 0, resumed.stderr)
  assert.deepEqual(JSON.parse(resumed.stdout), { Records: documents, Stored: documents, Bad: 0 })
  assert.equal(await count(), documents, "no document without an id is stored twice")
  assert.ok(!existsSync(record))

  writeFileSync(record, JSON.stringify({ ...stopped, InputBytes: 1 }))
  const changed = await rookery("import", ".", file, "--resume")
  assert.equal(changed.code, 78)
  assert.match(changed.stderr, /had another input/)

  writeFileSync(record, JSON.stringify({ ...stopped, History: "of a database before" }))
  const renewed = await rookery("import", ".", file, "--resume")
  assert.equal(renewed.code, 78)
  assert.match(renewed.stderr, /was deleted and created again since that import stopped/)
})

test("An import waits while the node restarts, and continues", async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "data")
  let node = await NodeProcess.serve({ data })
  await node.createDatabase("birds")
  const documents = 20_000
  const file = join(directory, "many.ndjson")
  writeFileSync(file, Array.from({ length: documents }, (_, number) => JSON.stringify({ number, text: `${number}`.repeat(400) })).join("\n"))
  const { port } = node
  const imported = command(["import", "birds", file, "--json"], { env: { ...environmentAt(directory), ROOKERY_URL: node.url } })
  while (!existsSync(`${file}.rookery-import`)) {
    await new Promise(done => setTimeout(done, 1))
  }

  await node.kill()
  node = await NodeProcess.serveDuring(t, { data, port })
  const { code, stdout, stderr } = await imported
  assert.equal(code, 0, stderr)
  assert.equal(JSON.parse(stdout).Stored, documents)
  assert.equal((await node.expect(200, "GET", "/databases/birds/stats")).CountOfDocuments, documents)
})

test("An export can be imported again, and its file appears only when it is complete", async t => {
  const { rookery, node, directory, count } = await setUp(t)
  for (const id of ["a/1", "a/2", "ä/3"]) {
    await node.expect(201, "PUT", `/databases/birds/docs?id=${encodeURIComponent(id)}`, JSON.stringify({ id, "@metadata": { "@collection": "A" } }))
  }

  const plain = await rookery("export", ".")
  assert.equal(plain.code, 0, plain.stderr)
  assert.match(plain.stderr, /birds: 3 documents\./)
  assert.equal((await rookery("export", ".", "--to", "-")).stdout, plain.stdout)
  const packed = join(directory, "birds.ndjson.gz")
  assert.equal((await rookery("export", ".", "--to", packed)).code, 0)
  assert.equal(gunzipSync(readFileSync(packed)).toString(), plain.stdout)
  assert.ok(!existsSync(`${packed}.part`))
  const original = readFileSync(packed)
  const again = await rookery("export", ".", "--to", packed)
  assert.equal(again.code, 78, again.stderr)
  assert.match(again.stderr, /birds\.ndjson\.gz exists already\. Name another file with --to, or replace it with --replace\./)
  assert.deepEqual(readFileSync(packed), original)
  writeFileSync(packed, "old")
  assert.equal((await rookery("export", ".", "--to", packed, "--replace")).code, 0)
  assert.equal(gunzipSync(readFileSync(packed)).toString(), plain.stdout)
  await node.expect(204, "DELETE", "/databases/birds/docs?id=a/1")
  assert.equal((await rookery("import", ".", packed)).code, 0)
  assert.equal(await count(), 3)
  for (const [words, sentence] of [[[], /Pass a database/], [[".", "--data", directory], /DB is for a running one/], [["--data", directory, "--token-file", "x"], /--token-file is for a running one/], [[".", "--to", "/nowhere/x"], /no such directory/], [[".", "--database", "x"], /need --data/], [[".", "--replace"], /--replace needs --to/]]) {
    const result = await rookery("export", ...words)
    assert.equal(result.code, 78, result.stderr)
    assert.match(result.stderr, sentence)
  }
})

test("Long work shows a bar with its rate on a terminal, and lines without control sequences elsewhere", async t => {
  const { node, write, env } = await setUp(t)
  const file = write("many.ndjson", Array.from({ length: 20_000 }, (_, number) => JSON.stringify({ number, text: `${number}`.repeat(400) })).join("\n"))

  // The bar appears after 200 ms, in which a quick machine imports all. So the node runs for a tenth of the time only.
  const pauses = setInterval(() => {
    node.child.kill("SIGSTOP")
    setTimeout(() => node.child.kill("SIGCONT"), 90)
  }, 100)
  t.after(() => clearInterval(pauses))
  const terminal = new Terminal(`$rookery import . ${file}; echo "code $?"`, { env })
  await terminal.shows(/code 0/)
  clearInterval(pauses)
  assert.match(terminal.shown, /\r\u001b\[K\[=* *\] +\d+ %, [\d,]+ documents, [\d,]+\/s, .*\/s/)
  const piped = await command(["import", ".", file], { env })
  assert.equal(piped.code, 0)
  assert.ok(!piped.stderr.includes("\u001b") && !piped.stderr.includes("\r"), JSON.stringify(piped.stderr))
})
