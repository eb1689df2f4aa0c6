// A node with TLS and the certificates of two clients, created by the commands that an owner would use.
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { freePort } from "../process/node-process.mjs"
import { executable, launch } from "./running-node.mjs"

/** Starts the node. `as(name)` returns the authentication options of a client: `app` has every right, `reader` may only read the database `reader`. */
export async function startSecureNode() {
  const data = mkdtempSync(join(tmpdir(), "rookery-secure-"))
  const clients = mkdtempSync(join(tmpdir(), "rookery-clients-"))
  const [program, ...firstArguments] = executable()
  const rookery = (...words) => execFileSync(program, [...firstArguments, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })

  rookery("cluster", "init", "--data", data, "--name", "home", "--node-name", "pi-1")
  const url = `https://127.0.0.1:${await freePort()}`
  const node = launch(data, url)
  const authority = readFileSync(join(data, "cluster/authority.pem"), "utf8")
  await node.ready(authority)
  const token = rookery("claim", "--data", data).trim()
  rookery("cert", "create", "app", "--access", "admin", "--data", data, "--to", clients)
  rookery("cert", "create", "reader", "--access", "reader:ro", "--data", data, "--to", clients)
  const file = name => readFileSync(join(clients, name))
  const ca = file("app-ca.pem").toString()
  return {
    url,
    token,
    ca,
    /** Runs a command as on another machine: with the address and the admin token. */
    remotely(...words) {
      writeFileSync(join(clients, "token"), token, { mode: 0o600 })
      return rookery(...words, "--url", url, "--token-file", join(clients, "token"), "--ca", join(clients, "app-ca.pem"))
    },
    scratch: join(clients, "scratch"),
    as: name => ({
      pfx: { type: "pfx", certificate: file(`${name}.pfx`), password: "", ca },
      pem: { type: "pem", certificate: file(`${name}.pem`).toString(), ca },
    }),
    async stop() {
      await node.stop()
      rmSync(data, { recursive: true, force: true })
      rmSync(clients, { recursive: true, force: true })
    },
  }
}
