// RavenDB's official clients as judges: every suite runs with each of them against one running node.
import { after, before, describe } from "node:test"
import { clients } from "./clients.mjs"
import { startNode } from "./running-node.mjs"
import { bulkInsert } from "./suites/bulk-insert.mjs"
import { changes } from "./suites/changes.mjs"
import { databases } from "./suites/databases.mjs"
import { ids } from "./suites/ids.mjs"
import { patches } from "./suites/patches.mjs"
import { queries } from "./suites/queries.mjs"
import { sessions } from "./suites/sessions.mjs"
import { streams } from "./suites/streams.mjs"
import { unsupported } from "./suites/unsupported.mjs"

let node
before(async () => { node = await startNode() })
after(async () => { await node?.stop() })

for (const client of clients) {
  describe(`ravendb ${client.version}`, () => {
    for (const suite of [sessions, ids, patches, queries, streams, bulkInsert, changes, databases, unsupported]) {
      suite(client, () => node.url)
    }
  })
}
