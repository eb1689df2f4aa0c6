// Nodes join a cluster by commands, as owners type them. The tests check which joins are refused, and what happens to
// old and copied data.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { Logs } from "../../../cluster/tests/process/logs.mjs"
import { FakedClock, whyNoClocks } from "./faked-clock.mjs"
import { checked, executable, NodeProcess, portForMember, run, runWithin, temporaryDirectory, until } from "./node-process.mjs"

/** Asserts that a command of `rookery cluster` ends with an exit code and a sentence. */
async function refused(code, sentence, ...commandLine) {
  const result = await run("cluster", ...commandLine)
  assert.equal(result.code, code, result.stderr)
  assert.match(result.stderr, sentence)
  assert.equal(result.stdout, "")
}

/** Creates a join token. */
async function token(node, ...options) {
  const result = await run("cluster", "token", "create", "--url", node.url, ...options)
  assert.equal(result.code, 0, result.stderr)
  return result.stdout.trim()
}

/** Runs a command on a terminal and types what `answer` returns when the question is shown. Returns the output and the exit code. */
async function onTerminal(commandLine, question, answer) {
  const child = spawn("script", ["--quiet", "--return", "--command", [executable, ...commandLine].join(" "), "/dev/null"], { stdio: ["pipe", "pipe", "inherit"] })
  const output = []
  child.stdout.on("data", bytes => output.push(bytes))
  const closed = once(child, "close")
  const text = () => Buffer.concat(output).toString()
  await until(() => text().includes(question) || child.exitCode !== null)
  child.stdin.end(await answer())
  const [code] = await closed
  return { code, text: text() }
}

const members = async node => Object.keys((await node.expect(200, "GET", "/cluster/topology")).Topology.AllNodes)

