// Three real nodes of one cluster on loopback: formed, killed, stopped, restarted.
import { cpSync, readFileSync, renameSync } from "node:fs"
import { join } from "node:path"
import { afterwards, executable, NodeProcess, portForMember, run, temporaryDirectory, until } from "../../../server/tests/process/node-process.mjs"

export class ThreeNodes {
  #directory
  #isSecure
  #optionsOf

  /**
   * Forms a cluster and waits until all three vote. They end with the test. With `secure` they use TLS, and `credentials` and `token` then permit everything.
   * `beforeJoins` is called with the cluster while the first node is alone. `keepsFirstCard` copies the first node's card, while it is stopped and alone; `putOldCardBack` puts it back. `optionsOf` returns further options of the node at an index.
   */
  static async form(test, { secure = false, keepsFirstCard = false, beforeJoins = null, optionsOf = () => [] } = {}) {
    const cluster = new ThreeNodes()
    cluster.#directory = temporaryDirectory(test)
    cluster.#isSecure = secure
    cluster.#optionsOf = optionsOf
    cluster.nodes = []
    cluster.ports = []
    afterwards(test, () => Promise.all(cluster.nodes.map(node => node.kill())))
    for (const name of ["a", "b", "c"]) {
      cluster.ports.push(await portForMember())
      await cluster.#admit(name, cluster.ports.at(-1))
      await cluster.start(cluster.nodes.length)
      if (secure && name === "a") {
        await cluster.#own()
      }

      if (beforeJoins !== null && name === "a") {
        await beforeJoins(cluster)
      }

      if (keepsFirstCard && name === "a") {
        await cluster.#keepFirstCard()
      }
    }

    await until(async () => Object.keys((await cluster.topology(0)).Topology.Members).length === 3)
    return cluster
  }

  get urls() {
    return this.nodes.map(({ url }) => url)
  }

  async #admit(name, port) {
    const data = join(this.#directory, name)
    if (name === "a") {
      succeed(await run("cluster", "init", "--data", data, "--name", "chaos", "--node-name", name))
      this.credentials = this.#isSecure ? { ca: readFileSync(join(data, "cluster/authority.pem"), "utf8") } : undefined
      return
    }

    const token = await this.command("cluster", "token", "create")
    succeed(await run("cluster", "join", token.trim(), "--data", data, "--name", name, "--address", `127.0.0.1:${port + 1000}`))
  }

  /** Claims the first node, and makes a client certificate for its owner. */
  async #own() {
    await until(() => this.nodes[0].log.includes("no owner yet"))
    this.token = (await this.command("claim")).trim()
    await this.command("cert", "create", "owner", "--access", "admin", "--to", this.#directory)
    this.credentials = { ...this.credentials, pfx: readFileSync(join(this.#directory, "owner.pfx")), passphrase: "" }
    this.nodes[0].useCredentials(this.credentials)
  }

  async #keepFirstCard() {
    await this.nodes[0].createDatabase("alone")
    await this.nodes[0].expect(201, "PUT", "/databases/alone/docs?id=first", "{}")
    await this.nodes[0].terminate()
    cpSync(join(this.#directory, "a"), join(this.#directory, "old"), { recursive: true })
    await this.start(0)
  }

  /** Puts the old card back. Call it while the first node is stopped. */
  putOldCardBack() {
    renameSync(join(this.#directory, "a"), join(this.#directory, "newest"))
    renameSync(join(this.#directory, "old"), join(this.#directory, "a"))
  }

  /** Returns the output of `rookery status` at a node. */
  async status(index) {
    return (await run("status", ...this.#isSecure ? ["--data", this.dataOf(index)] : ["--url", this.nodes[index].url])).stdout
  }

  /** Runs a command against the first node, and returns its output. */
  async command(...words) {
    return succeed(await run(...words, ...this.#isSecure ? ["--data", join(this.#directory, "a")] : ["--url", this.nodes[0].url]))
  }

  dataOf(index) {
    return join(this.#directory, "abc"[index])
  }

  /** Starts a node, for the first time or again, and waits until /readyz, or another path, answers 200. */
  async start(index, path = "/readyz", address = "127.0.0.1", options = []) {
    const data = this.dataOf(index)
    this.nodes[index] = NodeProcess.start({ data, address, port: this.ports[index], credentials: this.credentials, options: ["--memory", "128M", ...this.#optionsOf(index), ...options] })
    await this.nodes[index].answers(path, 200)
  }

  /** Restarts the killed nodes. */
  async restart() {
    await Promise.all(this.nodes.map((node, index) => node.end === undefined || this.start(index)))
  }

  /** Transfers leadership from the node at an index to another, and waits until that is done. */
  async transfer(index) {
    const { status, text } = await this.nodes[index].request("POST", "/admin/cluster/nodes/transfer")
    if (status !== 200) {
      throw new Error(text)
    }
  }

  topology(index) {
    return this.nodes[index].expect(200, "GET", "/cluster/topology")
  }

  /** Waits until a node reports itself as leader, and returns its index. */
  async leader() {
    let leaderIndex = -1
    await until(async () => {
      const answers = await Promise.all([0, 1, 2].map(index => this.topology(index).catch(() => null)))
      leaderIndex = answers.findIndex(answer => answer?.CurrentState === "Leader")
      return leaderIndex >= 0
    })
    return leaderIndex
  }

  /** Waits until every node accepts a write. */
  async settled(database) {
    for (const index of [0, 1, 2]) {
      await until(() => this.nodes[index].request("PUT", `/databases/${database}/docs?id=settled`, "{}").then(({ status }) => status === 201, () => false))
    }
  }
}

function succeed({ code, stdout, stderr }) {
  if (code !== 0) {
    throw new Error(`a command of ${executable} ended with ${code}: ${stderr}`)
  }

  return stdout
}
