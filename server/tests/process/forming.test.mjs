// Nodes ("cards", after their SD cards) with the same phrase form a cluster by themselves. A fake avahi-browse lists
// the nodes from the files that Avahi would get.
import assert from "node:assert/strict"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { test } from "node:test"
import { NodeProcess, portForMember, run, temporaryDirectory, until } from "./node-process.mjs"

const phrase = "correct horse battery staple"

/** The cards of a test by name, and the processes of the started ones. */
class Cards {
  #directory
  #test
  nodes = {}

  constructor(test) {
    this.#test = test
    this.#directory = temporaryDirectory(test)
    mkdirSync(this.at("bin"))
    writeFileSync(this.at("bin/avahi-browse"), `#!/bin/sh
for file in ${this.at("run")}/*/avahi.service; do
  [ -f "$file" ] || continue
  port=$(sed -n 's/.*<port>\\(.*\\)<.*/\\1/p' "$file")
  address=$(cat "\${file%/*}/address")
  text=$(sed -n 's/.*<txt-record>\\(.*\\)<\\/txt-record>/"\\1"/p' "$file" | tr '\\n' ' ')
  echo "=;lo;IPv4;node;_rookery._tcp;local;node.local;$address;$port;$text"
done
`)
    chmodSync(this.at("bin/avahi-browse"), 0o755)
  }

