// Live views: `rookery top` in a terminal, disk operations, the log.
import assert from "node:assert/strict"
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import { test } from "node:test"
import { command, environmentAt, Terminal } from "./commands.mjs"
import { NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

async function setUp(t) {
  const directory = temporaryDirectory(t)
  const node = await NodeProcess.serveDuring(t, { data: join(directory, "data") })
  await node.createDatabase("birds")
  for (let number = 0; number < 20; number++) {
    await node.expect(201, "PUT", `/databases/birds/docs?id=rooks/${number}`, "{}")
  }

  const env = { ...environmentAt(directory), ROOKERY_URL: node.url }
  return { directory, node, env, rookery: (...words) => command(words, { env }) }
}

// Runs a line, then prints its exit code and the terminal's settings after it.
const thenShowState = line => `(${line}); echo "code $?"; stty -a; echo over`

test("The live view shows nodes and disk, reacts to keys and to the terminal's size, and restores the terminal", async t => {
  const { env, directory, node } = await setUp(t)
  const ttyFile = join(directory, "tty")
  const terminal = new Terminal(thenShowState(`tty >${ttyFile}; exec $rookery top`), { env, columns: 110, rows: 30 })
  await terminal.shows(/NAME +ROLE/)
  await terminal.shows(/journal_sync/)
  await terminal.shows(/ q quit {3}↑↓ scroll {3}tab node {3}p pause/)
  assert.ok(terminal.shown.includes("\u001b[?1049h"), "the view is on the terminal's alternate screen")
  terminal.type("p")
  await terminal.shows(/\(paused\)/)
  terminal.type("p")
  terminal.type("\u001b[B\t")

  const before = terminal.shown.length
  execFileSync("stty", ["-F", readFileSync(ttyFile, "utf8").trim(), "cols", "60", "rows", "12"])
  await terminal.shows(/p pause {20}\u001b/, before)
  // Each frame has the terminal's number of lines, and no line is wider than the terminal.
  const frame = terminal.shown.slice(terminal.shown.lastIndexOf("\u001b[?2026h"))
  const lines = frame.split(/\r+\n/).map(line => line.replaceAll(/\u001b\[[0-9;?]*[a-zA-Z]/g, ""))
  assert.equal(lines.length, 12)
  assert.ok(lines.every(line => line.length <= 60), JSON.stringify(lines))

  await node.kill()
  await terminal.shows(/No node answers|broke|ended the stream/, before)
  terminal.type("q")
  await terminal.shows(/over/)
  assert.match(terminal.shown, /\u001b\[\?25h\u001b\[\?1049l/)
  assert.match(terminal.shown, /code 0/)
  assert.match(terminal.shown.slice(terminal.shown.lastIndexOf("code 0")), /[^-]icanon[^]*[^-]echo /)
})

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  test(`The terminal is as before after ${signal}`, async t => {
    const { env, directory } = await setUp(t)
    const file = join(directory, "pid")
    const terminal = new Terminal(thenShowState(`echo $BASHPID >${file}; exec $rookery top`), { env })
    await terminal.shows(/q quit/)
    process.kill(Number(readFileSync(file, "utf8")), signal)
    await terminal.shows(/over/)
    const afterEnd = terminal.shown.slice(terminal.shown.indexOf("code "))
    assert.match(terminal.shown, /\u001b\[\?25h\u001b\[\?1049l/)
    assert.match(afterEnd, /[^-]icanon[^]*[^-]echo /)
  })
}

test("A node that does not report its disk operations does not delay those of another node", async t => {
  let isAsked = false
  const server = createServer((request, response) => {
    if (request.url.startsWith("/dashboard/live")) {
      const Nodes = ["A", "B", "C"].map(Tag => ({ Tag, Name: Tag, Role: "voter", State: "up", IsSelf: Tag === "A", Sample: {} }))
      const state = () => JSON.stringify({ Time: new Date().toISOString(), Cluster: {}, Health: { Level: "ok", Sentence: "Well." }, Alerts: [], Nodes, Indexes: [] })
      response.writeHead(200, { "Content-Type": "text/event-stream" })
      const beat = setInterval(() => response.write(`data: ${state()}\n\n`), 200)
      response.on("close", () => clearInterval(beat))
    } else if (/node=B/.test(request.url)) {
      isAsked = true
    } else {
      const none = { Columns: ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"], Rows: [] }
      response.end(JSON.stringify({ Events: none, SlowEvents: none }))
    }
  }).listen(0, "127.0.0.1")
  t.after(() => server.close().closeAllConnections())
  await once(server, "listening")
  const env = { ...environmentAt(temporaryDirectory(t)), ROOKERY_URL: `http://127.0.0.1:${server.address().port}` }
  const terminal = new Terminal("$rookery top", { env })
  await terminal.shows(/Disk of A/)
  terminal.type("\t")
  await until(() => isAsked)
  terminal.type("\t")
  await terminal.shows(/Disk of C/)
  terminal.type("q")
  assert.equal(await terminal.ended, 0)
})

test("A state in another form ends the live view with a sentence", { timeout: 60_000 }, async t => {
  const server = createServer((request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Raven-Server-Version": "7" })
    response.end(request.url.startsWith("/dashboard/live") ? 'data: {"Time":7}\n\n' : "{}")
  }).listen(0, "127.0.0.1")
  t.after(() => server.close().closeAllConnections())
  await once(server, "listening")
  const env = { ...environmentAt(temporaryDirectory(t)), ROOKERY_URL: `http://127.0.0.1:${server.address().port}` }
  const terminal = new Terminal("$rookery top", { env })
  assert.equal(await terminal.ended, 1)
  assert.match(terminal.shown, /\u001b\[\?1049l[^]*is not Rookery, or another version of it/)
})

test("The newest lines of a level are printed, and then all new ones", { timeout: 60_000 }, async t => {
  // The ring of a node: an error every hundred lines. Its newest lines are other ones.
  const ring = Array.from({ length: 1000 }, (_, index) => ({ Sequence: index + 1, Time: "2026-01-01T00:00:00Z", Level: index % 100 === 0 ? "error" : "information", EventId: 0, Text: `line ${index + 1}` }))
  let asked = 0
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url, "http://node")
    const [limit, after] = [Number(searchParams.get("limit")), searchParams.get("after")]
    if (request.url.startsWith("/admin/logs")) {
      asked++
    }

    const lines = after === null ? ring.slice(-limit) : ring.filter(line => line.Sequence > Number(after)).slice(0, limit)
    response.writeHead(200, { "Content-Type": "application/json", "Raven-Server-Version": "7" })
    response.end(JSON.stringify({ Lines: lines }))
  }).listen(0, "127.0.0.1")
  t.after(() => server.close().closeAllConnections())
  await once(server, "listening")
  const env = { ...environmentAt(temporaryDirectory(t)), ROOKERY_URL: `http://127.0.0.1:${server.address().port}` }
  const texts = ({ stdout }) => stdout.match(/line \d+/g)
  const newest = await command(["logs", "--level", "error", "--lines", "2"], { env })
  assert.deepEqual(texts(newest), ["line 801", "line 901"], newest.stderr)

  asked = 0
  const following = await command(["logs", "--lines", "1", "-f"], {
    env,
    onStart: async child => {
      await until(() => asked > 0)
      ring.push(...["a", "b", "c"].map((_, index) => ({ ...ring[0], Sequence: 1001 + index, Text: `line ${1001 + index}` })))
      await until(() => asked > 2)
      child.kill("SIGKILL")
    },
  })
  assert.deepEqual(texts(following), ["line 1000", "line 1001", "line 1002", "line 1003"])
})

test("Where stdout is not a terminal the view is printed once, without control sequences", async t => {
  const { rookery } = await setUp(t)
  const { code, stdout, stderr } = await rookery("top")
  assert.equal(code, 0, stderr)
  assert.match(stdout, /NAME +ROLE +STATE/)
  assert.match(stdout, /journal_sync/)
  assert.ok(!stdout.includes("\u001b"))
})

test("The times of disk work are those of the node's clock, not of the reader's", async t => {
  const { rookery, node, directory } = await setUp(t)
  const columns = ["Kind", "StartUnixMicroseconds", "DurationMicroseconds", "Bytes"]
  for (const hours of [-3, 3]) {
    // The clock of this node is hours off, and its last sync was just now.
    const server = createServer(async (request, response) => {
      const url = new URL(request.url, "http://node")
      if (url.pathname !== "/debug/io") {
        const answer = await fetch(new URL(request.url, node.url), { headers: { authorization: request.headers.authorization ?? "" } })
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
        return
      }
      const now = (Date.now() + hours * 3_600_000) * 1000
      const since = Number(url.searchParams.get("since"))
      const rows = [["journal_sync", now - 3000, 2000, 4096]].filter(row => row[1] + row[2] > since)
      const list = { Columns: columns, Rows: rows }
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify({ Node: "A", Events: { FromUnixMicroseconds: since, UntilUnixMicroseconds: now - 1, ...list }, SlowEvents: list, RollUps: { SpanSeconds: 60, Columns: [], Rows: [] } }))
    })
    await new Promise(done => server.listen(0, "127.0.0.1", done))
    t.after(() => server.close())
    const { code, stdout, stderr } = await rookery("io", "--url", `http://127.0.0.1:${server.address().port}`)
    assert.equal(code, 0, stderr)
    assert.match(stdout, /journal_sync/, stderr)
    assert.match(stdout, /[▁▂▃▄▅▆▇█]·?\n$/)
  }
})

test("`rookery io` shows disk work by kind and as it happens, and `rookery logs` prints the log", async t => {
  const { rookery, env, node } = await setUp(t)
  const { code, stdout, stderr } = await rookery("io")
  assert.equal(code, 0, stderr)
  assert.match(stdout, /KIND +PER SECOND +BYTES\/S +P50 +P99 +LONGEST\n/)
  assert.match(stdout, /journal_sync/)
  assert.match(stdout, /longest sync of each second.*\n[·▁▂▃▄▅▆▇█]{60}\n/)
  assert.ok("SlowEvents" in JSON.parse((await rookery("io", "--json")).stdout))
  assert.equal((await rookery("io", "--slow")).code, 0)

  let follower
  let followed = ""
  const end = command(["io", "--follow", "--json"], { env, onStart: child => {
    follower = child
    child.stdout.on("data", bytes => { followed += bytes })
  } })
  await until(async () => {
    await node.expect(201, "PUT", "/databases/birds/docs?id=again", "{}")
    return followed.includes("journal_sync")
  })
  follower.kill("SIGINT")
  assert.ok([130, "SIGINT"].includes((await end).code))
  assert.ok(followed.trim().split("\n").every(line => JSON.parse(line).DurationMicroseconds >= 0))

  // The command ends when the program that reads its output ends.
  const terminal = new Terminal('$rookery io --follow --json | head -n 1; echo "codes ${PIPESTATUS[*]}"', { env })
  await until(async () => {
    await node.expect(201, "PUT", "/databases/birds/docs?id=again", "{}")
    return /codes 141 0/.test(terminal.shown)
  })

  // It ends also while there is nothing to print.
  const quiet = new Terminal('$rookery logs --follow | head -n 1; echo "codes ${PIPESTATUS[*]}"', { env })
  await quiet.shows(/codes 141 0/)

  const logs = await rookery("logs")
  if ((await node.request("GET", "/admin/logs")).status === 200) {
    assert.match(logs.stdout, /\.\d{3}Z +info +.*Serving/)
    assert.equal((await rookery("logs", "--level", "error")).stdout, "")
  } else {
    assert.equal(logs.code, 78, logs.stderr)
  }

  assert.equal((await rookery("logs", "--level", "loud")).code, 78)
})
