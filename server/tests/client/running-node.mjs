// The Rookery node under test: the one at ROOKERY_URL, or one that is started here on a free port with an empty
// directory.
import { spawn } from "node:child_process"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import http from "node:http"
import https from "node:https"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "../process/node-process.mjs"

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../../..")

/** Starts a node, or uses the one that ROOKERY_URL names. `stop` ends it and asserts that it ended cleanly. */
export async function startNode() {
  if (process.env.ROOKERY_URL) {
    return { url: process.env.ROOKERY_URL.replace(/\/$/, ""), stop: async () => {} }
  }

  const data = mkdtempSync(join(tmpdir(), "rookery-client-"))
  const node = launch(data, `http://127.0.0.1:${await freePort()}`)
  await node.ready()
  return {
    url: node.url,
    async stop() {
      await node.stop()
      rmSync(data, { recursive: true, force: true })
    },
  }
}

/** Starts a node on a directory. Does not wait until it serves. */
export function launch(data, url) {
  const [program, ...firstArguments] = executable()
  const output = []
  const child = spawn(program, [...firstArguments, "serve", "--data", data, "--listen", url], { stdio: ["ignore", "pipe", "pipe"] })
  child.stdout.on("data", text => output.push(text))
  child.stderr.on("data", text => output.push(text))
  const ended = new Promise(done => child.once("exit", (code, signal) => done({ code, signal })))
  const log = () => Buffer.concat(output).toString()
  return {
    url,
    /** Waits until it serves documents and, over TLS, until it has also logged how to claim it. */
    ready: ca => ready(url, ca, ended, log),
    async stop() {
      const metrics = await fetch(`${url}/metrics`).then(answer => answer.ok ? answer.text() : "", () => "")
      const blocked = metrics === "" ? "0" : metrics.match(/^rookery_socket_thread_disk_operations_total (.*)$/m)?.[1]
      child.kill("SIGTERM")
      const { code, signal } = await ended
      if (code !== 0) {
        throw new Error(`The node ended with ${signal ?? code}:\n${log()}`)
      }

      if (blocked !== "0") {
        throw new Error(`${blocked} disk operations ran on threads of sockets`)
      }
    },
  }
}

/** Returns the program and its first arguments. */
export function executable() {
  if (process.env.ROOKERY_BIN) {
    return [process.env.ROOKERY_BIN]
  }

  const published = join(root, "artifacts/rookery")
  const built = ["Release", "Debug"].map(kind => join(root, `server/src/Rookery/bin/${kind}/net10.0/rookery.dll`)).find(existsSync)
  if (existsSync(published)) {
    return [published]
  }

  if (built) {
    return ["dotnet", built]
  }

  throw new Error(`Neither ${published} nor a built rookery.dll is there: run "make build" first, or set ROOKERY_URL.`)
}

async function ready(url, ca, ended, log) {
  let end = null
  ended.then(result => { end = result })
  for (const deadline = Date.now() + 30_000; Date.now() < deadline;) {
    if (end) {
      throw new Error(`The node ended while starting (${end.signal ?? end.code}):\n${log()}`)
    }

    if (await statusOf(`${url}/readyz`, ca).catch(() => null) === 200 && (!ca || log().includes("no owner yet"))) {
      return
    }

    await new Promise(done => setTimeout(done, 50))
  }

  throw new Error(`The node was not ready within 30 seconds:\n${log()}`)
}

function statusOf(url, ca) {
  return new Promise((done, failed) => {
    const { get } = ca ? https : http
    get(url, { ca, agent: false }, answer => {
      answer.resume()
      done(answer.statusCode)
    }).on("error", failed)
  })
}
