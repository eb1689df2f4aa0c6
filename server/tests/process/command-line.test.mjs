// The commands for documents, queries, databases, indexes and `rookery login`: their output and exit codes.
import assert from "node:assert/strict"
import { once } from "node:events"
import {
  chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync,
} from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { test } from "node:test"
import { command, environmentAt, Terminal, unread } from "./commands.mjs"
import { needing } from "./installed.mjs"
import { executable, freePort, NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

/** Starts a node with a database `birds`. Returns it with a function that runs commands against it. */
async function setUp(t) {
  const directory = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data") })
  await node.createDatabase("birds")
  const env = { ...environmentAt(directory), ROOKERY_URL: node.url, ROOKERY_DATABASE: "birds" }
  const rookery = (...words) => command(words, { env })
  return { directory, node, env, rookery, withInput: (input, ...words) => command(words, { env, input }) }
}

/** Asserts a command's exit code and returns its output. With a pattern, stderr must match it and stdout must be empty. */
function ended({ code, stdout, stderr }, expected, pattern) {
  assert.equal(code, expected, stderr)
  if (pattern !== undefined) {
    assert.match(stderr, pattern)
    assert.equal(stdout, "")
  }

  return stdout
}

test("Documents are put, read and deleted, and each result has its exit code", async t => {
  const { rookery, withInput, node } = await setUp(t)
  const [id, vector] = ended(await withInput('{"name":"Anna"}', "put", ".", "rooks/1"), 0).trim().split(" ")
  assert.equal(id, "rooks/1")
  assert.deepEqual(JSON.parse(ended(await rookery("get", "birds", "rooks/1"), 0)).name, "Anna")
  ended(await withInput("{}", "put", ".", "rooks/1", "--create"), 75, /rooks\/1/)
  ended(await withInput("{}", "put", ".", "rooks/1", "--if-match", "A:0-AAAAAAAAAAAAAAAAAAAAAA"), 75, /./)
  ended(await withInput('{"name":"Bert"}', "put", ".", "rooks/1", "-", "--if-match", vector), 0)
  ended(await withInput('{"name":', "put", ".", "rooks/2"), 78, /JSON/)
  ended(await withInput(Buffer.from("from @all_docs where name = 'M\xfcller'", "latin1"), "query", ".", "-"), 65, /UTF-8/)
  ended(await rookery("put", ".", "rooks/2", "/nowhere/x.json"), 78, /no such file/)
  ended(await withInput('{"n":2}', "put", ".", "rooks/2"), 0)
  // Both documents are sent with Expect: 100-continue. The first is too long, so its body is never sent. The second
  // just fits.
  const text = length => `{"n":"${"x".repeat(length - '{"n":""}'.length)}"}`
  ended(await withInput(text((8 << 20) + 1), "put", ".", "rooks/large"), 78,
    /^The document is larger than 8\.0 MiB, which is the limit, and was not stored\. Split it into several doc.*\n$/)
  ended(await withInput(text(8 << 20), "put", ".", "rooks/large"), 0)
  ended(await rookery("rm", ".", "rooks/large"), 0)

  const several = await rookery("get", ".", "rooks/1", "none/1", "rooks/2")
  assert.equal(several.code, 66)
  assert.match(several.stderr, /There is no document 'none\/1'/)
  assert.deepEqual(several.stdout.trim().split("\n").map(line => JSON.parse(line)["@metadata"]["@id"]), ["rooks/1", "rooks/2"])
  ended(await rookery("get", ".", "none/1"), 66, /There is no document 'none\/1'/)
  ended(await rookery("get", "fishes", "a"), 66, /There is no database 'fishes'/)
  ended(await rookery("get", "."), 78, /either ids or --prefix/)
  assert.equal(ended(await rookery("get", ".", "--prefix", "rooks/"), 0).trim().split("\n").length, 2)

  ended(await rookery("rm", ".", "rooks/1", "rooks/2"), 78, /There is no terminal to ask for confirmation, so nothing was changed\. Pass --yes/)
  await node.expect(200, "GET", "/databases/birds/docs?id=rooks/1")
  ended(await rookery("rm", ".", "rooks/1"), 0, /Deleted 1 document/)
  ended(await rookery("rm", ".", "rooks/1"), 66, /There is no document/)
  ended(await rookery("rm", ".", "--prefix", "rooks/", "--yes"), 0, /Deleted 1 document/)
  assert.equal((await node.request("HEAD", "/databases/birds/docs?id=rooks/2")).status, 404)
})

test("More than one document is deleted only after the database's name was typed", async t => {
  const { env, node } = await setUp(t)
  for (const id of ["a/1", "a/2"]) {
    await node.expect(201, "PUT", `/databases/birds/docs?id=${id}`, "{}")
  }

  const refused = new Terminal('$rookery rm . --prefix a/; echo "code $?"', { env })
  await refused.shows(/Type birds to go on/)
  refused.type("fishes\n")
  await refused.shows(/code 1/)
  await node.expect(200, "GET", "/databases/birds/docs?id=a/1")
  const agreed = new Terminal('$rookery rm . --prefix a/; echo "code $?"', { env })
  await agreed.shows(/2 documents of birds will be deleted: a\/1, a\/2/)
  agreed.type("birds\n")
  await agreed.shows(/code 0/)
  assert.equal((await node.request("HEAD", "/databases/birds/docs?id=a/1")).status, 404)
})

test("A query is answered as lines, as a table and as the node's own JSON, and can be explained", async t => {
  const { rookery, env, node } = await setUp(t)
  for (const [id, age] of [["1", 3], ["2", 7], ["3", 12]]) {
    await node.expect(201, "PUT", `/databases/birds/docs?id=rooks/${id}`, JSON.stringify({ name: `Rook \u001b[31m${id}`, age, "@metadata": { "@collection": "Rooks" } }))
  }

  const query = ["query", ".", "from Rooks where age > $least order by age as long", "--param", "least=5"]
  assert.deepEqual(ended(await rookery(...query), 0).trim().split("\n").map(line => JSON.parse(line).age), [7, 12])
  assert.equal(JSON.parse(ended(await rookery(...query, "--json"), 0)).TotalResults, 2)
  const table = await rookery(...query, "--table", "--timings")
  assert.match(table.stdout, /^ID +name +age\nrooks\/2 +Rook \\u001b\[31m2 +7\nrooks\/3 +Rook \\u001b\[31m3 +12\n$/)
  assert.ok(!table.stdout.includes("\u001b"), "control sequences in a document do not reach the terminal")
  assert.match(table.stderr, /2 results in \d+ ms by /)
  assert.match(table.stderr, /ms\n.*ms/)
  assert.match(ended(await rookery(...query, "--explain"), 0), /would use/)
  for (const form of ["--table", "--ndjson", "--timings", "--wait"]) {
    ended(await rookery(...query, "--explain", form), 78, /--explain does not run the query\. Leave .*--wait out/)
  }
  ended(await rookery("query", ".", "from Rooks where where"), 78, /Line 1, column/)
  const unfinished = ["query", ".", "from Rooks where"]
  assert.equal((await rookery(...unfinished, "--timings")).stderr, (await rookery(...unfinished)).stderr, "the position counts in the typed text")
  ended(await rookery("query", ".", "from Rooks", "--param", "5"), 78, /--param must be NAME=VALUE/)
  ended(await rookery("query", ".", "from Rooks", "--table", "--json"), 78, /Give one of them/)

  const coloured = new Terminal(`$rookery query . "from Rooks"; NO_COLOR=1 $rookery query . "from Rooks"; TERM=dumb $rookery query . "from Rooks"; echo "code $?"`, { env })
  await coloured.shows(/code 0/)
  assert.equal(coloured.shown.split("\u001b[1mID").length, 2, "the heading is bold once: neither with NO_COLOR nor on a dumb terminal")
})

test("Databases are listed, created and deleted by name; indexes are defined, paused, reset, disabled and deleted", async t => {
  const { rookery, withInput, node } = await setUp(t)
  ended(await rookery("db", "create", "nests"), 0, /Created the database nests/)
  ended(await rookery("db", "create", "nests"), 75, /nests/)
  assert.match(ended(await rookery("db", "ls"), 0), /birds +0\nnests +0/)
  ended(await rookery("db", "rm", "nests"), 78, /Pass --yes nests/)
  ended(await rookery("db", "rm", "nests", "--yes", "birds"), 78, /not the database's name/)
  ended(await rookery("db", "rm", "nests", "--yes", "nests"), 0, /Deleted/)
  ended(await rookery("db", "rm", "nests", "--yes", "nests"), 66, /There is no database 'nests'/)

  for (let number = 0; number < 20; number++) {
    await node.expect(201, "PUT", `/databases/birds/docs?id=rooks/${number}`, JSON.stringify({ age: number, "@metadata": { "@collection": "Rooks" } }))
  }

  const definition = JSON.stringify({ Name: "Rooks/ByAge", Maps: ["from rook in docs.Rooks select new { rook.age }"] })
  assert.equal(ended(await withInput(definition, "index", "put", ".", "-"), 0), "Rooks/ByAge\n")
  ended(await withInput("{", "index", "put", ".", "-"), 78, /not valid JSON in line 1/)
  ended(await rookery("index", "wait", ".", "Rooks/ByAge"), 0)
  ended(await rookery("index", "wait", ".", "None"), 66, /None/)
  assert.match(ended(await rookery("index", "ls", "."), 0), /Rooks\/ByAge +Map +up to date +20 +0 +0/)
  const shown = ended(await rookery("index", "show", ".", "Rooks/ByAge"), 0)
  assert.equal(JSON.parse(shown).Name, "Rooks/ByAge")
  assert.match(shown, /\n {2}"Name"/, "indented, so that it can be edited and put back")
  ended(await rookery("index", "pause", ".", "Rooks/ByAge"), 0)
  assert.match(ended(await rookery("index", "ls", "."), 0), /Rooks\/ByAge +Map +Paused +20 +0 +0/)
  ended(await rookery("index", "wait", ".", "Rooks/ByAge"), 0)
  await node.expect(201, "PUT", "/databases/birds/docs?id=rooks/new", JSON.stringify({ age: 1, "@metadata": { "@collection": "Rooks" } }))
  ended(await rookery("index", "wait", ".", "Rooks/ByAge"), 69, /Rooks\/ByAge is paused .*Resume it with `rookery index resume`\./)
  ended(await rookery("index", "resume", ".", "Rooks/ByAge"), 0)
  ended(await rookery("index", "wait", "."), 0)
  ended(await rookery("index", "reset", ".", "Rooks/ByAge"), 0, /Rooks\/ByAge is built from the beginning/)
  ended(await rookery("index", "wait", "."), 0)
  ended(await rookery("index", "disable", ".", "Rooks/ByAge"), 0, /Rooks\/ByAge is disabled, on all members\./)
  await until(async () => (await rookery("index", "wait", ".", "Rooks/ByAge")).code === 0)
  assert.match(ended(await rookery("index", "ls", "."), 0), /Rooks\/ByAge +Map +Disabled +\d+ +0 +0 *\n/)
  await node.expect(201, "PUT", "/databases/birds/docs?id=rooks/newer", JSON.stringify({ age: 1, "@metadata": { "@collection": "Rooks" } }))
  ended(await rookery("index", "wait", "."), 69, /Rooks\/ByAge is disabled\. Enable it with `rookery index enable`\./)
  ended(await rookery("index", "enable", ".", "None"), 66, /None/)
  ended(await rookery("index", "enable", ".", "Rooks/ByAge"), 0)
  ended(await rookery("index", "wait", "."), 0)
  const changed = JSON.stringify({ Name: "Rooks/ByAge", Maps: ["from r in docs.Rooks select new { r.age, years = r.age }"] })
  ended(await withInput(changed, "index", "put", ".", "-"), 0)
  ended(await rookery("index", "wait", ".", "Rooks/ByAge"), 0)
  ended(await rookery("query", ".", "from index 'Rooks/ByAge' where years > 0"), 0)
  const failing = JSON.stringify({ Name: "Rooks/Failing", Maps: ["map('Rooks', r => ({ long: 'a'.repeat(100000000) }))"] })
  ended(await withInput(failing, "index", "put", ".", "-"), 0)
  for (let number = 0; number < 120; number += 20) {
    const Commands = Array.from({ length: 20 }, (_, at) => ({ Id: `rooks/failing-${number + at}`, Type: "PUT", Document: { age: 1, "@metadata": { "@collection": "Rooks" } } }))
    await node.expect(201, "POST", "/databases/birds/bulk_docs", JSON.stringify({ Commands }))
  }
  ended(await rookery("index", "wait", ".", "Rooks/Failing"), 69, /Rooks\/Failing stopped on the node .*too many documents could not be indexed/)
  assert.match(ended(await rookery("index", "ls", "."), 0), /Rooks\/Failing .*Error .*documents could not be indexed/)
  assert.match(node.log, /The index Rooks\/Failing of database birds: \d+ of \d+ documents could not be indexed/)
  ended(await rookery("index", "rm", ".", "Rooks/Failing"), 0)
  ended(await rookery("index", "errors", "."), 0, /There are no errors/)
  ended(await rookery("index", "rm", ".", "Rooks/ByAge"), 0)
  ended(await rookery("index", "rm", ".", "Rooks/ByAge"), 66, /Rooks\/ByAge/)
})

test("The message about a misspelt word suggests the likely word", async t => {
  const { rookery } = await setUp(t)
  ended(await rookery("improt"), 78, /"improt" is not a command or option here\. Did you mean import\?/)
  ended(await rookery("cluster", "ndoe"), 78, /Did you mean node\? See `rookery cluster --help`/)
  ended(await rookery("query", ".", "from x", "--tabel"), 78, /Did you mean --table\?/)
  ended(await rookery("zzzzzzzz"), 78, /"zzzzzzzz" is not a command or option here\. See `rookery --help`/)
})

test("The settings of a login apply where options and environment give none, and are refused if other users can read them", async t => {
  const directory = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data") })
  await node.createDatabase("birds")
  await node.expect(201, "PUT", "/databases/birds/docs?id=a", '{"n":1}')
  const env = environmentAt(directory)
  const rookery = (...words) => command(words, { env })
  const file = join(directory, ".config/rookery/config.json")
  const closed = `http://127.0.0.1:${await freePort()}`

  ended(await rookery("get", ".", "a"), 78, /rookery login URL --database NAME/)
  ended(await rookery("login", closed), 1, /No node answers/)
  ended(await rookery("login", closed, node.url, "--database", "birds"), 0)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.deepEqual(JSON.parse(readFileSync(file, "utf8")), { url: [closed, node.url], database: "birds" })
  assert.equal(JSON.parse(ended(await rookery("get", ".", "a"), 0)).n, 1, "the command uses the one of two nodes that answers")

  const elsewhere = `http://127.0.0.1:${await freePort()}`
  assert.match((await command(["status"], { env: { ...env, ROOKERY_URL: elsewhere } })).stderr, new RegExp(`No node answers at ${elsewhere}`), "the environment wins over the file")
  ended(await command(["status", "--url", node.url], { env: { ...env, ROOKERY_URL: elsewhere } }), 0)
  ended(await command(["status", "--url", `${elsewhere},${closed}`, "--url", node.url], { env }), 0)
  ended(await command(["get", "fishes", "a", "--url", node.url], { env }), 66)

  // The token in the file is sent only to the nodes in the file.
  writeFileSync(file, JSON.stringify({ url: [node.url], token: "rookery_wrong" }))
  ended(await rookery("db", "ls"), 1, /token/)
  ended(await rookery("db", "ls", "--url", node.url.replace("127.0.0.1", "localhost")), 0)
  chmodSync(file, 0o640)
  ended(await rookery("db", "ls"), 78, /chmod 600/)
  chmodSync(file, 0o600)
  for (const [text, sentence] of [["{", /not valid JSON in line 1/], ['{"ulr":[]}', /unknown member "ulr"/], ['{"url":["ftp://x"]}', /not an address/]]) {
    writeFileSync(file, text)
    ended(await rookery("db", "ls"), 78, sentence)
  }

  mkdirSync(join(directory, "xdg"))
  ended(await command(["login", node.url], { env: { ...env, XDG_CONFIG_HOME: join(directory, "xdg") } }), 0)
  assert.ok(statSync(join(directory, "xdg/rookery/config.json")).isFile())
  ended(await rookery("logout"), 0)
  ended(await rookery("logout"), 0, /`rookery login` saved nothing/)
})

test("Bash completes commands and options from the executable's own list", async t => {
  const { env, directory } = await setUp(t)
  const script = join(directory, "completion.bash")
  const printed = await command(["completion", "bash"], { env })
  writeFileSync(script, ended(printed, 0))
  const completed = words => {
    const all = words.split(" ")
    return `source ${script}; COMP_WORDS=(${all.map(word => `"${word}"`).join(" ")}); COMP_CWORD=${all.length - 1}; _rookery; echo "[\${COMPREPLY[*]}]"`
  }
  const terminal = new Terminal(["rookery sta", "rookery cluster node pro", "rookery import birds x.csv --id", "rookery --json cluster cl", "rookery put . "].map(completed).join("; "), { env })
  await terminal.ended
  assert.deepEqual(terminal.shown.match(/\[.*?\]/g), ["[status]", "[promote]", "[--id-column]", "[clock]", "[]"])
  ended(await command(["completion", "tcsh"], { env }), 78, /must be one of bash, zsh, fish/)
})

/** Starts a proxy in front of a node, for one test. `asked` has the HTTP version and the path of each request. */
async function recorderOf(t, node) {
  const asked = []
  const server = createServer(async ({ httpVersion, url }, answer) => {
    asked.push(`${httpVersion} ${url}`)
    const { status, headers, text } = await node.request("GET", url)
    answer.writeHead(status, { "Content-Type": headers["content-type"], "Rookery-Status": headers["rookery-status"] }).end(text)
  })
  await new Promise(listening => server.listen(0, "127.0.0.1", listening))
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${server.address().port}`, asked }
}

test("The status is the same over the quick connection and over the usual one, for a healthy and for an unhealthy node", async t => {
  const { env, node, directory } = await setUp(t)
  const data = join(directory, "later")
  mkdirSync(data)
  writeFileSync(join(data, "format"), "rookery data format 9\nnode a\ncluster b\n")
  const later = NodeProcess.start({ data, port: await freePort() })
  t.after(() => later.kill())
  await later.answers("/readyz", 503)

  // Lines about the speed of the disk differ from one status to the next.
  const steady = lines => lines.split("\n").filter(line => !line.includes(" limits capacity: ")).map(line => line.replace(/sync p99 (\?|[\d.]+ ms)/, "")).join("\n")
  for (const [statusNode, code, word, expected] of [
    [node, 0, "well", /^Ready: documents are served\.\nLeader in term \d+; A leads; .*\n(.+\n)?A leader, reachable, 0 entries behind.*\n$/],
    [later, 1, "unwell", /^Not ready: .*format 9.*\n$/],
  ]) {
    assert.equal((await statusNode.request("GET", "/readyz?words")).headers["rookery-status"], word)
    const { url, asked } = await recorderOf(t, statusNode)
    const status = async (...words) => ended(await command(["status", "--url", ...words], { env }), code)
    // The quick connection needs a numeric address.
    const named = url.replace("127.0.0.1", "localhost")
    const quick = await status(url)
    assert.match(quick, expected)
    assert.equal(steady(await status(named)), steady(quick))
    const [json, usual] = [await status(url, "--json"), await status(named, "--json")]
    assert.match(json, /^\{\n {2}"Ready": (true|false),[^]*\n\}\n$/)
    for (const member of ["Ready", "Reason", "NodeTag"]) assert.equal(JSON.parse(json)[member], JSON.parse(usual)[member])
    assert.deepEqual(asked, ["1.0 /readyz?words", "1.1 /readyz?verbose", "1.0 /readyz?verbose", "1.1 /readyz?verbose"])
  }
})

test("Zsh completes commands with the file that it reads at its start", needing("zsh"), async t => {
  const { env, directory } = await setUp(t)
  writeFileSync(join(directory, "completion.zsh"), ended(await command(["completion", "zsh"], { env }), 0))
  writeFileSync(join(directory, ".zshrc"), `PROMPT='> '; source ${join(directory, "completion.zsh")}\n`)
  await completesAtThePrompt(t, "zsh -i", env)
})

test("Fish completes commands with a file in its directory of completions", needing("fish"), async t => {
  const { env, directory } = await setUp(t)
  for (const path of ["bin", ".config/fish/completions"]) mkdirSync(join(directory, path), { recursive: true })
  // Fish completes only commands that it finds in PATH.
  symlinkSync(executable, join(directory, "bin/rookery"))
  writeFileSync(join(directory, ".config/fish/completions/rookery.fish"), ended(await command(["completion", "fish"], { env }), 0))
  await completesAtThePrompt(t, "fish -i", { ...env, PATH: `${join(directory, "bin")}:${env.PATH}` })
})

/** Types the beginnings of words at a shell's prompt, each with a tab. */
async function completesAtThePrompt(t, shell, env) {
  const terminal = new Terminal(shell, { env })
  t.after(() => terminal.child.kill())
  const plain = () => terminal.shown.replace(/\u001b(\[[0-9;?]*[a-zA-Z]|[=>]|\(B|\][^\u0007]*\u0007)/g, "")
  await terminal.shows(/[>#$] ?/)
  for (const [typed, completed] of [["rookery sta", "status"], ["rookery cluster node pro", "promote"], ["rookery query --wa", "--wait"], ["rookery --json cluster cl", "clock"], ["rookery completion fi", "fish"]]) {
    const from = plain().length
    terminal.type(`\u0015${typed}\t`)
    await until(() => plain().slice(from).includes(`${completed} `))
  }

  // A quote in a description ends no word of the script.
  const from = plain().length
  terminal.type("\u0015rookery cluster \t")
  await until(() => plain().slice(from).includes("The cluster's certificate authority"))
}

test("Names and values cannot control a terminal or reorder or hide letters, and their escaped JSON means the same", async t => {
  const { rookery, env, node } = await setUp(t)
  const hostile = "a\u202eb\u2066c\u009bd\u2028e\u200bf\u001b[31m"
  await node.expect(201, "POST", "/databases/birds/bulk_docs", JSON.stringify({ Commands: [{ Id: `rooks/${hostile.replace(/[\u001b\u009b]/g, "")}`, Type: "PUT", Document: { [hostile]: hostile } }] }))
  await node.expect(201, "PUT", "/databases/birds/admin/indexes", JSON.stringify({ Indexes: [{ Name: "By\u202eName", Maps: ["from d in docs select new { d.x }"] }] }))
  const raw = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/u
  for (const words of [["index", "ls", "."], ["index", "ls", ".", "--json"], ["query", ".", "from @all_docs"], ["query", ".", "from @all_docs", "--table"], ["query", ".", "from @all_docs", "--json"],
    ["query", ".", "from index 'no\u202esuch'"], ["get", ".", "--prefix", "rooks/"], ["get", ".", "no\u202esuch"], ["rm", ".", "no\u202esuch"], ["index", "show", ".", "no\u202esuch"], ["db", "create", "no\u202esuch"]]) {
    const { stdout, stderr } = await rookery(...words)
    assert.doesNotMatch(stdout + stderr, raw, words.join(" "))
    assert.match(stdout + stderr, /\\u202e/i, words.join(" "))
  }

  assert.equal(JSON.parse((await rookery("get", ".", "--prefix", "rooks/")).stdout)[hostile], hostile)
  assert.match((await rookery("export", ".")).stdout, raw)
  const terminal = new Terminal("$rookery export . 2>/dev/null", { env })
  assert.equal(await terminal.ended, 0)
  // When the .NET runtime ends, it sends the sequence for the terminal's keypad mode.
  const shown = terminal.shown.replaceAll("\r\n", "\n").replace("\u001b[?1h\u001b=", "")
  assert.doesNotMatch(shown, raw)
  assert.equal(JSON.parse(shown)[hostile], hostile)
})

test("A benchmark measures its own load, and leaves no database behind", async t => {
  const { rookery, node } = await setUp(t)
  for (const kind of ["put", "get", "query"]) {
    const result = await rookery("bench", "--seconds", "1", "--connections", "4", "--kind", kind, "--json")
    assert.match(result.stderr, /writes .*to the disk of each member/)
    const { Kind, Done, Failed, LatencyMicroseconds, WrittenBytes } = JSON.parse(ended(result, 0))
    assert.equal(Kind, kind)
    assert.ok(Done > 0)
    assert.equal(Failed, 0)
    assert.ok(LatencyMicroseconds.p50 <= LatencyMicroseconds.p99 && LatencyMicroseconds.p99 <= LatencyMicroseconds.longest)
    assert.ok(WrittenBytes > 0)
  }

  assert.deepEqual((await node.expect(200, "GET", "/databases?namesOnly=true")).Databases, ["birds"])
  ended(await rookery("bench", "--kind", "nothing"), 78, /--kind must be put, get or query/)
})

test("Documents are counted before a query changes or deletes them; `rookery query` with an update names the right command", async t => {
  const { rookery, env, node, directory } = await setUp(t)
  writeFileSync(join(directory, "in.ndjson"), Array.from({ length: 700 }, (_, n) => `{"age":${n},"@metadata":{"@id":"rooks/${n}","@collection":"Rooks"}}\n`).join(""))
  ended(await rookery("import", ".", join(directory, "in.ndjson")), 0)
  const update = "from Rooks where age >= $least update { this.grown = true }"
  ended(await rookery("query", ".", update, "--param", "least=100"), 78, /'update' changes documents.*`rookery patch`/)
  ended(await rookery("patch", ".", update, "--param", "least=100"), 78, /^600 documents of birds will be changed: rooks\/.*, ….\nThere is no terminal to ask for confirmation, so nothing was changed\. Pass --yes\.\n$/)
  assert.equal(JSON.parse(ended(await rookery("query", ".", "from Rooks where grown = true", "--json"), 0)).TotalResults, 0)
  ended(await rookery("patch", ".", update, "--param", "least=100", "--yes"), 0, /^Changed 600 documents\.\n$/)
  assert.equal(JSON.parse(ended(await rookery("query", ".", "from Rooks where grown = true", "--wait", "--json"), 0)).TotalResults, 600)
  ended(await rookery("patch", ".", "from Rooks where age < 9", "--yes"), 78, /The query has no `update \{ … \}`\. Add it after the conditions/)
  ended(await rookery("delete", ".", "--query", update, "--yes"), 78, /`rookery patch`/)
  ended(await rookery("patch", ".", "from Rooks where where update { this.x = 1 }", "--yes"), 78, /Line 1, column/)
  ended(await rookery("patch", ".", "from Rooks where age < 9 update { this.none.deep = 1 }", "--yes"), 1, /^The patch of document rooks\/\d failed: .* No document was changed\.\n$/s)
  const operation = JSON.parse((await rookery("patch", ".", "from Rooks order by age as long update { this.first = true } limit 3", "--yes", "--json")).stdout)
  assert.deepEqual([operation.Status, operation.Progress.Processed], ["Completed", 3])

  ended(await rookery("delete", ".", "rooks/1", "--query", "from Rooks", "--yes"), 78, /Pass either ids, --prefix or --query/)
  ended(await rookery("query", ".", " "), 78, /^The query is blank\. Pass RQL/)
  ended(await rookery("rm", ".", "rooks/1", "--prefix", "rooks/"), 78, /^Pass either ids, --prefix or --query/)
  ended(await rookery("rm", ".", "rooks/1", "--per-second", "5"), 78, /belong to --query/)
  ended(await rookery("delete", ".", "--query", "from Rooks where age < 100 limit 7"), 78, /^7 documents of birds will be deleted/)
  ended(await rookery("delete", ".", "--query", "from Rooks where age < $most", "--param", "most=100", "--yes"), 0, /^Deleted 100 documents\.\n$/)
  ended(await rookery("delete", ".", "--query", "from Rooks where age < 100", "--yes"), 0, /^Deleted 0 documents\.\n$/)

  // `--per-second` makes the patch slow enough to be interrupted. The node stops the patch too.
  const slow = new Terminal(`$rookery patch . "from Rooks update { this.slow = true }" --yes --per-second 5; echo "code $?"`, { env })
  await slow.shows(/0 %, \d+ documents/)
  slow.type("\u0003")
  await slow.shows(/Interrupted\. \d+ of 600 documents were changed by then; they stay changed\. The node stops after its current batch\.\r\ncode 130/)
})

/** Poses as a node: `answer` returns status and JSON for a request. `asked` has the method and the path of each. */
async function poseAsNode(t, answer) {
  const asked = []
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const { status, body } = await answer(request)
    response.writeHead(status, { "Content-Type": "application/json", "Raven-Server-Version": "7.2.0.0" })
      .end(JSON.stringify(body))
  }).listen(0, "127.0.0.1")
  t.after(() => server.close().closeAllConnections())
  await once(server, "listening")
  return { asked, env: { ...environmentAt(temporaryDirectory(t)), ROOKERY_URL: `http://127.0.0.1:${server.address().port}` } }
}

test("Without a leader, get and query say how to read a node's own documents, and other commands name get and query", async t => {
  const refusal = "This node cannot confirm the latest state now. With consistency=local it answers what it has, which may be older."
  const document = { name: "Anna", "@metadata": { "@id": "rooks/1" } }
  const { env, asked } = await poseAsNode(t, ({ url }) => url.includes("consistency=local")
    ? { status: 200, body: { Results: [document], TotalResults: 1, IsStale: false, DurationInMs: 1, IndexName: "AllDocs" } }
    : { status: 503, body: { Message: refusal } })
  for (const words of [["get", "birds", "rooks/1"], ["query", "birds", "from Rooks", "--table"]]) {
    ended(await command(words, { env }), 1, /cannot confirm the latest state now\. With --local it prints what this node has, which may be older\.\n$/)
    assert.match(ended(await command([...words, "--local"], { env }), 0), /Anna/)
  }

  ended(await command(["db", "ls"], { env }), 1, /latest state now\. `rookery get --local` and `rookery query --local` print what this node has/)
  assert.ok((await command(["get", "birds", "--prefix", "a", "--local"], { env })).code === 0 && asked.at(-1).includes("startsWith=a&consistency=local"))
})

test("An interrupted deletion reports how many documents are deleted and how many are unconfirmed", async t => {
  const ids = Array.from({ length: 2500 }, (_, n) => `rooks/${n}`)
  let parts = 0
  let last
  const { env } = await poseAsNode(t, ({ method, url }) => {
    if (method === "GET") {
      const after = new URL(url, "http://node").searchParams.get("startAfter")
      const from = after === null ? 0 : ids.indexOf(after) + 1
      const documents = ids.slice(from, from + 1000).map(id => ({ "@metadata": { "@id": id } }))
      return { status: 200, body: { Results: documents } }
    }

    return ++parts % 3 === 1 ? { status: 200, body: { Results: [] } } : last()
  })
  const words = ["rm", "birds", "--prefix", "rooks/", "--yes"]
  last = () => ({ status: 503, body: { Message: "Nobody leads." } })
  const counts = "1,000 of 2,500 documents were deleted. The node has not confirmed whether it deleted 1,000 more. "
    + "Run the same command again to delete the rest.\n"
  assert.equal((await command(words, { env })).stderr, `Nobody leads. ${counts}`)

  let process
  parts = 0
  last = () => { process.kill("SIGINT"); return new Promise(() => {}) }
  const interrupted = await command(words, { env, onStart: child => { process = child } })
  assert.deepEqual([interrupted.code, interrupted.stderr], [130, `Interrupted. ${counts}`])
})

test("An interrupted change by query stops the operation, or names it if it could not be stopped", async t => {
  let process
  let canBeStopped = true
  const state = { Status: "InProgress", Progress: { Total: 9, Processed: 4 } }
  const { env, asked } = await poseAsNode(t, async ({ method, url }) => {
    if (method === "PATCH") {
      process.kill("SIGINT")
      await new Promise(done => setTimeout(done, 200))
      return { status: 202, body: { OperationId: 77, OperationNodeTag: "A" } }
    }

    return url.includes("operations/kill") ? canBeStopped ? { status: 204 } : { status: 503, body: { Message: "No." } }
      : url.includes("operations/state") && !asked.some(line => line.includes("kill")) ? new Promise(() => {})
      : url.includes("operations/state") ? { status: 200, body: state }
      : { status: 200, body: { TotalResults: 9, Results: [{ "@metadata": { "@id": "rooks/1" } }] } }
  })
  const words = ["patch", "birds", "from Rooks update { this.x = 1 }", "--yes"]
  const patch = () => command(words, { env, onStart: child => { process = child } })
  ended(await patch(), 130, /^Interrupted\. 4 of 9 documents were changed by then; they stay changed\. The node stops after/)
  asked.length = 0
  canBeStopped = false
  const named = await patch()
  ended(named, 130, /did not confirm the stop.* operation 77 of that node: GET http:\S+\/state\?id=77 shows/)
  ended(named, 130, /POST http:\S+\/databases\/birds\/operations\/kill\?id=77 stops it\.\n$/)
})

test("A change by query that is interrupted while its documents are counted, or before one is changed, says so", async t => {
  let process
  let counts = false
  const { env } = await poseAsNode(t, ({ method, url }) => {
    if (method === "PATCH") {
      process.kill("SIGINT")
      return { status: 202, body: { OperationId: 77, OperationNodeTag: "A" } }
    }

    if (!url.includes("operations/")) {
      if (!counts) process.kill("SIGINT")
      return counts ? { status: 200, body: { TotalResults: 9, Results: [{ "@metadata": { "@id": "rooks/1" } }] } } : new Promise(() => {})
    }

    return url.includes("kill") ? { status: 204 } : { status: 200, body: { Status: "InProgress", Progress: { Total: 0, Processed: 0 } } }
  })
  const interrupt = (...words) => command([...words, "--yes"], { env, onStart: child => { process = child } })
  const patch = ["patch", "birds", "from Rooks update { this.x = 1 }"]
  ended(await interrupt(...patch), 130, /^Interrupted\. No document was changed\.\n$/)
  ended(await interrupt("rm", "birds", "--prefix", "rooks/"), 130, /^Interrupted\. No document was deleted\.\n$/)
  counts = true
  ended(await interrupt(...patch), 130, /^Interrupted\. None of 9 documents was changed by then\. The node stops after/)
})

test("An interrupted debug package is deleted, and the command says so", async t => {
  let process
  const server = createServer((request, response) => {
    response.setHeader("Raven-Server-Version", "7.2.0.0")
    response.write("x".repeat(5000))
    process.kill("SIGINT")
  }).listen(0, "127.0.0.1")
  t.after(() => server.close().closeAllConnections())
  await once(server, "listening")
  const directory = temporaryDirectory(t)
  const env = { ...environmentAt(directory), ROOKERY_URL: `http://127.0.0.1:${server.address().port}` }
  const onStart = async child => {
    process = { kill: signal => until(() => existsSync(join(directory, "p.part"))).then(() => child.kill(signal)) }
  }
  const fetched = await command(["debug-package", "--to", join(directory, "p")], { env, onStart })
  assert.equal(fetched.code, 130)
  assert.match(fetched.stderr, /^Interrupted\. The package is incomplete and was deleted\. Run the same/)
  assert.deepEqual(readdirSync(directory), [])
})

test("The plan names the index that answers, also for a node that does not mark it", async t => {
  const reasons = ["Auto/Rooks/Byname lacks age.", "Auto/Rooks/Byage holds all."]
  const body = { Results: reasons.map(Reason => ({ Index: "Auto/Rooks/Byage", Reason })) }
  const { env } = await poseAsNode(t, () => ({ status: 200, body }))
  assert.equal(ended(await command(["query", "birds", "from Rooks", "--explain"], { env }), 0),
    "The query would use Auto/Rooks/Byage.\n  Auto/Rooks/Byname lacks age.\n  Auto/Rooks/Byage holds all.\n")
})

test("The clock's time is confirmed only after the user has seen it", async t => {
  const { env, asked } = await poseAsNode(t, ({ method }) => ({ status: 200, body: method === "POST" ? { Message: "The cluster's time is 1970-01-01 00:12:03 UTC." }
    : { Ready: true, Reason: null, Cluster: { Clock: { Time: "2026-11-27T06:00:00.0000000Z", OwnAheadSeconds: -1795758477 } } } }))
  ended(await command(["cluster", "clock", "confirm"], { env }), 78, /^The clock of the node shows 1970-01-01 00:12:03 UTC, \d+ d \d+ h behind this machine's\. Everything that is due by it expires permanently\.\nThere is no terminal to ask for confirmation, so nothing was changed\. Pass --yes\.\n$/)
  assert.deepEqual(asked, ["GET /readyz?verbose"])
  assert.match(ended(await command(["cluster", "clock", "confirm", "--yes"], { env }), 0), /The cluster's time is 1970/)
  const typed = new Terminal('$rookery cluster clock confirm; echo "code $?"', { env })
  await typed.shows(/Type 1970-01-01 to go on/)
  typed.type("2026-11-27\n")
  await typed.shows(/so nothing was changed\.\r\ncode 1/)
})

test("A command whose output is full or closed ends with a sentence and an exit code, and never by a signal", async t => {
  const { node, env, directory } = await setUp(t)
  await node.expect(201, "PUT", "/databases/birds/docs?id=rooks/1", '{"n":1}')
  writeFileSync(join(directory, "in.ndjson"), '{"n":1,"@metadata":{"@id":"a/1"}}\n')
  const inShell = line => command(["-c", line], { env: { ...env, rookery: executable }, program: "/bin/bash" })
  const query = 'query . "from @all_docs" --json'
  for (const words of ["--help", "status", `status --url ${node.url.replace("127.0.0.1", "localhost")}`, "get . rooks/1", query, "export .", "alerts --prometheus", "completion bash"]) {
    ended(await inShell(`$rookery ${words} > /dev/full`), 1, /^The output could not be written: No space left on device\.\n$/m)
    ended(await inShell(`$rookery ${words} >&-`), 1, /^The output could not be written: it is closed\.\n$/m)
    ended(await inShell(`$rookery ${words} > /dev/full 2> /dev/full`), 1)
    ended(await inShell(`$rookery ${words} >&- 2>&- <&-`), 1)
  }

  // The token exists, and cannot be shown again.
  const lost = /^The output could not be written: .* The token 'ann' exists, and nobody has it: `rookery token rm ann` revokes it/m
  ended(await inShell("$rookery token create ann --scope read > /dev/full"), 1, lost)
  ended(await inShell("$rookery token rm ann"), 0, /^Revoked the token 'ann'\.$/m)
  ended(await inShell(`$rookery claim --data ${join(directory, "data")}`), 1, /its node was last started without TLS/)
  ended(await inShell("$rookery token create ann --scope admin > /dev/full"), 1, /`rookery token reset ann --data DIR`, on the node's machine/)

  // A report on stderr is part of the result. So a command whose report is lost fails, although its work is done.
  ended(await inShell(`$rookery import . ${join(directory, "in.ndjson")} 2> /dev/full`), 1)
  await node.expect(200, "GET", "/databases/birds/docs?id=a/1")
  ended(await inShell(`$rookery import . ${join(directory, "in.ndjson")} 2>&-`), 0)
  ended(await inShell("$rookery nonsense 2> /dev/full"), 78)
  ended(await inShell("$rookery import . - <&-"), 0, /0 documents were stored/)
})

test("A node whose log cannot be written keeps serving and stops cleanly", async t => {
  const directory = temporaryDirectory(t)
  const outputs = [["2> /dev/full", ""], ["2>&- >&- <&-", ""], ["", unread(2)], ["", unread(2, { blocks: false })]]
  for (const [redirection, prefix] of outputs) {
    const port = await freePort()
    let node
    const data = join(directory, `data${port}`)
    const line = `exec ${prefix}$rookery serve --data ${data} --listen http://127.0.0.1:${port} --memory 96M ${redirection}`
    const serving = command(["-c", line], { env: { ...environmentAt(directory), rookery: executable }, program: "/bin/bash", onStart: child => { node = child } })
    t.after(() => node.kill("SIGKILL"))
    await until(() => fetch(`http://127.0.0.1:${port}/readyz`).then(answer => answer.ok, () => false))
    node.kill("SIGTERM")
    assert.equal((await serving).code, 0)
  }
})
