// RavenDB's official clients against a node with TLS, which authenticates them by their certificates.
import { after, before, describe } from "node:test"
import { clients } from "./clients.mjs"
import { startSecureNode } from "./secure-node.mjs"
import { secure } from "./suites/secure.mjs"

let node
before(async () => { node = await startSecureNode() })
after(async () => { await node?.stop() })

for (const client of clients) {
  describe(`ravendb ${client.version}`, () => secure(client, () => node))
}
