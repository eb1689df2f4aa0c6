// Three real nodes of one cluster on loopback: formed, killed, stopped, started again.
import { once } from "node:events"
import { createServer } from "node:net"
import { join } from "node:path"
import { spawn } from "node:child_process"
import { afterwards, executable, freePort, NodeProcess, run, temporaryDirectory, until } from "../../../server/tests/process/node-process.mjs"

export class ThreeNodes {
  #directory

  /** Forms a cluster and waits until all three vote; they end with the test. */
  static async form(test) {
    const cluster = new ThreeNodes()
    cluster.#directory = temporaryDirectory(test)
    cluster.nodes = []
    cluster.ports = []
    afterwards(test, () => Promise.all(cluster.nodes.map(node => node.kill())))
    for (const name of ["a", "b", "c"]) {
      cluster.ports.push(await portForMember())
      await cluster.#admit(name, cluster.ports.at(-1))
      await cluster.start(cluster.nodes.length)
    }

    await until(async () => Object.keys((await cluster.topology(0)).Topology.Members).length === 3)
    return cluster
  }

  async #admit(name, port) {
    const data = join(this.#directory, name)
    if (name === "a") {
      return succeed(await run("cluster", "init", "--data", data, "--name", "chaos", "--node-name", name))
    }

    const token = succeed(await run("cluster", "token", "create", "--url", this.nodes[0].url)).trim()
    succeed(await run("cluster", "join", token, "--data", data, "--name", name, "--address", `127.0.0.1:${port + 1000}`))
  }

  /** Starts a node, for the first time or again, and waits until it serves. */
  async start(index) {
    const data = join(this.#directory, "abc"[index])
    this.nodes[index] = NodeProcess.start({ data, port: this.ports[index], options: ["--memory", "128M"] })
    await this.nodes[index].answers("/readyz", 200)
  }

  /** Stops a process where it stands for a while, as a card that hangs does. */
  async freeze(index, milliseconds) {
    const { child } = this.nodes[index]
    child.kill("SIGSTOP")
    await new Promise(done => setTimeout(done, milliseconds))
    child.kill("SIGCONT")
  }

  topology(index) {
    return this.nodes[index].expect(200, "GET", "/cluster/topology")
  }

  /** Which node leads, when one does and says so itself. */
  async leader() {
    let found = -1
    await until(async () => {
      const answers = await Promise.all([0, 1, 2].map(index => this.topology(index).catch(() => null)))
      found = answers.findIndex(answer => answer?.CurrentState === "Leader")
      return found >= 0
    })
    return found
  }

  /** Waits until every node takes a write. */
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

// Members talk to each other on the port that is a thousand higher.
async function portForMember() {
  for (;;) {
    const port = await freePort()
    if (port + 1000 < 65536 && await isFree(port + 1000)) {
      return port
    }
  }
}

async function isFree(port) {
  const server = createServer().listen(port, "127.0.0.1")
  const free = await Promise.race([once(server, "listening").then(() => true), once(server, "error").then(() => false, () => false)]).catch(() => false)
  server.close()
  return free
}

/** What Rookery.Histories says of a history in a file. */
export async function checkHistory(path) {
  const checker = join(import.meta.dirname, "../Rookery.Histories/bin/Debug/net10.0/history.dll")
  const child = spawn("dotnet", [checker, "check", path], { stdio: ["ignore", "pipe", "pipe"] })
  const output = []
  child.stdout.on("data", bytes => output.push(bytes))
  child.stderr.on("data", bytes => output.push(bytes))
  const [code] = await once(child, "close")
  return { code, text: Buffer.concat(output).toString().trim() }
}
