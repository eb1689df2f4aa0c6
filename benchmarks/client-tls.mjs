// RavenDB's Node client, as pinned for the tests, loading one document over mutual TLS: client-tls.mjs URL CERTIFICATE.pfx CA.pem VERSION keep|close SECONDS
// Prints one line: requests per second, number of connections, and how many of them resumed a session.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { clients, openStore, User } from "../server/tests/client/clients.mjs"

const [url, certificate, authority, version, connections, seconds] = process.argv.slice(2)
const tls = createRequire(import.meta.url)("node:tls")
const connect = tls.connect
let opened = 0
let resumed = 0
tls.connect = (...parameters) => {
  const socket = connect(...parameters)
  opened++
  socket.once("secureConnect", () => { resumed += socket.isSessionReused() ? 1 : 0 })
  return socket
}

const client = clients.find(candidate => candidate.version === version)
if (connections === "close") {
  client.RequestExecutor.requestPostProcessor = request => { request.headers.Connection = "close" }
}

const store = openStore(client, url, "bench", { type: "pfx", certificate: readFileSync(certificate), password: "", ca: readFileSync(authority, "utf8") })
const session = store.openSession()
await session.store(new User({ name: "ann" }), "users/1")
await session.saveChanges()

opened = resumed = 0
let requests = 0
const begun = performance.now()
const end = begun + seconds * 1000
await Promise.all(Array.from({ length: 8 }, async () => {
  while (performance.now() < end) {
    await store.openSession({ noCaching: true }).load("users/1", User)
    requests++
  }
}))
console.log(((requests * 1000) / (performance.now() - begun)).toFixed(1), opened, resumed)
process.exit(0)