test("nodes join by tokens, wrong joins are refused with advice, and the authority is replaced meanwhile", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const [one, two] = [await portForMember(), await portForMember()]

  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "pi-1")).code, 0)
  await refused(78, /is there already/, "init", "--data", at("a"))
  const first = await NodeProcess.serveDuring(t, { data: at("a"), port: one })
  await refused(78, /another process|is in use/, "init", "--data", at("a"), "--name", "other")

  const joinToken = await token(first)
  const asPi2 = ["--name", "pi-2", "--address", `127.0.0.1:${two + 1000}`]
  await refused(78, /not a join token, or only a part of one/, "join", joinToken.slice(0, -3), "--data", at("b"))
  await refused(78, /is not allowed as a name/, "join", joinToken, "--data", at("b"), "--name", "Pi_2")
  await refused(1, /There is a node named pi-1 already/, "join", joinToken, "--data", at("b"), "--name", "pi-1")
  mkdirSync(at("photos"))
  writeFileSync(join(at("photos"), "holiday.jpg"), "x")
  await refused(78, /holds files that are not Rookery's/, "join", joinToken, "--data", at("photos"))
  await refused(78, /is pi-1 of this cluster already/, "join", joinToken, "--data", at("a"))

  await refused(78, /"my pi:9443" is not an address at which members could reach this node/, "join", joinToken, "--data", at("b"), "--address", "my pi:9443")
  await refused(78, /--address pi-2:8443 is the address for clients, by --public-url/, "join", joinToken, "--data", at("b"), "--address", "pi-2:8443", "--public-url", "https://pi-2:8443")
  const joined = await run("cluster", "join", joinToken, "--data", at("b"), ...asPi2, "--json")
  assert.equal(joined.code, 0, joined.stderr)
  assert.deepEqual([JSON.parse(joined.stdout).Tag, JSON.parse(joined.stdout).Members], ["B", ["pi-1"]])
  assert.match(joined.stderr, /A standby.* If its card dies, writes that pi-2 had not received are lost.*A mirror.* writes stop while either is off.*`rookery cluster node promote pi-2`/s)
  await refused(1, /admitted node .* on .*, and each token admits one node/, "join", joinToken, "--data", at("c"), "--name", "pi-3")

  let second = await NodeProcess.serveDuring(t, { data: at("b"), port: two })
  await until(async () => (await members(second)).length === 2)
  const tokenOfSecond = await token(second)
  const strange = await portForMember()
  await second.terminate()
  for (const [copy, startsBefore, sentence] of [["clone", 1, /There are two copies of node/], ["old-card", 2, /This is an old copy of node/]]) {
    cpSync(at("b"), at(copy), { recursive: true })
    for (let start = 0; start < startsBefore; start++) {
      await second.terminate()
      second = await NodeProcess.serveDuring(t, { data: at("b"), port: two })
      await until(async () => (await members(second)).length === 2)
    }

    const other = NodeProcess.start({ data: at(copy), port: strange })
    t.after(() => other.kill())
    await until(() => sentence.test(other.log))
    await other.terminate()
    await second.terminate()

    // The copy is refused also while the original is off, and after it was started more often than the original.
    for (let start = 0; start < 3; start++) {
      const again = NodeProcess.start({ data: at(copy), port: strange })
      t.after(() => again.kill())
      await until(() => again.request("GET", "/readyz").then(({ status, text }) => status === 503 && /The cluster refused this node's data for good/.test(text), () => false))
      await again.kill()
    }
  }

  second = await NodeProcess.serveDuring(t, { data: at("b"), port: two })
  await until(async () => (await members(second)).length === 2)

  assert.equal((await run("cluster", "init", "--data", at("other"), "--name", "other", "--node-name", "pi-9")).code, 0)
  writeFileSync(join(at("other"), "notes.txt"), "x")
  await refused(78, /is pi-9 of another cluster, other \(.*\), and .*\/other\/notes\.txt is not a file of a node that was never used\. Nothing was changed\./, "join", tokenOfSecond, "--data", at("other"))

  const rotated = await run("cluster", "ca", "rotate", "--url", second.url)
  assert.equal(rotated.code, 0, rotated.stderr)
  await until(async () => (await run("cluster", "ca", "show", "--url", first.url)).stdout.includes("Members use certificates of the new authority with each other"))
  assert.equal((await run("cluster", "ca", "retire", "--url", first.url)).code, 0)
  await until(async () => JSON.parse((await run("cluster", "ca", "show", "--json", "--url", second.url)).stdout).Authorities.length === 1)
  await refused(1, /its authority is another one. The secret was not sent/, "join", tokenOfSecond, "--data", at("c"), "--name", "pi-3")

  const third = await run("cluster", "join", await token(first), "--data", at("c"), "--name", "pi-3", "--address", `127.0.0.1:${strange + 1000}`)
  assert.equal(third.stderr, "")
  assert.match(third.stdout, new RegExp(`Start it with \`rookery serve --data .*/c --listen https://127.0.0.1:${strange}\``))
  const removed = await run("cluster", "node", "rm", "pi-3", "--yes", "--url", first.url)
  assert.equal(removed.code, 0, removed.stderr)
  assert.match(removed.stderr, /If someone else may have the card, .* `rookery cluster ca rotate`/)
})

test("A node that was initialised as a cluster of one but never claimed can join another cluster", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const [one, two] = [await portForMember(), await portForMember()]
  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "pi-1")).code, 0)
  const first = await NodeProcess.serveDuring(t, { data: at("a"), port: one })
  const joining = async (name, as) => ["join", await token(first), "--data", at(name), "--name", as, "--address", `127.0.0.1:${two + 1000}`]

  assert.equal((await run("cluster", "init", "--data", at("card"), "--node-name", "card")).code, 0)
  const credentials = name => ({ ca: readFileSync(join(at(name), "cluster/authority.pem")) })
  const serve = name => NodeProcess.serveDuring(t, { data: at(name), port: two, credentials: credentials(name) })
  const card = await serve("card")
  await until(() => /This node has no owner yet/.test(card.log))
  await refused(78, /is in use by another process/, ...await joining("card", "pi-2"))
  await card.kill()

  const copy = async (name, use) => {
    cpSync(at("card"), at(name), { recursive: true })
    await use(name)
    await refused(78, /is card of another cluster, rookery \(.*\), and it (was claimed|held a database)\. Nothing was changed\./, ...await joining(name, "pi-2"))
    assert.ok(existsSync(join(at(name), "cluster")) && !existsSync(join(at(name), "joining")))
  }

  await copy("claimed", async name => {
    const node = await serve(name)
    assert.equal((await run("claim", "--data", at(name))).code, 0)
    await node.kill()
  })
  await copy("used", async name => {
    const node = await NodeProcess.serveDuring(t, { data: at(name), port: two })
    await node.createDatabase("shop")
    await node.terminate()
  })

  // The name is in use, so no join completes. A join that is killed leaves either the old node or an unfinished join,
  // and either can continue.
  for (let milliseconds = 50; milliseconds <= 600; milliseconds += 50) {
    cpSync(at("card"), at("killed"), { recursive: true })
    const child = spawn(executable, ["cluster", ...await joining("killed", "pi-1")], { stdio: "ignore" })
    setTimeout(() => child.kill("SIGKILL"), milliseconds)
    await once(child, "exit")
    const { code, stderr } = await run("cluster", "init", "--data", at("killed"))
    assert.equal(code, 78, stderr)
    assert.match(stderr, existsSync(join(at("killed"), "cluster")) ? /is there already/ : /A join of a cluster began in/)
    if (milliseconds === 300) {
      cpSync(at("killed"), at("half"), { recursive: true })
    }

    await refused(1, /There is a node named pi-1 already/, ...await joining("killed", "pi-1"))
    rmSync(at("killed"), { recursive: true })
  }

  for (const name of ["card", "half"]) {
    const joined = await run("cluster", ...await joining(name, name))
    assert.equal(joined.code, 0, joined.stderr)
    assert.match(joined.stdout, new RegExp(`^${name} is member . of the cluster home`))
    assert.deepEqual(readdirSync(at(name)).sort(), ["cluster", "lock"])
  }

  await NodeProcess.serveDuring(t, { data: at("card"), port: two })
  await until(async () => (await members(first)).length === 2)
})

