// A cluster of real nodes with TLS, each in its own network namespace and on its own file system, on which faults are
// played.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { FakedClock } from "../../../server/tests/process/faked-clock.mjs"
import { afterwards, NodeProcess, runWithin, temporaryDirectory } from "../../../server/tests/process/node-process.mjs"
import { Card } from "./cards.mjs"
import { Network } from "./namespaces.mjs"
import { connectToRedis } from "./redis-registers.mjs"

const port = 8443
const redisPort = 6379
const cardMebibytes = 1024
const waitMilliseconds = 90_000

export const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds))

export class NamespacedCluster {
  #test
  #home
  #network
  #token
  #authorities

  /** Forms a cluster of three, claims it, and waits until all vote. Removed at the end of the test. */
  static async form(test) {
    const cluster = new NamespacedCluster()
    cluster.#test = test
    cluster.#home = temporaryDirectory(test)
    cluster.#network = await Network.create(test)
    cluster.members = []
    // Replaced and removed nodes are not members, but end with the test too.
    cluster.started = new Set()
    cluster.everStarted = []
    afterwards(test, () => Promise.all([...cluster.started].map(node => node.kill())))
    for (const name of ["a", "b", "c"]) {
      await cluster.add(name)
    }

    await cluster.waitUntil("three members vote", () => cluster.hasVoters(3))
    return cluster
  }

  get network() {
    return this.#network
  }

  /** The processes of the members, to which clients connect. */
  get nodes() {
    return this.members.map(({ node }) => node)
  }

