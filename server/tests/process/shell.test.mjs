// `rookery shell` at a prompt and with a script, and the completion of names of the node in bash, zsh and fish.
import assert from "node:assert/strict"
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { test } from "node:test"
import { command, environmentAt, Terminal } from "./commands.mjs"
import { needing } from "./installed.mjs"
import { executable, NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

const Rooks = 300

/** An id that would run a command if a shell inserted it unchanged. */
const Sly = `sly$(id)'"x`

/** Starts a node with a database `birds` of rooks, a magpie, and an index. */
async function setUp(t) {
  const directory = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data") })
  await node.createDatabase("birds")
  const put = (id, collection, members) => ({ Id: id, Type: "PUT", Document: { ...members, "@metadata": { "@collection": collection } } })
  await node.expect(201, "POST", "/databases/birds/bulk_docs", JSON.stringify({ Commands: [
    ...Array.from({ length: Rooks }, (_, at) => put(`rooks/${at}`, "Rooks", { name: `Rook ${at}`, age: at, nest: { tree: "oak" } })),
    put("magpies/1", "Magpies", { name: "Pica", age: 3 }),
    put(Sly, "Cuckoos", { name: "Sly" }),
  ] }))
  await node.expect(201, "PUT", "/databases/birds/admin/indexes", JSON.stringify({ Indexes: [{ Name: "Rooks/ByAge", Maps: ["from r in docs.Rooks select new { r.age }"] }] }))
  const env = { ...environmentAt(directory), ROOKERY_URL: node.url, ROOKERY_DATABASE: "birds" }
  delete env.XDG_STATE_HOME
  return { directory, node, env }
}

const ages = async node => (await node.expect(200, "POST", "/databases/birds/queries?consistency=local", JSON.stringify({ Query: "from Rooks where age >= 1000", WaitForNonStaleResults: true, PageSize: 0 }))).TotalResults

/** The terminal's output without control sequences. */
const plain = terminal => terminal.shown.replace(/\u001b\[[0-9;?]*[a-zA-Z]/g, "")

// The shell reads keys again, or it asks a question, or it has ended. Between two texts the terminal itself handles keys
// such as Ctrl+R, so keys that were typed early would be lost.
const ready = /\u001b\[\?2004h(?![^]*\u001b\[\?2004l)|to go on[^\n]*$|over\r\n$/

/** Starts the shell in a pseudo-terminal. `enter` types keys, waits for what the terminal shows after them, and until the shell is ready for the next keys. */
async function openShell(t, { env }, options = "", size = {}) {
  const terminal = new Terminal(`$rookery shell . ${options}; echo "code $?"; stty -a; echo over`, { env, ...size })
  t.after(() => terminal.child.kill())
  await terminal.shows(/birds> /)
  const enter = async (keys, pattern) => {
    const from = terminal.shown.length
    terminal.type(keys)
    await terminal.shows(pattern, from)
    await terminal.shows(ready)
  }
  return { terminal, enter }
}

test("The shell executes statements of several lines, shows tables, and ends with the terminal as before", async t => {
  const user = await setUp(t)
  const { terminal, enter } = await openShell(t, user)
  await enter("from Rooks where age < 2\r", /-> /)
  await enter("order by age as long;\r", /rooks\/0 +Rook 0 +0[^]*rooks\/1 +Rook 1 +1[^]*2 results in \d+ ms by /)
  await enter("from Rooks;\r", /100 of 300 results/)
  await enter("\\rows 2\r", /At most 2 results/)
  await enter("from Rooks;\r", /2 of 300 results/)
  await enter("from Rooks limit 3;\r", /3 of 300 results/)
  await enter("\\json\r", /Results are JSON/)
  await enter("from Magpies;\r", /"name": "Pica"/)
  await enter("\\set least 298\r", /\$least = 298/)
  await enter("from Rooks where age >= $least;\r", /2 results/)
  await enter("\\d\r", /COLLECTION +DOCUMENTS[^]*Magpies +1[^]*Rooks +300[^]*Rooks\/ByAge/)
  await enter("\\d Rooks\r", /age +number[^]*nest\.tree +text/)
  await enter("\\d Rooks/ByAge\r", /docs\.Rooks/)
  await enter("\\timing\r", /Timings are printed/)
  await enter("from Magpies;\r", /all: [\d.]+ (ms|µs)/)
  await enter("from Rooks where;\r", /birds> /)
  await enter("\\nonsense\r", /\\nonsense is no command\. \\\? lists the commands/)
  await enter("\\c fishes\r", /There is no database 'fishes'/)
  await enter("\\?\r", /\\timing +print how long/)
  await enter("from Rooks where a = 'unfinished\r", /-> /)
  await enter("\u0003", /\^C[^]*birds> /)
  await enter("\\q\r", /code 0[^]*over/)
  assert.match(terminal.shown, / icanon/)
  assert.match(terminal.shown, / echo /)
})

test("Documents are changed and deleted by query after a question with their number", async t => {
  const user = await setUp(t)
  const { enter } = await openShell(t, user)
  await enter("from Rooks where age >= 290 update { this.age += 1000; this.old = true; };\r", /10 documents of birds will be changed: rooks\/29[^]*Type birds to go on/)
  await enter("fishes\r", /That is not birds, so nothing was changed/)
  assert.equal(await ages(user.node), 0)
  await enter("from Rooks where age >= 290 update { this.age += 1000; this.old = true; };\r", /Type birds to go on/)
  await enter("\u0003", /nothing was changed/)
  assert.equal(await ages(user.node), 0)
  await enter("from Rooks where age >= 290 update { this.age += 1000; this.old = true; };\r", /Type birds to go on/)
  await enter("birds\r", /Changed 10 documents/)
  assert.equal(await ages(user.node), 10)
  await enter("delete from Rooks where age >= 1295;\r", /5 documents of birds will be deleted/)
  await enter("birds\r", /Deleted 5 documents/)
  assert.equal(await ages(user.node), 5)
})

test("Lines are edited, recalled, searched and completed at the prompt", async t => {
  const user = await setUp(t)
  const { terminal, enter } = await openShell(t, user)
  // The cursor goes to the beginning, over a word, and the end of the line is cut.
  await enter("from Magpiesx where age = 4\u0001\u001bf\u001bf\u007f\u000b;\r", /Pica/)
  await enter("from Mag\t;\r", /Pica/)
  await enter("from Magpies where na\t = 'Pica';\r", /1 result /)
  await enter("from index 'Roo\t where age = 7;\r", /rooks\/7 /)
  await enter("from Rooks where s\t\t", /score\(\)[^]*search\(/)
  await enter("\u0015\u001b[A\u001b[A\r", /1 result /)
  await enter("\u0012pies wh", /search: pies wh/)
  await enter("\r", /birds> /)
  await enter("\r", /Pica/)
  // A pasted text may contain tabs and line breaks.
  await enter("\u001b[200~from Rooks\rwhere\tage = 5\u001b[201~;\r", /rooks\/5 /)
  // What a name contains cannot control the terminal.
  await enter("\u001b[200~from Rooks where name = '\u202e\u009b31m'\u001b[201~;\r", /\\u202e\\u009b31m[^]*0 results/)
  assert.ok(!/[\u202e\u009b]/.test(terminal.shown))
  await enter("\u0004", /code 0/)

  const file = join(user.directory, ".local/state/rookery/shell-history")
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(readFileSync(file, "utf8"), /^from Rooks\\nwhere\tage = 5;$/m)
  const next = await openShell(t, user)
  await next.enter("\u001b[A\u001b[A\r", /-> where {2}age = 5;[^]*rooks\/5 /)
})

test("Ctrl+C stops a running statement and not the shell, and SIGTERM restores the terminal", async t => {
  const user = await setUp(t)
  // A server that accepts requests and never answers a query.
  const sockets = new Set()
  let asked = 0
  const server = createServer(socket => {
    sockets.add(socket)
    socket.on("error", () => {})
    socket.on("data", bytes => {
      if (/^POST/.test(bytes)) asked++
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Type: application/json\r\nRaven-Server-Version: 7\r\n\r\n{}")
    })
  })
  await new Promise(listening => server.listen(0, "127.0.0.1", listening))
  t.after(() => { server.close(); for (const socket of sockets) socket.destroy() })
  const { terminal, enter } = await openShell(t, user, `--url http://127.0.0.1:${server.address().port}`)
  terminal.type("from Rooks;\r")
  for (const statement of [1, 2]) {
    await until(() => asked === statement)
    await enter("\u0003", /Stopped\.[^]*birds> /)
    if (statement === 1) terminal.type("from Rooks;\r")
  }

  await enter("\\set a 1\r", /\$a = 1/)
  const found = await command(["-c", `pgrep -f "^${executable} shell . --url http://127.0.0.1:${server.address().port}"`], { env: user.env, program: "/bin/bash" })
  process.kill(Number(found.stdout), "SIGTERM")
  await terminal.shows(/code 143[^]*over/)
  assert.match(terminal.shown, / icanon/)
  assert.match(terminal.shown, / echo /)
})

test("A script's statements are executed until one fails, and its exit code is that of the failure", async t => {
  const { env, node } = await setUp(t)
  const shell = (input, ...options) => command(["shell", ".", ...options], { env, input })
  const lines = await shell("// rooks\nfrom Rooks where age < 2;\nfrom Magpies")
  assert.equal(lines.code, 0, lines.stderr)
  assert.deepEqual(lines.stdout.trim().split("\n").map(line => JSON.parse(line).name).sort(), ["Pica", "Rook 0", "Rook 1"])
  assert.match((await shell("from Magpies;", "--table")).stdout, /^ID +name +age\nmagpies\/1 +Pica +3\n$/)
  assert.match((await shell("from Magpies where age = $age", "--param", "age=3")).stdout, /Pica/)

  const failed = await shell("from Magpies;\n\nfrom Rooks where;\nfrom Magpies;")
  assert.equal(failed.code, 78)
  assert.equal(failed.stdout.trim().split("\n").length, 1)
  assert.match(failed.stderr, /\nThe script ended at the statement in line 3\.\n$/)

  const refused = await shell("delete from Rooks where age < 5;")
  assert.equal(refused.code, 78)
  assert.match(refused.stderr, /5 documents of birds will be deleted[^]*nothing was changed\. Pass --yes/)
  assert.equal((await shell("delete from Rooks where age < 5;\nfrom Rooks update { this.age += 1000; }", "--yes")).code, 0)
  assert.equal(await ages(node), Rooks - 5)
  assert.equal((await shell(Buffer.from("from Rooks where name = 'M\xfcller'", "latin1"))).code, 65)
  assert.equal((await command(["shell", "fishes"], { env, input: "from A" })).code, 66)
})

/** The command, the words after its options, and a part of what appears. */
const Completed = [
  ["rookery get", "bir", "birds "],
  ["rookery get", "birds magp", "magpies/1"],
  ["rookery index show", "birds Ro", "Rooks/ByAge"],
  ["rookery db rm", "bi", "birds"],
  ["rookery query", "birds 'from Mag", "from Magpies"],
]

async function completesNames(t, shell, { env, node, directory }, quoted) {
  mkdirSync(join(directory, "bin"))
  symlinkSync(executable, join(directory, "bin/rookery"))
  const terminal = new Terminal(shell, { env: { ...env, ROOKERY_URL: "http://127.0.0.1:1", PATH: `${join(directory, "bin")}:${env.PATH}` } })
  t.after(() => terminal.child.kill())
  const shown = () => terminal.shown.replace(/\u001b(\[[0-9;?]*[a-zA-Z]|[=>]|\(B|\][^\u0007]*\u0007)/g, "")
  await terminal.shows(/[>#$] ?/)
  const lines = [...Completed, ...quoted.map(([typed, completed]) => ["rookery get", `birds ${typed}`, completed])]
  for (const [name, typed, completed] of lines) {
    const from = shown().length
    let typedAt = -Infinity
    await until(() => {
      // On a busy machine the answer may come after the limit; a user would press Tab again, too.
      if (performance.now() - typedAt > 3000) {
        typedAt = performance.now()
        terminal.type(`\u0015${name} --url ${node.url} ${typed}\t`)
      }

      return shown().slice(from).includes(completed)
    })
  }

  // A node that is away adds nothing to the line.
  const from = shown().length
  terminal.type("\u0015rookery get bir\t")
  terminal.type("ds")
  await until(() => shown().slice(from).replaceAll("\u0007", "").includes("birds")) // the terminal may ring between
  assert.doesNotMatch(shown().slice(from), /No node|refused/)
}

test("Bash completes names of the node", async t => {
  const user = await setUp(t)
  const printed = await command(["completion", "bash"], { env: user.env })
  writeFileSync(join(user.directory, ".bashrc"), `PS1='> '; ${printed.stdout}`)
  await completesNames(t, `exec bash --rcfile ${join(user.directory, ".bashrc")} -i`, user, [["sly", String.raw`sly\$\(id\)\'\"x `], [`"sly`, String.raw`"sly\$(id)'\"x" `], ["'sly", String.raw`'sly$(id)'\''"x' `]])
})

test("Zsh completes names of the node", needing("zsh"), async t => {
  const user = await setUp(t)
  const printed = await command(["completion", "zsh"], { env: user.env })
  writeFileSync(join(user.directory, ".zshrc"), `PROMPT='> '; ${printed.stdout}`)
  await completesNames(t, "zsh -i", user, [["sly", String.raw`sly\$\(id\)\'\"x `], [`"sly`, String.raw`"sly\$(id)'\"x" `], ["'sly", String.raw`'sly$(id)'\''"x' `]])
})

test("Fish completes names of the node", needing("fish"), async t => {
  const user = await setUp(t)
  const directory = join(user.directory, ".config/fish/completions")
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "rookery.fish"), (await command(["completion", "fish"], { env: user.env })).stdout)
  await completesNames(t, "fish -i", user, [["sly", String.raw`sly\$\(id\)\'\"x `]])
})
