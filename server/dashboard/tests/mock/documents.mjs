// A few documents in memory, and the routes of a database that the dashboard's pages need.
const history = "mockhistory"
let etag = 0
const databases = new Map()

function put(database, id, text) {
  const document = JSON.parse(text)
  const old = database.get(id.toLowerCase())
  document["@metadata"] = {
    ...document["@metadata"],
    "@collection": document["@metadata"]?.["@collection"] ?? old?.["@metadata"]["@collection"] ?? "@empty",
    "@id": old?.["@metadata"]["@id"] ?? id,
    "@change-vector": `A:${++etag}-${history}`,
    "@last-modified": new Date().toISOString().replace("Z", "0000Z"),
  }
  database.set(id.toLowerCase(), document)
  return document["@metadata"]
}

for (const [name, collection, make] of [
  [
    "shop",
    "Users",
    (n) => ({ name: ["Ann", "Bea", "Cid", "Dan"][n % 4], age: 18 + ((n * 7) % 60), address: { city: ["Elm", "Oak"][n % 2] } }),
  ],
  ["shop", "Orders", (n) => ({ company: `companies/${n % 9}`, total: (n * 37) % 900, lines: [{ product: "nest", count: n % 5 }] })],
  ["birds", "Rooks", (n) => ({ name: `Rook ${n}`, nest: ["elm", "ash"][n % 2] })],
]) {
  if (!databases.has(name)) databases.set(name, new Map())
  for (let n = 1; n <= 60; n++) {
    put(databases.get(name), `${collection.toLowerCase()}/${n}`, JSON.stringify({ ...make(n), "@metadata": { "@collection": collection } }))
  }
}

// One document has everything that can belong to one.
const rich = databases.get("shop").get("orders/7")
Object.assign(rich["@metadata"], {
  "@flags": "HasAttachments, HasCounters, HasRevisions",
  "@attachments": [
    { Name: "signed order.pdf", Hash: "bW9jaw==", ContentType: "application/pdf", Size: 184_320 },
    { Name: "photo of the nest.jpeg", Hash: "bW9jaw==", ContentType: "image/jpeg", Size: 2_411_724 },
  ],
  "@counters": ["views"],
})
const revisions = [0, 1, 2].map((age) => ({
  ...rich,
  total: rich.total - age * 10,
  "@metadata": {
    "@collection": "Orders",
    "@flags": "HasRevisions, Revision",
    "@id": "orders/7",
    "@change-vector": age === 0 ? rich["@metadata"]["@change-vector"] : `A:${age}-${history}`,
    "@last-modified": new Date(Date.now() - age * 5_400_000).toISOString().replace("Z", "0000Z"),
  },
}))
const subscriptions = [
  {
    SubscriptionId: 4,
    SubscriptionName: "large orders",
    Query: "from Orders where total > 500",
    ChangeVectorForNextBatchStartingPoint: `A:90-${history}`,
    LastBatchAckTime: new Date(Date.now() - 40_000).toISOString(),
    LastClientConnectionTime: new Date(Date.now() - 3_600_000).toISOString(),
    Disabled: false,
    MentorNode: null,
    PinToMentorNode: false,
    NodeTag: "A",
  },
]

const indexes = [
  {
    Name: "Orders/ByCompany",
    Maps: ["from order in docs.Orders select new { order.company, order.total }"],
    Reduce: null,
    Fields: {},
    Configuration: {},
    Type: "Map",
    LockMode: "Unlock",
    Priority: "Normal",
    State: "Normal",
  },
]

