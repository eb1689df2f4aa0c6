// A majority is lost permanently. The remaining node, or a backup, becomes a new cluster of one. Nodes with data of the
// old cluster are refused, and empty nodes join.
import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { executable, NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

async function joinTo(node, data, name, port) {
  const token = await run("cluster", "token", "create", "--url", node.url)
  assert.equal(token.code, 0, token.stderr)
  const joined = await run("cluster", "join", token.stdout.trim(), "--data", data, "--name", name, "--address", `127.0.0.1:${port + 1000}`)
  assert.equal(joined.code, 0, joined.stderr)
}

async function listing(node) {
  const listed = await run("cluster", "node", "ls", "--json", "--url", node.url)
  assert.equal(listed.code, 0, listed.stderr)
  return JSON.parse(listed.stdout)
}

const put = (node, id) => node.expect(201, "PUT", `/databases/shop/docs?id=${id}`, `{"of":"${id}"}`)
const clusterOf = data => /^cluster (.*)$/m.exec(readFileSync(join(data, "format"), "utf8"))[1]

test("the last of three members becomes a new cluster, which refuses nodes of the old one", { timeout: 300_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const ports = { a: await portForMember(), b: await portForMember(), c: await portForMember(), d: await portForMember() }
  const recover = (...more) => run("cluster", "recover", "--data", at("a"), ...more)

  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "a")).code, 0)
  const nodes = { a: await NodeProcess.serveDuring(t, { data: at("a"), port: ports.a }) }
  for (const name of ["b", "c"]) {
    await joinTo(nodes.a, at(name), name, ports[name])
    nodes[name] = await NodeProcess.serveDuring(t, { data: at(name), port: ports[name] })
  }

  await until(async () => (await listing(nodes.a)).Voters === 3)
  for (const [tag, node] of Object.entries({ A: nodes.a, B: nodes.b, C: nodes.c })) {
    assert.equal((await node.expect(200, "GET", "/readyz?verbose")).NodeTag, tag)
  }

  await nodes.b.expect(201, "PUT", "/admin/databases?name=shop", `{"DatabaseName":"shop"}`)
  for (let i = 0; i < 50; i++) {
    await put(nodes[["a", "b", "c"][i % 3]], `d${i}`)
  }

  const running = await recover("--yes", "home")
  assert.equal(running.code, 78, running.stderr)
  assert.match(running.stderr, /is in use by another process: stop that first\./)
  const segment = join(at("a"), "journal", readdirSync(join(at("a"), "journal")).filter(name => name.startsWith("journal-")).sort()[0])
  const older = readFileSync(segment)
  await put(nodes.a, "d0") // A second version, stored after the copy.
  await nodes.a.terminate()
  const needless = await recover("--yes", "home")
  assert.equal(needless.code, 1, needless.stderr)
  assert.match(needless.stderr, /are a majority of the 3 voters, so there is nothing to recover from: start a .*, and nothing is lost/)

  await put(nodes.b, "without-a")
  await Promise.all([nodes.b.kill(), nodes.c.kill()])
  rmSync(at("c"), { recursive: true })
  const cards = await recover("--yes", "home", "--with", at("b"))
  assert.equal(cards.code, 1, cards.stderr)
  assert.match(cards.stderr, /a and b are a majority of the 3 voters.*start a .* and b .*, and nothing is lost/)

  const unasked = await recover("--json")
  assert.equal(unasked.code, 78)
  assert.match(unasked.stderr, /Pass --yes with the cluster's name/)
  assert.equal(JSON.parse(unasked.stdout).Voters, 3)
  assert.match(JSON.parse(unasked.stdout).MayBeLost.join(" "), /Nothing was seen of b, c/)
  // The journal's segment is replaced by an older copy of itself: the missing entries are reported.
  const newest = readFileSync(segment)
  writeFileSync(segment, older)
  const setBack = await recover("--json")
  assert.equal(setBack.code, 78, setBack.stderr)
  assert.match(JSON.parse(setBack.stdout).MayBeLost.join(" "), /entries \d+ to \d+, which it may have acknowledged, cannot be read/)
  writeFileSync(segment, newest)
  assert.deepEqual((await recover("--json")).stdout, unasked.stdout)

  const misnamed = await recover("--yes", "work")
  assert.equal(misnamed.code, 78)
  assert.match(misnamed.stderr, /not the name of the cluster/)

  // A kill at any moment leaves the node either as before, so that the command can be repeated, or recovered.
  const before = clusterOf(at("a"))
  for (const milliseconds of [150, 300, 450]) {
    cpSync(at("a"), at("killed"), { recursive: true })
    const child = spawn(executable, ["cluster", "recover", "--data", at("killed"), "--yes", "home"], { stdio: "ignore" })
    setTimeout(() => child.kill("SIGKILL"), milliseconds)
    await once(child, "exit")
    assert.ok(clusterOf(at("killed")) === before || existsSync(join(at("killed"), `format.before-${before}`)))
    const again = await run("cluster", "recover", "--data", at("killed"), "--yes", "home", "--json")
    if (again.code === 0) {
      assert.deepEqual(JSON.parse(again.stdout).Documents, { shop: 50 })
    } else {
      assert.match(again.stderr, /a is the only voter of the cluster, so there is nothing to recover from/)
      assert.notEqual(clusterOf(at("killed")), before, "the node was recovered before the kill")
    }

    rmSync(at("killed"), { recursive: true })
  }

  const recovery = await recover("--yes", "home", "--json")
  assert.equal(recovery.code, 0, recovery.stderr)
  const recovered = JSON.parse(recovery.stdout)
  assert.deepEqual(recovered.Documents, { shop: 50 })
  assert.notEqual(recovered.ClusterId, before)
  assert.ok(readdirSync(join(at("a"), "journal")).some(name => name.endsWith(recovered.KeptSuffix)))

  nodes.a = await NodeProcess.serveDuring(t, { data: at("a"), port: ports.a })
  await nodes.a.expect(200, "GET", "/databases/shop/docs?id=d49")
  await put(nodes.a, "recovered")
  assert.deepEqual((await listing(nodes.a)).Members.map(member => member.Name), ["a"])

  nodes.b = NodeProcess.start({ data: at("b"), port: ports.b })
  t.after(() => nodes.b.kill())
  await until(() => /was not signed by this cluster's authority: the other side is not a member of this cluster/.test(nodes.b.log + nodes.a.log))
  assert.deepEqual((await listing(nodes.a)).Members.map(member => member.Name), ["a"])
  await nodes.b.kill()

  await joinTo(nodes.a, at("d"), "d", ports.d)
  nodes.d = await NodeProcess.serveDuring(t, { data: at("d"), port: ports.d })
  await nodes.d.expect(200, "GET", "/databases/shop/docs?id=recovered")
})