  at(name) {
    return join(this.#directory, name)
  }

  /** Creates a card as it is after its first boot. */
  async make(name, { expect = 3, secret = phrase } = {}) {
    const result = await run("cluster", "init", "--data", this.at(name), "--name", "home", "--node-name", name)
    assert.equal(result.code, 0, result.stderr)
    writeFileSync(this.at(`${name}.phrase`), `${secret}\n`, { mode: 0o600 })
    writeFileSync(this.at(`${name}.json`), JSON.stringify({ form: { expect, phraseFile: this.at(`${name}.phrase`) } }))
    mkdirSync(this.at(`run/${name}`), { recursive: true })
    this.nodes[name] = { port: await portForMember() }
  }

  /** Starts a card, for the first time or again. Does not wait until it serves. */
  start(name, address = "127.0.0.1") {
    const { port } = this.nodes[name]
    writeFileSync(this.at(`run/${name}/address`), address)
    this.nodes[name] = NodeProcess.start({
      data: this.at(name),
      port,
      address,
      credentials: { rejectUnauthorized: false },
      options: ["--config", this.at(`${name}.json`), "--memory", "96M"],
      environment: { RUNTIME_DIRECTORY: this.at(`run/${name}`), PATH: `${this.at("bin")}:${process.env.PATH}` },
    })
    const node = this.nodes[name]
    this.#test.after(() => node.kill())
  }

  /** The stored state of a card that forms a cluster, such as "vowed …"; empty if there is none. */
  note(name) {
    return existsSync(this.at(`${name}/forming`)) ? readFileSync(this.at(`${name}/forming`), "utf8").split("\n")[1] : ""
  }

  /** The text on a card's screen; empty if there is none. */
  shown(name) {
    return existsSync(this.at(`run/${name}/status`)) ? readFileSync(this.at(`run/${name}/status`), "utf8") : ""
  }

  /** The health that the node reports to a user on its machine; empty if it does not answer. */
  async health(name) {
    const access = this.at(`${name}/local-access`)
    const headers = existsSync(access) ? { Authorization: `Bearer ${readFileSync(access, "utf8").split("\n")[1]}` } : {}
    const answer = await this.nodes[name].request("GET", "/readyz?verbose", undefined, { headers }).catch(() => null)
    return answer === null ? {} : JSON.parse(answer.text)
  }

  async membersSeenBy(name) {
    return (await this.health(name)).Cluster?.Members.length
  }
}

test("Three cards with one phrase form one cluster despite kills and without a fourth with another phrase, and find each other after all addresses changed", { timeout: 300_000 }, async t => {
  const cards = new Cards(t)
  for (const name of ["a", "b", "c"]) {
    await cards.make(name)
  }

  await cards.make("d", { secret: "another phrase than theirs" })
  for (const name of ["a", "b", "d"]) {
    cards.start(name)
  }

  await until(async () => /waits to form the cluster home of 3\. It sees b; 1 more is missing\. d at 127\.0\.0\.1:\d+ forms another cluster/.test((await cards.health("a")).Forming))
  await until(() => /d at 127\.0\.0\.1:\d+ forms another cluster than this node: it has another phrase/.test(cards.nodes.a.log))
  await until(() => /waits to form the cluster home of 3\. It sees nobody; 2 more are missing\./.test(cards.nodes.d.log))
  await until(() => /^Serving\. This node waits to form the cluster home of 3\. It sees b; 1 more is missing\. d at .*\n$/.test(cards.shown("a")))
  assert.deepEqual([cards.note("a"), cards.note("b")], ["", ""])
  assert.ok((await run("status", "--data", cards.at("a"))).stdout.includes("waits to form the cluster"))

  // A card that was killed continues from its stored state.
  cards.start("c")
  for (const word of ["candidate", "vowed", "admitted"]) {
    const isAt = name => cards.note(name).startsWith(word)
    await until(() => ["a", "b", "c"].some(isAt))
    const name = ["a", "b", "c"].find(isAt)
    await cards.nodes[name].kill()
    cards.start(name)
  }

  await until(async () => (await Promise.all(["a", "b", "c"].map(name => cards.membersSeenBy(name)))).every(members => members === 3))
  await until(() => ["a", "b", "c"].some(name => /This node has founded the cluster home of 3\.$/m.test(cards.nodes[name].log)))
  assert.equal(await cards.membersSeenBy("d"), 1)

  // Any member can be claimed with the code that the same member shows.
  const other = ["a", "b", "c"].find(name => !existsSync(cards.at(`${name}/forming`)))
  await until(() => existsSync(cards.at(`${other}/claim-code`)))
  const claimed = await run("claim", "--data", cards.at(other))
  assert.equal(claimed.code, 0, claimed.stderr)
  const headers = { Authorization: `Bearer ${claimed.stdout.trim()}` }
  const companions = ["a", "b", "c"].filter(name => name !== other).join(", ")
  await until(() => cards.shown(other) === `Serving. This node is in the cluster home, with ${companions}. It has an owner.\n`)
  for (const name of ["a", "b", "c"]) {
    cards.nodes[name].headers = headers
  }

  await cards.nodes[other].createDatabase("shop")
  await cards.nodes[other].expect(201, "PUT", "/databases/shop/docs?id=one", "{}")
  for (const name of ["a", "b", "c"]) {
    await until(() => cards.nodes[name].request("GET", "/databases/shop/docs?id=one").then(({ status }) => status === 200, () => false))
  }

  // A member that starts does not form a cluster again. Each has another address than the others know.
  await Promise.all(["a", "b", "c"].map(name => cards.nodes[name].terminate()))
  for (const [index, name] of ["a", "b", "c"].entries()) {
    cards.start(name, `127.0.2.${index + 1}`)
    cards.nodes[name].headers = headers
  }

  for (const name of ["a", "b", "c"]) {
    await until(() => cards.nodes[name].request("PUT", "/databases/shop/docs?id=moved", "{}").then(({ status }) => status === 201, () => false))
  }

  assert.equal((await cards.health(other)).Forming, undefined)
  assert.ok(!readFileSync(cards.at(`run/${other}/avahi.service`), "utf8").includes("forming="))
})

test("An excess card reports who founded the cluster without it, a short phrase is refused, and a cluster name without a phrase forms nothing", { timeout: 240_000 }, async t => {
  const cards = new Cards(t)
  for (const name of ["a", "b", "c"]) {
    await cards.make(name, { expect: 2 })
  }

  await cards.make("d", { secret: "too short" })
  await cards.make("e")
  writeFileSync(cards.at("e.json"), "{}")
  for (const name of ["a", "b", "c", "d", "e"]) {
    cards.start(name)
  }

  await until(() => /The phrase to form a cluster with has 9 characters, and must have 16 at least/.test(cards.nodes.d.log))
  const isOut = name => /^out . has founded the cluster home of 2 without this node/.test(cards.note(name))
  await until(() => ["a", "b", "c"].some(isOut))
  const excluded = ["a", "b", "c"].find(isOut)
  const others = ["a", "b", "c"].filter(name => name !== excluded)
  await until(async () => (await Promise.all(others.map(name => cards.membersSeenBy(name)))).every(members => members === 2))
  for (const name of others) {
    // The claim code that was shown before the cluster formed is still valid.
    const [, shown] = cards.nodes[name].log.match(/Claim it with the code (\w+)/)
    await until(() => existsSync(cards.at(`${name}/claim-code`)) && readFileSync(cards.at(`${name}/claim-code`), "utf8").trim() === shown)
  }

  assert.match((await cards.health(excluded)).Forming, /This node can join with a token/)
  await until(() => /^Serving\. . has founded the cluster home of 2 without this node, .* This node can join with a token/.test(cards.shown(excluded)))
  await until(() => /The phrase to form a cluster with has 9 characters/.test(cards.shown("d")))
  assert.deepEqual(await Promise.all([excluded, "d", "e"].map(name => cards.membersSeenBy(name))), [1, 1, 1])
  assert.equal(cards.note("e"), "")
})