/** Answers a request if it is for one of these routes. Returns true if it answered. */
export async function answerDatabase({ request, url, read, send, refuse }) {
  const { pathname: path, searchParams: query } = url
  if (path === "/databases") {
    send(200, {
      Databases: [...databases].map(([Name, all]) => ({
        Name,
        DocumentsCount: all.size,
        IndexesCount: Name === "shop" ? 1 : 0,
        Disabled: false,
      })),
    })
    return true
  }
  if (path === "/admin/databases") {
    const body = await read()
    if (request.method === "PUT") {
      const { DatabaseName } = JSON.parse(body)
      if (databases.has(DatabaseName)) return refuse(409, `There is a database '${DatabaseName}' already.`)
      databases.set(DatabaseName, new Map())
      send(201, { Name: DatabaseName, RaftCommandIndex: ++etag })
    } else if (request.method === "DELETE") {
      for (const name of JSON.parse(body).DatabaseNames) databases.delete(name)
      send(200, { RaftCommandIndex: ++etag })
    } else
      send(200, {
        DatabaseName: query.get("name"),
        Revisions: {
          Default: null,
          Collections: {
            Orders: {
              Disabled: false,
              MinimumRevisionsToKeep: 50,
              MinimumRevisionAgeToKeep: "14.00:00:00",
              PurgeOnDelete: false,
              MaximumRevisionsToDeleteUponDocumentUpdate: null,
            },
          },
        },
        Refresh: { Disabled: false, RefreshFrequencyInSec: 30, MaxItemsToProcess: 1000 },
      })
    return true
  }

  const match = /^\/databases\/([^/]+)\/(.*)$/.exec(path)
  if (!match) return false
  const database = databases.get(decodeURIComponent(match[1]))
  if (!database) return refuse(503, `There is no database '${match[1]}'.`)
  const all = [...database.values()]
  const collections = {}
  for (const document of all)
    collections[document["@metadata"]["@collection"]] = (collections[document["@metadata"]["@collection"]] ?? 0) + 1
  switch (`${request.method} ${match[2]}`) {
    case "GET stats":
      send(200, {
        CountOfDocuments: all.length,
        CountOfIndexes: indexes.length,
        CountOfTombstones: 0,
        LastDocEtag: etag,
        StaleIndexes: [],
        Indexes: indexes.map(({ Name }) => ({ Name, IsStale: false })),
        DatabaseChangeVector: `A:${etag}-${history}`,
        SizeOnDisk: { SizeInBytes: all.length * 400 },
      })
      break
    case "GET collections/stats/detailed":
      send(200, {
        CountOfDocuments: all.length,
        CountOfConflicts: 0,
        Collections: Object.fromEntries(
          Object.entries(collections).map(([Name, CountOfDocuments]) => [
            Name,
            { Name, CountOfDocuments, Size: { SizeInBytes: CountOfDocuments * 210 } },
          ]),
        ),
      })
      break
    case "GET collections/stats":
      send(200, { CountOfDocuments: all.length, CountOfConflicts: 0, Collections: collections })
      break
    case "GET docs": {
      const ids = query.getAll("id")
      if (ids.length > 0) {
        const found = ids.map((id) => database.get(id.toLowerCase()) ?? null)
        if (ids.length === 1 && !found[0]) return send(404)
        send(200, { Results: found, Includes: {} }, { ETag: `"${found[0]?.["@metadata"]["@change-vector"]}"` })
        break
      }
      const from = query.get("startAfter")?.toLowerCase() ?? ""
      const prefix = query.get("startsWith")?.toLowerCase() ?? ""
      const found = [...database.keys()].filter((id) => id.startsWith(prefix) && id > from).sort()
      const start = Number(query.get("start") ?? 0)
      send(200, { Results: found.slice(start, start + Number(query.get("pageSize") ?? 25)).map((id) => database.get(id)) })
      break
    }
    case "PUT docs": {
      const id = query.get("id")
      const expected = request.headers["if-match"]?.replaceAll('"', "")
      const actual = database.get(id.toLowerCase())?.["@metadata"]["@change-vector"] ?? ""
      if (expected !== undefined && expected !== actual)
        return refuse(409, `Document '${id}' has change vector '${actual}', not '${expected}'. Nothing was stored.`)
      let metadata
      try {
        metadata = put(database, id, await read())
      } catch (wrong) {
        return refuse(400, `Not JSON: ${wrong.message}`)
      }
      send(201, { Id: metadata["@id"], ChangeVector: metadata["@change-vector"] })
      break
    }
    case "DELETE docs":
      database.delete(query.get("id").toLowerCase())
      send(204)
      break
    case "POST queries": {
      const { Query } = JSON.parse(await read())
      const collection = /from\s+(?:index\s+)?'?([\w@/]+)'?/i.exec(Query)?.[1]
      if (!collection) return refuse(400, `Line 1, column 1: 'from' is expected. The query: ${Query}`)
      if (query.get("debug") === "explain") {
        send(200, {
          IndexName: `collection/${collection}`,
          Results: [{ Index: "Orders/ByCompany", Reason: "It has not the field 'name'." }],
          PostingsRead: 0,
        })
        break
      }
      const found = all.filter((document) => document["@metadata"]["@collection"].toLowerCase() === collection.toLowerCase())
      send(200, {
        Results: found.slice(0, 100),
        Includes: {},
        TotalResults: found.length,
        IndexName: `collection/${collection}`,
        IsStale: false,
        DurationInMs: 3,
        Timings: { DurationInMs: 3, Timings: { Parse: { DurationInMs: 1 }, Find: { DurationInMs: 2 } } },
      })
      break
    }
    case "GET counters":
      send(200, { Counters: [{ DocumentId: "orders/7", CounterName: "views", TotalValue: 1207 }] })
      break
    case "GET revisions": {
      const wanted = query.getAll("changeVector")
      const found = wanted.length > 0 ? wanted.map((one) => revisions.find((it) => it["@metadata"]["@change-vector"] === one)) : revisions
      send(200, { Results: found, TotalResults: revisions.length })
      break
    }
    case "GET revisions/bin":
      send(200, { Results: [] })
      break
    case "GET subscriptions":
      send(200, { Results: subscriptions })
      break
    case "GET indexes":
      send(200, { Results: query.has("namesOnly") ? indexes.map(({ Name }) => Name) : indexes })
      break
    case "GET indexes/stats":
      send(200, {
        Results: indexes.map(({ Name, Type, LockMode, Priority }) => ({
          Name,
          Type,
          LockMode,
          Priority,
          IsStale: true,
          State: "Normal",
          Status: "Running",
          EntriesCount: 60,
          ErrorsCount: 0,
          LastIndexingTime: new Date().toISOString(),
          Trouble: null,
          Collections: { Orders: {} },
        })),
      })
      break
    case "GET indexes/progress":
      send(200, {
        Results: indexes.map(({ Name }) => ({
          Name,
          IsStale: true,
          Collections: { Orders: { NumberOfItemsToProcess: 4200, TotalNumberOfItems: 60_000 } },
          ProcessedPerSecond: 120,
          SecondsLeft: 35,
        })),
      })
      break
    case "GET indexes/errors":
      send(200, { Results: indexes.map(({ Name }) => ({ Name, Errors: [] })) })
      break
    default:
      return refuse(501, `The mock node has no ${request.method} ${path}.`)
  }
  return true
}
