// The authority of a node that speaks TLS is replaced while clients go on, each trusting what it was handed last.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import https from "node:https"
import { join } from "node:path"
import { test } from "node:test"
import { NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

test("clients that trust what they were handed go on through every stage of another authority", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "a")
  const rookery = async (...words) => {
    const ended = await run(...words, "--data", data)
    assert.equal(ended.code, 0, ended.stderr)
    return ended.stdout
  }

  await rookery("cluster", "init", "--name", "home", "--node-name", "pi-1")
  const port = await portForMember()
  const node = NodeProcess.start({ data, port, listen: `https://127.0.0.1:${port}` })
  t.after(() => node.kill())
  await until(async () => (await run("claim", "--data", data)).code === 0)

  /** One request, on a connection of its own. */
  const ask = (ca, client = {}) => new Promise((done, failed) => https
    .get({ host: "127.0.0.1", port, path: "/databases", agent: false, ca, ...client }, answer => answer.resume().on("end", () => done(answer.statusCode)))
    .on("error", failed))
  const made = async name => {
    await rookery("cert", "create", name, "--access", "admin", "--to", directory)
    return { pfx: readFileSync(join(directory, `${name}.pfx`)), passphrase: "" }
  }
  const stage = words => until(async () => (await rookery("cluster", "ca", "show")).includes(words))

  const old = readFileSync(join(data, "cluster/authority.pem"), "utf8")
  const before = await made("before")
  assert.equal(await ask(old, before), 200)

  // From here on a client asks without a pause, by what it was handed while both are trusted. (A .pfx brings its authorities along.)
  await rookery("cluster", "ca", "rotate")
  await stage("Members use certificates of the new authority with each other.")
  assert.equal(await ask(old, before), 200)
  const during = await made("during")
  const both = readFileSync(join(directory, "during-ca.pem"), "utf8")
  assert.equal(both.match(/BEGIN CERTIFICATE/g).length, 2)

  let isOver = false
  let asked = 0
  const goesOn = (async () => {
    for (; !isOver; asked++) {
      assert.equal(await ask(both, during), 200)
    }
  })()
  const from = asked
  await until(() => asked > from + 2)
  await rookery("cluster", "ca", "retire")
  await until(async () => JSON.parse(await rookery("cluster", "ca", "show", "--json")).Authorities.length === 1)
  await until(() => asked > from + 5)
  isOver = true
  await goesOn
  await assert.rejects(ask(old, before), /certificate/)
  assert.equal(await ask(both, before), 403)
  assert.equal(await node.terminate(), 0)
})
