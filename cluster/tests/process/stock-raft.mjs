// Three members on the unchanged DotNext.Net.Cluster, behind the routes of Rookery that the load uses.
import { join } from "node:path"
import {
  afterwards, NodeProcess, portForMember, temporaryDirectory, until,
} from "../../../server/tests/process/node-process.mjs"

const binary = join(import.meta.dirname, "../Rookery.StockRaft/bin/Release/net10.0/stock-raft")

export class StockRaft {
  #directory
  #ports = []

  /** Starts three members and waits until one leads. They end with the test. */
  static async form(test) {
    const cluster = new StockRaft()
    cluster.#directory = temporaryDirectory(test)
    cluster.nodes = []
    afterwards(test, () => Promise.all(cluster.nodes.map(node => node.kill())))
    for (let index = 0; index < 3; index++) {
      cluster.#ports.push(await portForMember())
    }

    await Promise.all([0, 1, 2].map(index => cluster.start(index)))
    await cluster.leader()
    return cluster
  }

  /** Starts a member, for the first time or again, and waits until it listens. */
  async start(index) {
    const own = this.#ports[index]
    const members = [own, ...this.#ports.filter(port => port !== own)].map(port => port + 1000)
    this.nodes[index] = NodeProcess.start({
      binary, data: join(this.#directory, "abc"[index]), port: own, options: ["--members", members.join(",")],
    })
    await this.nodes[index].answers("/readyz", 200)
  }

  /** Waits until a running member leads, and returns its index. */
  async leader() {
    let leaderIndex = -1
    await until(async () => {
      const leads = node => node.request("GET", "/leads").then(({ text }) => text === "true", () => false)
      leaderIndex = (await Promise.all(this.nodes.map(leads))).indexOf(true)
      return leaderIndex >= 0
    })
    return leaderIndex
  }
}