test("A token expires by the cluster's time, and a node whose clock is in 1970 can still join", { skip: whyNoClocks(), timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const clocks = { a: new FakedClock(at("a-clock")), b: new FakedClock(at("b-clock")) }
  clocks.b.set("-20500d")
  const [one, two] = [await portForMember(), await portForMember()]
  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "pi-1")).code, 0)
  const first = await NodeProcess.serveDuring(t, { data: at("a"), port: one, environment: clocks.a.environment })
  await first.createDatabase("shop")
  const short = await token(first, "--minutes", "3")
  clocks.a.set("+5m")
  await until(async () => /The token expired on/.test((await run("cluster", "join", short, "--data", at("c"), "--name", "pi-1")).stderr))

  const within = ["env", ...Object.entries(clocks.b.environment).map(([name, value]) => `${name}=${value}`)]
  const joined = await runWithin(within, "cluster", "join", await token(first), "--data", at("b"), "--name", "pi-2", "--address", `127.0.0.1:${two + 1000}`)
  assert.equal(joined.code, 0, joined.stderr)
  const second = await NodeProcess.serveDuring(t, { data: at("b"), port: two, environment: clocks.b.environment })
  await until(async () => (await members(second)).length === 2)
  await second.expect(201, "PUT", "/databases/shop/docs?id=from-1970", "{}")
  await first.expect(200, "GET", "/databases/shop/docs?id=from-1970")
})

