// The real executable as a process: started on a free port, sent requests, killed, stopped.
import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..")
export const executable = process.env.ROOKERY_BIN ?? join(root, "artifacts/rookery")

// Kills all processes that this one started when it ends, also by SIGTERM.
const running = new Set()
process.on("exit", () => running.forEach(child => child.kill("SIGKILL")))
process.on("SIGTERM", () => process.exit(143))

const undoneByTest = new WeakMap()

/** Runs `undo` after the test: the functions of several calls run in reverse order. */
export function afterwards(test, undo) {
  const steps = undoneByTest.get(test) ?? []
  if (steps.push(undo) === 1) {
    undoneByTest.set(test, steps)
    test.after(async () => {
      while (steps.length > 0) {
        await steps.pop()()
      }
    })
  }
}

/** Creates an empty directory that is deleted after the test. */
export function temporaryDirectory(test) {
  const directory = mkdtempSync(join(process.env.ROOKERY_TEST_DIR ?? tmpdir(), "rookery-process-"))
  afterwards(test, async () => {
    // Deletion is retried, because a systemd unit that ends may still write its last file. rmSync's own retries do not
    // find new files.
    for (let retriesLeft = 50; ; retriesLeft--) {
      try {
        return rmSync(directory, { recursive: true, force: true })
      } catch (failure) {
        if (retriesLeft === 0) throw failure
        await new Promise(done => setTimeout(done, 100))
      }
    }
  })
  return directory
}

const reserved = []
process.on("exit", () => reserved.forEach(file => rmSync(file, { force: true })))

/** Reserves a port among the test files, which run at the same time. So the port of a killed node is still free when it starts again. Returns false if the port is reserved already. */
function reserve(port) {
  const file = join(tmpdir(), `rookery-port-${port}`)
  try {
    writeFileSync(file, `${process.pid}`, { flag: "wx" })
  } catch {
    try {
      process.kill(Number(readFileSync(file, "utf8")), 0)
    } catch {
      rmSync(file, { force: true }) // The process that reserved the port was killed. The next call gets the port.
    }
    return false
  }
  reserved.push(file)
  return true
}

/** A free port of the loopback, below those that the kernel gives to outgoing connections (from 32768 on), so it is not taken meanwhile. */
export async function freePort() {
  for (;;) {
    const port = randomInt(10_000, 31_000)
    if (await isFree(port) && reserve(port)) {
      return port
    }
  }
}

/** A free port, on which a member serves clients; the port 1000 above it, on which members reach it, is free too. */
export async function portForMember() {
  for (;;) {
    const port = await freePort()
    if (await isFree(port + 1000) && reserve(port + 1000)) {
      return port
    }
  }
}

async function isFree(port) {
  const server = createServer().listen(port, "127.0.0.1")
  const free = await once(server, "listening").then(() => true, () => false)
  await new Promise(done => server.close(done))
  return free
}

/** Waits until a condition holds; fails after 120 s. */
export async function until(holds) {
  for (const deadline = performance.now() + 120_000; !await holds();) {
    if (performance.now() > deadline) {
      throw new Error(`after 120 s this did not hold: ${holds}`)
    }

    await new Promise(done => setTimeout(done, 20))
  }
}

/** Returns a text followed by its checksum, as in small files of a data directory: CRC-32C (RFC 3720, B.4). */
export function checked(text) {
  let crc = 0xffffffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) {
      crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
    }
  }

  return `${text}check ${((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0")}\n`
}

/** Runs a command of the executable to its end. Returns its exit code (or signal), stdout and stderr. */
export const run = (...commandLine) => runWithin([], ...commandLine)

/** Runs a command of the executable, started by another command such as `env`. */
export async function runWithin(within, ...commandLine) {
  const [program, ...words] = [...within, executable, ...commandLine]
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "pipe"] })
  const output = { stdout: [], stderr: [] }
  child.stdout.on("data", bytes => output.stdout.push(bytes))
  child.stderr.on("data", bytes => output.stderr.push(bytes))
  const [code, signal] = await once(child, "close")
  return { code: code ?? signal, stdout: Buffer.concat(output.stdout).toString(), stderr: Buffer.concat(output.stderr).toString() }
}

/** The names of a process's threads. */
function threadsOf(pid) {
  return readdirSync(`/proc/${pid}/task`).map(thread => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim()
    } catch {
      return "" // The thread has ended meanwhile.
    }
  })
}

/** A running `rookery serve`. */
export class NodeProcess {
  #log = []

  /** Sent with every request. */
  headers = {}