test("a restored node starts as the only voter of a new cluster, and the other nodes join it empty", { timeout: 180_000 }, async t => {
  const directory = temporaryDirectory(t)
  const at = name => join(directory, name)
  const [one, two] = [await portForMember(), await portForMember()]
  assert.equal((await run("cluster", "init", "--data", at("a"), "--name", "home", "--node-name", "a")).code, 0)
  let a = await NodeProcess.serveDuring(t, { data: at("a"), port: one })
  await joinTo(a, at("b"), "b", two)
  let b = await NodeProcess.serveDuring(t, { data: at("b"), port: two })
  await a.expect(201, "PUT", "/admin/databases?name=shop", `{"DatabaseName":"shop"}`)
  await put(a, "kept")
  assert.equal((await run("backup", "--url", a.url, "--to", at("backup"))).code, 0)
  await Promise.all([a.kill(), b.kill()])

  assert.equal((await run("restore", "--from", at("backup"), "--data", at("restored"))).code, 0)
  assert.equal((await run("cluster", "init", "--data", at("restored"), "--name", "home", "--node-name", "a")).code, 0)
  a = await NodeProcess.serveDuring(t, { data: at("restored"), port: one })
  const alone = await listing(a)
  assert.deepEqual([alone.Voters, alone.Members.map(member => member.Name)], [1, ["a"]])
  const token = await run("cluster", "token", "create", "--url", a.url)
  const full = await run("cluster", "join", token.stdout.trim(), "--data", at("b"), "--name", "b")
  assert.equal(full.code, 78, full.stderr)
  await joinTo(a, at("empty"), "b", two)
  b = await NodeProcess.serveDuring(t, { data: at("empty"), port: two })
  await b.expect(200, "GET", "/databases/shop/docs?id=kept")
})