test("The terminal asks whether the second node is to be a mirror; a mirror becomes a voter without a command, until it is demoted", { timeout: 120_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const [one, two, three] = [await portForMember(), await portForMember(), await portForMember()]
  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "pi-1")).code, 0)
  const first = await NodeProcess.serveDuring(t, { data: at("a"), port: one })
  const listing = async () => JSON.parse((await run("cluster", "node", "ls", "--json", "--url", first.url)).stdout)
  const joining = async (name, port) => ["cluster", "join", await token(first), "--data", at(name), "--name", name, "--address", `127.0.0.1:${port + 1000}`]

  // The join locks the directory until it has printed how to start the node.
  const joined = await onTerminal(await joining("pi-2", two), "Mirror or standby?", async () => {
    const early = await run("serve", "--data", at("pi-2"), "--listen", `http://127.0.0.1:${two}`)
    assert.equal(early.code, 78, early.stderr)
    assert.match(early.stderr, /pi-2 is in use by another process/)
    return "mirrow\nmirror\n"
  })
  assert.equal(joined.code, 0, joined.text)
  assert.match(joined.text, /pi-2 is member B of the cluster home, with pi-1\.\s+Two members: which role do you want for pi-2\?.*Mirror or standby\? \[standby\] .*Mirror or standby\? \[standby\] .*pi-2 is a mirror: it votes once it runs and has all data\..*\nStart it with `rookery serve --data /s)
  let second = await NodeProcess.serveDuring(t, { data: at("pi-2"), port: two })
  await until(async () => (await listing()).Voters === 2)
  assert.equal((await run("cluster", "node", "demote", "pi-2", "--url", first.url)).code, 0)
  await second.terminate()
  second = await NodeProcess.serveDuring(t, { data: at("pi-2"), port: two })
  const isThere = ({ Members }) => Members.some(({ Name, IsReachable, LagEntries }) => Name === "pi-2" && IsReachable && LagEntries === 0)
  await until(async () => isThere(await listing()))
  assert.equal((await listing()).Voters, 1)
  const ofThree = await run(...await joining("pi-3", three), "--mirror")
  assert.match(ofThree.stderr, /^--mirror was ignored: it is for the second of two members/)
  for (const name of ["pi-2", "pi-3"]) {
    assert.equal((await run("cluster", "node", "rm", name, "--yes", "--url", first.url)).code, 0)
  }

  await second.terminate()
  const ofTwo = await run(...await joining("pi-4", three), "--mirror")
  assert.equal(ofTwo.stderr, "pi-4 is a mirror: it votes once it runs and has all data. `rookery cluster node demote pi-4` makes it a standby.\n")
  await NodeProcess.serveDuring(t, { data: at("pi-4"), port: three })
  await until(async () => (await listing()).Voters === 2)
})

test("Unfinished joins, removed nodes and impossible requests are answered with advice", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const ports = [await portForMember(), await portForMember(), await portForMember()]
  const succeed = async (...commandLine) => {
    const result = await run(...commandLine)
    assert.equal(result.code, 0, result.stderr)
    return result
  }

  // A cluster of one has not lost a majority, and its only voter cannot be removed.
  await succeed("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "pi-1")
  const credentials = () => ({ ca: readFileSync(join(at("a"), "cluster/authority.pem")) })
  let first = await NodeProcess.serveDuring(t, { data: at("a"), port: ports[0], credentials: credentials() })
  await succeed("claim", "--data", at("a"))
  await first.terminate()
  await refused(1, /^pi-1 .*\nNothing was changed. pi-1 is the only voter of the cluster, so there is nothing to recover from: start pi-1/, "recover", "--data", at("a"), "--yes", "home")
  first = await NodeProcess.serveDuring(t, { data: at("a"), port: ports[0], credentials: credentials() })
  await refused(1, /^pi-1 is the only voter: without it nothing could be written, so it was not removed\./, "node", "rm", "pi-1", "--data", at("a"))
  const joinToken = async () => (await succeed("cluster", "token", "create", "--data", at("a"))).stdout.trim()

  for (const [days, sentence] of [["x", /--days must be a whole number from 1 to 36500, not "x"/], ["0", /--days must be a whole number from 1 to 36500, not "0"/]]) {
    const result = await run("token", "create", "ci", "--scope", "read", "--days", days, "--data", at("a"))
    assert.deepEqual([result.code, result.stdout], [78, ""])
    assert.match(result.stderr, sentence)
  }

  assert.match((await succeed("token", "create", "ci", "--scope", "read", "--database", "shpo", "--data", at("a"))).stderr, /There is no database 'shpo' yet/)
  await refused(78, /"?0\.0\.0\.0:9443"? means all addresses of a machine, so other members cannot connect to it/, "join", await joinToken(), "--data", at("b"), "--address", "0.0.0.0")

  // The name is in use. The refusal is certain, so the directory stays free for another join.
  await refused(1, /There is a node named pi-1 already/, "join", await joinToken(), "--data", at("b"), "--name", "pi-1")
  assert.ok(!existsSync(join(at("b"), "joining")))
  for (const [name, port] of [["b", ports[1]], ["c", ports[2]]]) {
    await succeed("cluster", "join", await joinToken(), "--data", at(name), "--name", `pi-${name}`, "--address", `127.0.0.1:${port + 1000}`)
  }

  let second = await NodeProcess.serveDuring(t, { data: at("b"), port: ports[1], credentials: credentials() })
  let third = await NodeProcess.serveDuring(t, { data: at("c"), port: ports[2], credentials: credentials() })
  const listing = async () => JSON.parse((await succeed("cluster", "node", "ls", "--json", "--data", at("a"))).stdout)
  await until(async () => (await listing()).Voters === 3)
  for (const node of [second, third]) {
    assert.doesNotMatch(node.log, /no owner/)
  }

  // A node that is off when it is removed does not receive the log entry that removes it.
  await third.kill()
  await until(async () => (await listing()).Members.some(({ IsReachable, HeardSeconds }) => IsReachable === false && HeardSeconds > 0))
  assert.match((await succeed("cluster", "node", "ls", "--data", at("a"))).stdout, /HEARD +LAG/)
  for (const member of ["a", "b"]) {
    await until(async () => /^C voter, not reachable \(heard [\d.]+ s ago\)/m.test((await run("status", "--data", at(member))).stdout))
  }

  await refused(78, /^Now 3 members vote, 1 of them is off, and no other one may be off; without pi-c 2 members vote, and both must be on\./, "node", "rm", "pi-c", "--data", at("a"))
  await refused(78, /; without pi-b 2 members vote, [^;]*nothing is written\./, "node", "rm", "pi-b", "--data", at("a"))
  const replaced = await succeed("cluster", "node", "replace", "pi-c", "--yes", "--data", at("a"))
  assert.match(replaced.stderr, /The cluster refuses its old card from now on\. Keep the card until you are sure that no data are missing, and empty its data directory before you use it again\..*\n.*first receives all data, and then votes if a voter is missing/)
  third = NodeProcess.start({ data: at("c"), port: ports[2], credentials: credentials() })
  t.after(() => third.kill())
  await until(() => third.request("GET", "/readyz").then(({ status, text }) => status === 503 && /is not a member of its cluster any more/.test(text), () => false))
  const status = await run("status", "--data", at("c"))
  assert.equal(status.code, 1)
  assert.match(status.stdout, /^Not ready: This node is not a member of its cluster any more\. Stop it, and let it join anew with an empty data directory[^\n]*\n$/, "no state of the cluster that removed it is shown")
  await third.terminate()

  // A node writes cluster/halted, as the test does below, when it finds that a rule of consensus was broken.
  await second.terminate()
  await until(async () => (await listing()).Leader === null)
  await refused(1, /^No leader is known here, so no member can be removed, and nothing was changed\. /, "node", "rm", "pi-b", "--data", at("a"))
  await refused(1, /pi-1 and pi-b are a majority of the 2 voters, so there is nothing to recover from: start pi-b .*, and nothing is lost/, "recover", "--data", at("b"), "--yes", "home")
  writeFileSync(join(at("b"), "cluster/halted"), checked("A rule of consensus was found broken, so this node stopped taking part: a term has one leader.\n"))
  for (let start = 0; start < 2; start++) {
    second = NodeProcess.start({ data: at("b"), port: ports[1], credentials: credentials() })
    t.after(() => second.kill())
    const says = ({ status, text }) => status === 503 && /a term has one leader\. This node does not take part again by itself\./.test(text)
    await until(() => second.request("GET", "/readyz").then(says, () => false))
    assert.equal((await second.request("GET", "/livez")).status, 200)
    const authorized = () => ({ headers: { Authorization: `Bearer ${readFileSync(join(at("b"), "local-access"), "utf8").split("\n")[1]}` } })
    await until(async () => (await second.request("GET", "/metrics", undefined, authorized())).status === 200)
    for (const [method, path, body] of [["GET", "/databases/load/docs?id=a"], ["PUT", "/databases/load/docs?id=a", "{}"], ["GET", "/cluster/topology"]]) {
      const answer = await second.request(method, path, body, authorized())
      assert.ok(says(answer), `${method} ${path}: ${answer.status} ${answer.text}`)
    }

    const status = await run("status", "--data", at("b"))
    assert.equal(status.code, 1)
    assert.match(status.stdout, /^Not ready: A rule of consensus was found broken/)
    assert.match(second.log, /Diagnosis mode: A rule of consensus was found broken.*`rookery cluster node replace pi-b`.* delete .*\/b\/cluster\/halted and start the node again\./)
    assert.equal(second.end, undefined)
    await second.terminate()
  }

  // The chaos tests report this log line even after they injected failing disks and bit rot.
  assert.notDeepEqual(new Logs([{ name: "pi-b", node: second }]).search(["failing", "rot"]), [])

  rmSync(join(at("b"), "cluster/halted"))
  second = NodeProcess.start({ data: at("b"), port: ports[1], credentials: credentials() })
  t.after(() => second.kill())
  await until(() => second.request("GET", "/readyz").then(({ status }) => status === 200, () => false))
})