  /** Makes a machine with an empty card and without a node. */
  async prepare(name) {
    const host = await this.#network.addHost()
    const card = new Card(this.#test, cardMebibytes)
    return { name, ...host, card, data: join(card.directory, "data"), clock: new FakedClock(join(this.#home, `clock-${host.address}`)) }
  }

  /** Returns a name that no member has. */
  freeName() {
    return [..."abcdefgh"].find(name => !this.members.some(member => member.name === name))
  }

  /** Joins a new node and starts it; the first one founds the cluster. */
  async add(name) {
    const member = await this.prepare(name)
    if (this.members.length === 0) {
      await this.#succeed(member, "cluster", "init", "--data", member.data, "--name", "chaos", "--node-name", name)
      this.#authorities = authoritiesOf(member)
      await this.start(member)
      await member.node.answers("/readyz", 200)
      await this.waitUntil("the first node asks to be claimed", () => member.node.log.includes("no owner yet"))
      this.#token = (await this.#succeed(member, "claim", "--data", member.data)).trim()
      member.node.headers = this.#headers
    } else {
      await this.join(member, (await this.command("cluster", "token", "create")).trim())
      await member.node.answers("/readyz", 200)
    }

    this.members.push(member)
    return member
  }

  /** Joins a node with an empty card by a token, and starts it. */
  async join(member, token) {
    await this.#succeed(member, "cluster", "join", token, "--data", member.data, "--name", member.name, "--address", `${member.address}:${port + 1000}`)
    await this.start(member)
  }

  /** Starts a node, for the first time or again, and waits until it listens. */
  async start(member) {
    member.node = NodeProcess.start({
      data: member.data,
      port,
      address: member.address,
      credentials: { ca: this.#authorities },
      within: member.within,
      options: ["--memory", "128M", "--redis", `${member.address}:${redisPort}`],
      environment: member.clock.environment,
    })
    member.node.headers = this.#headers
    this.started.add(member.node)
    this.everStarted.push({ name: member.name, node: member.node })
    await member.node.answers("/livez", 200)
  }

  /** Ends a node as a crash would. Fails when it had ended by itself. */
  async kill(member) {
    this.#forget(member)
    await member.node.kill()
  }

  /** Ends a node as systemd does. Fails when it had ended by itself, or does not end cleanly. */
  async terminate(member) {
    this.#forget(member)
    const code = await member.node.terminate()
    if (code !== 0) {
      throw new Error(`${member.name} ended with ${code} after SIGTERM`)
    }
  }

  /** Pauses a process, as on a machine that hangs. */
  async freeze(member) {
    member.node.child.kill("SIGSTOP")
  }

  async thaw(member) {
    member.node.child.kill("SIGCONT")
  }

  /** Runs a command against one member, or against each until one succeeds. Returns its output. */
  async command(...words) {
    const { stdout } = await this.#attempt(this.members, words)
    return stdout
  }

  commandAt(member, ...words) {
    return this.#attempt([member], words).then(({ stdout }) => stdout)
  }

  /** Opens a connection to a member's Redis port, with all rights. */
  connectToRedis(member) {
    return connectToRedis(redisPort, member.address, { ca: this.#authorities }, this.#token)
  }

  /** Makes clients trust the authorities that the members trust now. */
  trustAgain() {
    this.#authorities = authoritiesOf(this.members[0])
    for (const { node } of this.members) {
      node.useCredentials({ ca: this.#authorities })
    }
  }

  /** Returns a metric of a member's /metrics, by its name with labels. */
  async metric({ node }, name) {
    const { text } = await node.request("GET", "/metrics", undefined, { timeout: 2_000 })
    return Number(text.split("\n").find(line => line.startsWith(`${name} `))?.slice(name.length))
  }

  /** Returns the leader's report on the cluster, as /readyz?verbose shows it; undefined without a leader. */
  async health() {
    const answers = await Promise.all(this.members.map(member => this.#healthOf(member)))
    return answers.filter(answer => answer?.Role === "Leader").sort((one, other) => other.Term - one.Term)[0]
  }

  async hasVoters(count) {
    const members = (await this.health())?.Members
    return members?.length === this.members.length && members.filter(({ Role }) => Role !== "learner").length === count
  }

  /** Returns the leader. */
  async leader() {
    let found
    await this.waitUntil("a member leads", async () => {
      const answers = await Promise.all(this.members.map(async member => ({ member, answer: await this.#healthOf(member) })))
      found = answers.filter(({ answer }) => answer?.Role === "Leader").sort((one, other) => other.answer.Term - one.answer.Term)[0]?.member
      return found !== undefined
    })
    return found
  }

  async followers() {
    const leader = await this.leader()
    return this.members.filter(member => member !== leader)
  }

  takesWrites({ name, node }) {
    return this.waitUntil(`${name} takes a write`, () => node.request("PUT", "/databases/chaos/docs?id=settled", "{}", { timeout: 5_000 }).then(({ status }) => status === 201, () => false))
  }

  /** Waits until every member accepts a write, lacks nothing and is not reported full. Free space is measured, reported and evaluated once a second each. */
  async settled() {
    for (const member of this.members) {
      await this.takesWrites(member)
    }

    await this.waitUntil("no member lags and none is full", async () => {
      const health = await this.health()
      return health?.Members.length === this.members.length && health.Members.every(({ LagEntries, Role, SpareBytes }) => !(SpareBytes < 0) && (Role === "leader" || LagEntries < 50))
    })
  }

  /** Waits for a condition, whose name follows "that" in the failure. Fails when a node ends by itself. */
  async waitUntil(claim, holds) {
    for (const deadline = performance.now() + waitMilliseconds; !await holds();) {
      const ended = this.members.find(({ node }) => node?.end !== undefined && this.started.has(node))
      if (ended) {
        throw new Error(`while waiting until ${claim}, ${ended.name} ended by itself with ${ended.node.end}`)
      }

      if (performance.now() > deadline) {
        throw new Error(`after ${waitMilliseconds / 1000} s it did not hold that ${claim}`)
      }

      await pause(50)
    }
  }

  get #headers() {
    return this.#token ? { Authorization: `Bearer ${this.#token}` } : {}
  }

  #healthOf({ node }) {
    return node.request("GET", "/readyz?verbose", undefined, { timeout: 2_000 }).then(({ text }) => JSON.parse(text).Cluster, () => undefined)
  }

  #forget({ name, node }) {
    this.started.delete(node)
    if (node.end !== undefined) {
      throw new Error(`${name} had ended by itself with ${node.end} before it was to be ended:\n${node.log.slice(-2_000)}`)
    }
  }

  async #attempt(members, words) {
    let refused
    for (const member of members) {
      const ended = await runWithin([], ...words, "--data", member.data)
      if (ended.code === 0) {
        return ended
      }

      refused = ended.stderr
    }

    throw new Error(`rookery ${words.join(" ")}: ${refused}`)
  }

  async #succeed(member, ...words) {
    const { code, stdout, stderr } = await runWithin(member.within, ...words)
    if (code !== 0) {
      throw new Error(`rookery ${words.join(" ")}, at ${member.name}: ${stderr}`)
    }

    return stdout
  }
}

const authoritiesOf = member => readFileSync(join(member.data, "cluster/authority.pem"), "utf8")
