// Every suite runs with each of RavenDB's official clients against one running node.
import { after, before, describe } from "node:test"
import { clients } from "./clients.mjs"
import { startNode } from "./running-node.mjs"
import { attachments } from "./suites/attachments.mjs"
import { bulkInsert } from "./suites/bulk-insert.mjs"
import { byQuery } from "./suites/by-query.mjs"
import { changes } from "./suites/changes.mjs"
import { compareExchange } from "./suites/compare-exchange.mjs"
import { configurations } from "./suites/configurations.mjs"
import { counters } from "./suites/counters.mjs"
import { databases } from "./suites/databases.mjs"
import { fullText } from "./suites/full-text.mjs"
import { ids } from "./suites/ids.mjs"
import { indexSources } from "./suites/index-sources.mjs"
import { indexes } from "./suites/indexes.mjs"
import { patches } from "./suites/patches.mjs"
import { projections } from "./suites/projections.mjs"
import { queries } from "./suites/queries.mjs"
import { queryBuilder } from "./suites/query-builder.mjs"
import { revisions } from "./suites/revisions.mjs"
import { sessions } from "./suites/sessions.mjs"
import { staticIndexes } from "./suites/static-indexes.mjs"
import { streams } from "./suites/streams.mjs"
import { subscriptions } from "./suites/subscriptions.mjs"
import { unsupported } from "./suites/unsupported.mjs"

let node
before(async () => { node = await startNode() })
after(async () => { await node?.stop() })

for (const client of clients) {
  describe(`ravendb ${client.version}`, () => {
    for (const suite of [sessions, attachments, compareExchange, configurations, counters, revisions, ids, patches, queries, queryBuilder, fullText, indexes, indexSources, staticIndexes, projections, byQuery, streams, bulkInsert, changes, subscriptions, databases, unsupported]) {
      suite(client, () => node.url)
    }
  })
}
