// A network of nodes that can be cut: each has its own network namespace, connected by a bridge, to which the tests are
// connected too.
import { execFile, execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { promisify } from "node:util"
import { afterwards } from "../../../server/tests/process/node-process.mjs"

const execute = promisify(execFile)

/** Why such networks cannot be made on this machine; false when they can. */
export function whyNoNamespaces() {
  if (process.getuid() !== 0) {
    return "needs root for network namespaces"
  }

  try {
    execFileSync("unshare", ["--net", "nft", "add table bridge rookery"], { stdio: "pipe" })
    execFileSync("ip", ["-Version"], { stdio: "pipe" })
    return false
  } catch (failure) {
    return `needs network namespaces, nft and ip (${failure.message.trim().split("\n").at(-1)})`
  }
}

export class Network {
  // Each network of a process has its own letter: the kernel removes the interfaces of a deleted namespace a little
  // later.
  static #made = 0
  #name = `rk${process.pid}${String.fromCharCode(97 + (Network.#made++ % 26))}`
  #subnet
  #hosts = 0

  /** Makes the bridge, which is removed at the end of the test. */
  static async create(test) {
    const network = new Network()
    await Network.#removeLeftOver()
    const routes = execFileSync("ip", ["route"]).toString()
    do {
      network.#subnet = `10.${64 + Math.floor(Math.random() * 64)}.${Math.floor(Math.random() * 256)}`
    } while (routes.includes(`${network.#subnet}.`))
    afterwards(test, () => Network.#remove(network.#name))
    await ip("link", "add", network.#name, "type", "bridge", "mcast_snooping", "0")
    await ip("addr", "add", `${network.#subnet}.1/24`, "dev", network.#name)
    await ip("link", "set", network.#name, "up")
    await network.#nft("add table bridge %", "add chain bridge % cut { type filter hook forward priority 0; }")
    return network
  }

  /**
   * Removes what killed tests left; the process id in a bridge's name identifies its test. Test files that start at once
   * find the same bridge, so each accepts that another one removes it meanwhile.
   */
  static async #removeLeftOver() {
    const links = JSON.parse((await ip("-json", "link", "show", "type", "bridge")).stdout || "[]")
    for (const { ifname } of links) {
      const owner = /^rk([1-9]\d*)[a-z]$/.exec(ifname ?? "")
      if (owner && !existsSync(`/proc/${owner[1]}`)) {
        await Network.#remove(ifname)
      }
    }
  }

  /** Makes a namespace for a node. Returns its address and the command that starts a program in it. */
  async addHost() {
    const host = { outside: `${this.#name}.${++this.#hosts}`, namespace: `${this.#name}-${this.#hosts}`, address: `${this.#subnet}.${10 + this.#hosts}` }
    await ip("netns", "add", host.namespace)
    await ip("link", "add", host.outside, "type", "veth", "peer", "name", "eth0", "netns", host.namespace)
    await ip("link", "set", host.outside, "master", this.#name, "up")
    await ip("-n", host.namespace, "addr", "add", `${host.address}/24`, "dev", "eth0")
    await ip("-n", host.namespace, "link", "set", "eth0", "up")
    await ip("-n", host.namespace, "link", "set", "lo", "up")
    // nsenter and not `ip netns exec`, which would keep every current mount.
    return { ...host, within: ["nsenter", `--net=/run/netns/${host.namespace}`] }
  }

  /** Drops packets from one node to another: all, or a percentage. Clients still reach both. */
  cut(from, to, percent = 100) {
    const chance = percent < 100 ? `numgen random mod 100 < ${percent} ` : ""
    return this.#nft(`add rule bridge % cut iifname "${from.outside}" oifname "${to.outside}" ${chance}counter drop`)
  }

  /** Returns how many packets were dropped since the last call of `heal`. */
  async lost() {
    const { stdout } = await execute("nft", ["list", "chain", "bridge", this.#name, "cut"])
    return [...stdout.matchAll(/packets (\d+)/g)].reduce((sum, [, packets]) => sum + Number(packets), 0)
  }

  /** Ends all cuts. */
  heal() {
    return this.#nft("flush chain bridge % cut")
  }

  /** Limits the rate to and from a node, in kilobits per second. */
  async slow(host, kilobits) {
    const rate = ["root", "tbf", "rate", `${kilobits}kbit`, "burst", "16kb", "latency", "400ms"]
    await execute("tc", ["qdisc", "replace", "dev", host.outside, ...rate])
    await execute("tc", ["-n", host.namespace, "qdisc", "replace", "dev", "eth0", ...rate])
  }

  /** Returns how often a packet had to wait because of the limit. */
  async waited(host) {
    const { stdout } = await execute("tc", ["-s", "qdisc", "show", "dev", host.outside])
    return Number(/overlimits (\d+)/.exec(stdout)?.[1])
  }

  async unslow(host) {
    await execute("tc", ["qdisc", "del", "dev", host.outside, "root"])
    await execute("tc", ["-n", host.namespace, "qdisc", "del", "dev", "eth0", "root"])
  }

  #nft(...commands) {
    return execute("nft", [commands.join("; ").replaceAll("%", this.#name)])
  }

  static async #remove(name) {
    await execute("nft", [`delete table bridge ${name}`]).catch(() => {})
    for (const namespace of await namespaces()) {
      if (namespace.startsWith(`${name}-`)) {
        await removeNamespace(namespace)
      }
    }

    await ip("link", "delete", name).catch(() => {})
  }
}

const ip = (...words) => execute("ip", words)

/** Removes a network namespace, which another test may have removed meanwhile. */
export async function removeNamespace(name) {
  await ip("netns", "delete", name).catch(async failure => {
    if ((await namespaces()).includes(name)) throw failure
  })
}

async function namespaces() {
  const { stdout } = await ip("netns", "list")
  return stdout.split("\n").map(line => line.split(" ")[0])
}