  /**
   * Starts a node and does not wait until it is ready. With `credentials` (options of node:tls: ca, pfx …) the node
   * uses TLS, and requests are sent with them. `within` is a command that starts the node, for example in a network
   * namespace. `binary` is another program with the same command line, such as the negative control of the cluster's
   * tests.
   */
  static start({
    data, port, address = "127.0.0.1", credentials, listen,
    options = [], environment = {}, within = [], binary = executable,
  }) {
    const node = new NodeProcess()
    node.port = port
    node.url = `${credentials ? "https" : "http"}://${address}:${port}`
    listen ??= node.url
    // A node with little memory admits 64 connections of an address.
    node.agent = new (credentials ? https : http).Agent({ keepAlive: true, maxSockets: 48, ...credentials })
    const [program, ...words] = [...within, binary, "serve", "--data", data, "--listen", listen, ...options]
    node.child = spawn(program, words, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...environment },
    })
    running.add(node.child)
    for (const stream of [node.child.stdout, node.child.stderr]) {
      stream.on("data", bytes => node.#log.push(bytes))
    }

    // "close" is emitted after all output has been read.
    node.ended = once(node.child, "close").then(([code, signal]) => {
      running.delete(node.child)
      node.end = code ?? signal
      return node.end
    })
    return node
  }

  /** Starts a node and waits until it serves. The node's `startMilliseconds` is how long that took. */
  static async serve(settings) {
    const startedAt = performance.now()
    const node = NodeProcess.start({ port: await freePort(), ...settings })
    await node.answers("/readyz", 200)
    node.startMilliseconds = performance.now() - startedAt
    return node
  }

  /** Starts a node, waits until it serves, and kills it after the test. */
  static async serveDuring(test, settings) {
    const node = await NodeProcess.serve(settings)
    test.after(() => node.kill())
    return node
  }

  /** Uses other credentials from now on. Connections of the old agent are closed, at once or after their answer, because a node limits the connections of an address. */
  useCredentials(credentials) {
    const old = this.agent
    this.agent = new https.Agent({ ...old.options, ...credentials })
    old.keepAlive = false
    Object.values(old.freeSockets).flat().forEach(socket => socket.destroy())
  }

  /** The node's output on stdout and stderr. */
  get log() {
    return Buffer.concat(this.#log).toString()
  }

  /** Waits until a path is answered with a status; fails when the process ends first or 60 s pass. */
  async answers(path, status) {
    for (const deadline = performance.now() + 60_000; performance.now() < deadline;) {
      if (this.end !== undefined) {
        throw new Error(`the node ended with ${this.end}:\n${this.log}`)
      }

      const answer = await this.request("GET", path).catch(() => null)
      if (answer?.status === status) {
        return answer
      }

      await new Promise(done => setTimeout(done, 10))
    }

    throw new Error(`the node did not answer ${path} with ${status}:\n${this.log}`)
  }

  /** Sends a request and returns status, headers and text of the answer. Rejects if the connection breaks, or nothing is received for `timeout` milliseconds. */
  request(method, path, body, { headers = {}, timeout } = {}) {
    return new Promise((done, failed) => {
      const { request: send } = this.url.startsWith("https:") ? https : http
      const request = send(`${this.url}${path}`, { method, timeout, agent: this.agent, headers: { ...this.headers, ...headers } }, response => {
        const parts = []
        response.on("data", part => parts.push(part))
        response.on("error", failed)
        response.on("end", () => done({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }))
      })
      request.on("error", failed)
      request.on("timeout", () => request.destroy(new Error(`nothing came for ${timeout} ms`)))
      if (body !== undefined) {
        request.setHeader("Content-Length", Buffer.byteLength(body))
      }

      request.end(body)
    })
  }

  /** Sends a request that must be answered with a status, and returns the answer's JSON; null if it is empty. */
  async expect(status, method, path, body) {
    const answer = await this.request(method, path, body)
    if (answer.status !== status) {
      throw new Error(`${method} ${path} was answered with ${answer.status}, not ${status}: ${answer.text}`)
    }

    return answer.text === "" ? null : JSON.parse(answer.text)
  }

  async #checkSocketThreads() {
    // A node that is halted, or demands a credential, sends no metrics.
    const metrics = await this.request("GET", "/metrics", undefined, { timeout: 5_000 }).catch(() => null)
    if (metrics?.status !== 200) {
      return
    }

    const count = metrics.text.match(/^rookery_socket_thread_disk_operations_total (.*)$/m)?.[1]
    if (count !== "0") {
      throw new Error(`${count} disk operations ran on threads of sockets`)
    }

    // Rookery recognises these threads by their name, which the runtime may change.
    const names = threadsOf(this.child.pid)
    if (names.includes("rookery") && !names.includes(".NET Sockets")) {
      throw new Error(`no thread of the node is named ".NET Sockets": ${names}`)
    }
  }

  createDatabase(name) {
    return this.expect(201, "PUT", `/admin/databases?name=${name}&replicationFactor=1`, JSON.stringify({ DatabaseName: name, Settings: {} }))
  }

  /** Kills the node, like a crash. */
  async kill() {
    this.child.kill("SIGKILL")
    await this.ended
    this.agent.destroy()
  }

  /** Stops the node with SIGTERM, as systemd does, and returns the exit code. Fails if a thread of sockets has used the disk. */
  async terminate() {
    await this.#checkSocketThreads()
    this.child.kill("SIGTERM")
    const code = await this.ended
    this.agent.destroy()
    return code
  }
}
