// The certificate authority of a node with TLS is replaced. Clients keep working with the authority certificates that
// they got last.
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import https from "node:https"
import { join } from "node:path"
import { test } from "node:test"
import { NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

test("clients keep working in every stage of a change of the authority, with the authority certificates that they have", { timeout: 240_000 }, async t => {
  const directory = temporaryDirectory(t)
  const data = join(directory, "a")
  const rookery = async (...words) => {
    const result = await run(...words, "--data", data)
    assert.equal(result.code, 0, result.stderr)
    return result.stdout
  }

  await rookery("cluster", "init", "--name", "home", "--node-name", "pi-1")
  const port = await portForMember()
  const node = NodeProcess.start({ data, port, listen: `https://127.0.0.1:${port}` })
  t.after(() => node.kill())
  await until(async () => (await run("claim", "--data", data)).code === 0)

  /** Sends a request on a connection of its own and returns the status. */
  const ask = (ca, client = {}) => new Promise((done, failed) => https
    .get({ host: "127.0.0.1", port, path: "/databases", agent: false, ca, ...client }, answer => answer.resume().on("end", () => done(answer.statusCode)))
    .on("error", failed))
  const createClient = async name => {
    await rookery("cert", "create", name, "--access", "admin", "--to", directory)
    return { pfx: readFileSync(join(directory, `${name}.pfx`)), passphrase: "" }
  }
  const awaitStage = words => until(async () => (await rookery("cluster", "ca", "show")).includes(words))

  const old = readFileSync(join(data, "cluster/authority.pem"), "utf8")
  const before = await createClient("before")
  assert.equal(await ask(old, before), 200)

  // From here on, one client sends requests without a pause. It has the authorities from the stage in which both are
  // trusted. (A .pfx contains its authorities.)
  await rookery("cluster", "ca", "rotate")
  await awaitStage("Members use certificates of the new authority with each other.")
  assert.equal(await ask(old, before), 200)
  const during = await createClient("during")
  const both = readFileSync(join(directory, "during-ca.pem"), "utf8")
  assert.equal(both.match(/BEGIN CERTIFICATE/g).length, 2)

  let isOver = false
  let requestCount = 0
  const working = (async () => {
    for (; !isOver; requestCount++) {
      assert.equal(await ask(both, during), 200)
    }
  })()
  const from = requestCount
  await until(() => requestCount > from + 2)
  await rookery("cluster", "ca", "retire")
  await until(async () => JSON.parse(await rookery("cluster", "ca", "show", "--json")).Authorities.length === 1)
  await until(() => requestCount > from + 5)
  isOver = true
  await working
  await assert.rejects(ask(old, before), /certificate/, "the old authority does not verify the node any more")
  assert.equal(await ask(both, before), 403, "the node does not trust the old authority's client certificates any more")
  assert.equal(await node.terminate(), 0)
})
