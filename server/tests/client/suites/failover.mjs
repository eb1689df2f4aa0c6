import assert from "node:assert/strict"
import { User, openStore } from "../clients.mjs"

/** Scenarios of a client while nodes of a cluster are killed and started again. Each takes the test's context, the client, the cluster and the name of its database. */
export const failover = {
  "a session continues after the leader is killed": leaderDiesInSession,
  "cluster-wide transactions continue after the leader is killed, and none is half stored": transactionsAcrossLeaders,
  "increments of a counter continue after the leader is killed, and none is lost": countersAcrossLeaders,
  "documents expire, are refreshed and archived under the next leader": schedulesAcrossLeaders,
  "revisions are kept of each write after the leader is killed, the same at every member": revisionsAcrossLeaders,
  "a subscription continues after the leader is killed, and misses no document": subscriptionAcrossLeaders,
  "copies of attachments continue after the leader is killed, with their bytes at every member": copiesAcrossLeaders,
  "patches that load and put continue after the leader is killed, the same at every member": patchesAcrossLeaders,
  "an import of a dump continues while the leader changes, the same at every member": dumpAcrossLeaders,
  "a node that is killed twice is used again each time": nodeFailsTwice,
  "a bulk insert continues while the leader changes": bulkInsertAcrossLeaders,
  "a bulk insert whose node is killed can be repeated": bulkInsertRepeated,
}

// The client sends its user's requests again to the next node, but not its own request for the topology, which it sends
// together with one of them. If the node is killed meanwhile, the user's call fails, and its outcome is unknown.
const isConnectionLost = error => ["ECONNRESET", "ECONNREFUSED", "EPIPE", "UND_ERR_SOCKET"].includes(error.cause?.code)

const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds))

async function leaderDiesInSession(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const session = store.openSession()
    for (let i = 0; i < 20; i++) {
      await session.store(new User({ name: `before ${i}` }), `session/${i}`)
    }

    await session.saveChanges()
    const changed = await session.load("session/3", User)
    changed.name = "changed across"
    await session.store(new User({ name: "behind" }), "session/20")

    const dead = await cluster.leader()
    await cluster.nodes[dead].kill()
    const killedAt = performance.now()
    await session.saveChanges()
    t.diagnostic(`saved ${Math.round(performance.now() - killedAt)} ms after the leader was killed`)

    for (let i = 21; i < 40; i++) {
      await session.store(new User({ name: `after ${i}` }), `session/${i}`)
      await session.saveChanges()
    }

    await cluster.start(dead)
    assert.equal((await cluster.nodes[dead].request("GET", "/databases")).status, 200, "a node answers its clients as soon as it serves")
    const expected = i => i === 3 ? "changed across" : i < 20 ? `before ${i}` : i === 20 ? "behind" : `after ${i}`
    const reading = store.openSession()
    const users = await reading.load(Array.from({ length: 40 }, (_, i) => `session/${i}`), User)
    assert.deepEqual(Object.values(users).map(user => user?.name), Array.from({ length: 40 }, (_, i) => expected(i)))
  })
}

async function subscriptionAcrossLeaders(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    await store.subscriptions.create({ name: "users", query: "from Users" })
    const worker = store.subscriptions.getSubscriptionWorker({ subscriptionName: "users", maxDocsPerBatch: 7, timeToWaitBeforeConnectionRetry: 100 })
    const got = []
    let failed = null
    worker.on("error", error => { failed = error })
    worker.on("batch", (batch, processed) => {
      got.push(...batch.items.map(item => item.id))
      setTimeout(processed, 5)
    })
    const stored = []
    const store1 = async () => {
      const session = store.openSession()
      const id = `subscribed/${stored.length}`
      await session.store(new User({ name: id }), id)
      await session.saveChanges().catch(error => { if (!isConnectionLost(error)) throw error })
      stored.push(id)
    }

    const missing = () => stored.filter(id => !got.includes(id))
    const caughtUp = async what => {
      for (const deadline = Date.now() + 60_000; missing().length > 0; await pause(20)) {
        assert.equal(failed, null)
        assert.ok(Date.now() < deadline, `${what}: ${missing()} did not come`)
      }
    }

    for (let i = 0; i < 20; i++) await store1()
    await caughtUp("before")
    const dead = await cluster.leader()
    const before = (await store.subscriptions.getSubscriptionState("users")).nodeTag
    const killing = cluster.nodes[dead].kill()
    for (let i = 0; i < 20; i++) await store1()
    await killing
    const killedAt = performance.now()
    await caughtUp("after the leader was killed")
    t.diagnostic(`all documents came ${Math.round(performance.now() - killedAt)} ms after the leader was killed`)
    const state = await store.subscriptions.getSubscriptionState("users")
    assert.notEqual(state.nodeTag, before)
    await cluster.start(dead)

    // A second worker at another member is told that the subscription is in use, by the one that serves it.
    const second = store.subscriptions.getSubscriptionWorker({ subscriptionName: "users", timeToWaitBeforeConnectionRetry: 100 })
    const refused = await new Promise(done => second.on("error", done).on("batch", () => {}))
    assert.equal(refused.name, "SubscriptionInUseException")
    worker.dispose()

    // The member that a subscription names as its mentor serves it, although it is a follower, as soon as it is up.
    const { NodeTag: mentorNode } = await cluster.topology(dead)
    await store.subscriptions.create({ name: "at mentor", query: "from Users", mentorNode })
    for (const deadline = Date.now() + 60_000; (await store.subscriptions.getSubscriptionState("at mentor")).nodeTag !== mentorNode; await pause(50)) {
      assert.ok(Date.now() < deadline, "the mentor does not serve")
    }

    const atMentor = store.subscriptions.getSubscriptionWorker({ subscriptionName: "at mentor", timeToWaitBeforeConnectionRetry: 100 })
    const first = await new Promise((done, failed) => atMentor.on("error", failed).on("batch", (batch, processed) => {
      done(batch.items[0].id)
      processed()
    }))
    assert.equal(first, stored[0])
    const { text } = await cluster.nodes[dead].request("GET", "/metrics")
    assert.match(text, /^rookery_subscription_workers 1$/m)
    atMentor.dispose()
  })
}

async function transactionsAcrossLeaders(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const clusterWide = () => store.openSession({ transactionMode: "ClusterWide" })
    const creating = clusterWide()
    creating.advanced.clusterTransaction.createCompareExchangeValue("counter", { count: 0 })
    await creating.saveChanges()

    // Each step reads the value, increments it, and stores a document with the new number in one transaction. If the
    // answer to a step is lost, the client sends the step again with another request id. Then it conflicts with itself,
    // and the worker makes one step more, as after a call that failed with its connection.
    const step = async worker => {
      const session = clusterWide()
      const counter = await session.advanced.clusterTransaction.getCompareExchangeValue("counter")
      const count = counter.value.count + 1
      counter.value = { count } // A new object is assigned, because the client does not notice changes inside the old one.
      await session.store(new User({ name: `${worker}` }), `steps/${count}`)
      await session.saveChanges()
    }

    const workers = [0, 1, 2].map(async worker => {
      let conflicts = 0
      for (let done = 0; done < 20;) {
        try {
          await step(worker)
          done++
        } catch (error) {
          if (error.name !== "ClusterTransactionConcurrencyException" && !isConnectionLost(error)) {
            throw error
          }

          conflicts++
        }
      }

      return conflicts
    })
    await pause(200)
    const dead = await cluster.leader()
    await cluster.nodes[dead].kill()
    const conflicts = (await Promise.all(workers)).reduce((sum, count) => sum + count)
    await cluster.start(dead)
    t.diagnostic(`${conflicts} conflicts`)

    const reading = clusterWide()
    const { count } = (await reading.advanced.clusterTransaction.getCompareExchangeValue("counter")).value
    assert.ok(count >= 60 && count <= 60 + conflicts, `${count} steps were made, and 60 acknowledged`)
    const steps = await store.openSession().load(Array.from({ length: count + 3 }, (_, i) => `steps/${i + 1}`), User)
    assert.deepEqual(Object.values(steps).map(Boolean), Array.from({ length: count + 3 }, (_, i) => i < count), "each number has its document, and there is no other")

    // Every member returns the same data.
    for (const url of cluster.urls) {
      const alone = new client.DocumentStore(url, database, cluster.authentication)
      alone.conventions.disableTopologyUpdates = true
      alone.initialize()
      const value = await alone.operations.send(new client.GetCompareExchangeValueOperation("counter"))
      assert.equal(value.value.count, count, url)
      alone.dispose()
    }
  })
}

/** The configurations and the work that is due survive the leader, and every member has the same documents afterwards. */
async function schedulesAcrossLeaders(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const due = new Date(Date.now() + 6_000).toISOString()
    const session = store.openSession()
    for (let i = 0; i < 30; i++) {
      const user = new User({ name: `${i}` })
      await session.store(user, `due/${i}`)
      session.advanced.getMetadataFor(user)[["@expires", "@refresh", "@archive-at"][i % 3]] = due
    }

    await session.saveChanges()
    await store.maintenance.send(new client.ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 1 }))
    await store.maintenance.send(new client.ConfigureRefreshOperation({ disabled: false, refreshFrequencyInSec: 1 }))
    const leader = cluster.nodes[await cluster.leader()]
    assert.equal((await leader.request("POST", `/databases/${database}/admin/data-archival/config`, '{"Disabled":false,"ArchiveFrequencyInSec":1}')).status, 200)
    const dead = await cluster.leader()
    await cluster.nodes[dead].kill()
    await cluster.start(dead)

    const ids = Array.from({ length: 30 }, (_, i) => `due/${i}`)
    for (const url of cluster.urls) {
      const alone = new client.DocumentStore(url, database, cluster.authentication)
      alone.conventions.disableTopologyUpdates = true
      alone.initialize()
      const states = async () => {
        const reading = alone.openSession()
        const found = await reading.load(ids, User)
        return ids.map(id => {
          const metadata = found[id] && reading.advanced.getMetadataFor(found[id])
          return !metadata ? "gone" : metadata["@archived"] ? "archived" : metadata["@refresh"] || metadata["@archive-at"] || metadata["@expires"] ? "due" : "refreshed"
        })
      }
      let now
      for (const deadline = Date.now() + 40_000; Date.now() < deadline && (now = await states()).includes("due");) {
        await pause(200)
      }

      assert.deepEqual(now, ids.map((_, i) => ["gone", "refreshed", "archived"][i % 3]), url)
      alone.dispose()
    }
  })
}

/**
 * No acknowledged increment is lost. When a connection breaks, the client repeats the request at the next node. So the
 * increment that a worker has in flight when the leader is killed may count twice. A failed increment may count or not.
 */
async function countersAcrossLeaders(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const creating = store.openSession()
    await creating.store(new User({ name: "ann" }), "counted/1")
    await creating.saveChanges()
    let acknowledged = 0
    let unknown = 0
    const workers = [0, 1, 2].map(async () => {
      for (let i = 0; i < 60; i++) {
        const session = store.openSession()
        session.countersFor("counted/1").increment("likes", 1)
        await session.saveChanges().then(() => acknowledged++, () => unknown++)
      }
    })
    await pause(200)
    const dead = await cluster.leader()
    await cluster.nodes[dead].kill()
    await Promise.all(workers)
    await cluster.start(dead)
    t.diagnostic(`${acknowledged} increments were acknowledged, ${unknown} failed`)
    const values = []
    for (const url of cluster.urls) {
      const alone = new client.DocumentStore(url, database, cluster.authentication)
      alone.conventions.disableTopologyUpdates = true
      alone.initialize()
      values.push(await alone.openSession().countersFor("counted/1").get("likes"))
      alone.dispose()
    }

    assert.deepEqual(values, values.map(() => values[0]), "every member has the same value")
    const most = acknowledged + unknown + workers.length
    assert.ok(values[0] >= acknowledged && values[0] <= most, `${values[0]}, of ${acknowledged} to ${most}`)
  })
}

/**
 * Each acknowledged write has a revision, in its order, and every member has the same revisions. A write that a client
 * repeats after its connection broke may have two.
 */
async function revisionsAcrossLeaders(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const configuration = new client.RevisionsConfiguration()
    configuration.defaultConfig = Object.assign(new client.RevisionsCollectionConfiguration(), { disabled: false })
    await store.maintenance.send(new client.ConfigureRevisionsOperation(configuration))
    const acknowledged = [[], [], []]
    const workers = acknowledged.map(async (names, worker) => {
      for (let i = 0; i < 60; i++) {
        const session = store.openSession()
        await session.store(new User({ name: `${i}`, padding: "x".repeat(500) }), `revised/${worker}`)
        await session.saveChanges().then(() => names.push(`${i}`), () => {})
      }
    })
    await pause(200)
    const dead = await cluster.leader()
    await cluster.nodes[dead].kill()
    await Promise.all(workers)
    await cluster.start(dead)
    t.diagnostic(`${acknowledged.map(names => names.length)} writes were acknowledged`)
    for (const [worker, names] of acknowledged.entries()) {
      const read = async url => {
        const alone = new client.DocumentStore(url, database, cluster.authentication)
        alone.conventions.disableTopologyUpdates = true
        alone.initialize()
        const revisions = await alone.openSession().advanced.revisions.getFor(`revised/${worker}`, { pageSize: 1000, documentType: User })
        alone.dispose()
        return revisions.map(revision => revision.name).reverse()
      }

      const first = await read(cluster.urls[0])
      let at = -1
      for (const name of names) {
        at = first.indexOf(name, at + 1)
        assert.ok(at >= 0, `the write of ${name} has a revision after the writes before it`)
      }

      for (const url of cluster.urls) {
        assert.deepEqual(await read(url), first, url)
      }
    }
  })
}

// Sends a change until it is acknowledged. A change whose answer was lost may be there already: `isThere` finds out.
async function untilDone(change, isThere) {
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    try {
      await change()
      return
    } catch (error) {
      assert.ok(Date.now() < deadline, error.message)
      if (await isThere().catch(() => false)) {
        return
      }
    }
  }
}

async function copiesAcrossLeaders(_, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const bytes = Buffer.alloc(200_000, "7")
    const first = store.openSession()
    for (let i = 0; i < 20; i++) {
      await first.store(new User({ name: `${i}` }), `users/${i}`)
    }

    first.advanced.attachments.store("users/0", "file", bytes, "image/png")
    await first.saveChanges()
    let dead
    for (let i = 1; i < 20; i++) {
      if (i === 6) {
        dead = await cluster.leader()
        await cluster.nodes[dead].kill()
      }

      await untilDone(() => {
        const session = store.openSession()
        session.advanced.attachments.copy("users/0", "file", `users/${i}`, "copy")
        return session.saveChanges()
      }, () => store.openSession().advanced.attachments.exists(`users/${i}`, "copy"))
    }

    await cluster.start(dead)
    for (const node of cluster.nodes) {
      for (let i = 1; i < 20; i++) {
        const { status, text } = await node.request("GET", `/databases/${database}/attachments?id=users/${i}&name=copy`)
        assert.equal(status, 200)
        assert.equal(text, bytes.toString())
      }
    }
  })
}

async function patchesAcrossLeaders(_, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const first = store.openSession()
    await first.store(new User({ name: "ann" }), "users/source")
    await first.store(new User({ name: "eve", steps: 0 }), "users/target")
    await first.saveChanges()
    const script = 'this.steps++; this.name = load("users/source").name; put("steps/" + args.step, { step: args.step, "@metadata": { "@collection": "Steps" } })'
    let dead
    for (let step = 0; step < 20; step++) {
      if (step === 6) {
        dead = await cluster.leader()
        await cluster.nodes[dead].kill()
      }

      const patch = Object.assign(new client.PatchRequest(), { script, values: { step } })
      await untilDone(
        () => store.operations.send(new client.PatchOperation("users/target", null, patch)),
        () => store.openSession().advanced.exists(`steps/${step}`),
      )
    }

    await cluster.start(dead)
    const ids = ["users/target", ...Array.from({ length: 20 }, (_, step) => `steps/${step}`)]
    const path = `/databases/${database}/docs?${ids.map(id => `&id=${id}`).join("")}`
    const { text } = await cluster.nodes[0].request("GET", path)
    const [target, ...steps] = JSON.parse(text).Results
    assert.equal(target.name, "ann")
    // A patch whose answer was lost may have been sent twice by the client.
    assert.ok(target.steps >= 20 && target.steps <= 22, `${target.steps} steps`)
    assert.deepEqual(steps.map(({ step }) => step), Array.from({ length: 20 }, (_, step) => step))
    for (const node of cluster.nodes) {
      assert.equal((await node.request("GET", path)).text, text)
    }
  })
}

async function dumpAcrossLeaders(t, _, cluster, database) {
  const documents = 20_000
  const dump = JSON.stringify({
    Docs: Array.from({ length: documents }, (_, n) => ({ n, text: "x".repeat(300), "@metadata": { "@id": `dumped/${n}`, "@last-modified": "2026-01-01T00:00:00.0000000Z" } })),
    RevisionDocuments: Array.from({ length: 100 }, (_, n) => ({ n: -1, "@metadata": { "@id": `dumped/${n}`, "@flags": "Revision", "@last-modified": "2025-01-01T00:00:00.0000000Z" } })),
  })
  const dead = await cluster.leader()
  const other = cluster.nodes[(dead + 1) % cluster.nodes.length]
  const count = async () => JSON.parse((await other.request("GET", `/databases/${database}/stats?consistency=local`)).text).CountOfDocuments
  const others = await count()
  const stored = async () => await count() - others
  const importing = other.request("POST", `/databases/${database}/smuggler/import`, dump)
  for (const deadline = Date.now() + 30_000; await stored() === 0; await pause(5)) {
    assert.ok(Date.now() < deadline, "nothing is stored")
  }

  const before = await stored()
  await cluster.nodes[dead].kill()
  t.diagnostic(`the leader was killed after ${before} documents`)
  const { status, text } = await importing
  assert.equal(status, 200, text)
  assert.equal(JSON.parse(text).Documents.ReadCount, documents)
  await cluster.start(dead)
  const paths = [`docs?id=dumped/0&id=dumped/99&id=dumped/${documents - 1}`, "revisions?id=dumped/0", "revisions?id=dumped/99"]
  for (const path of paths) {
    const first = (await cluster.nodes[0].request("GET", `/databases/${database}/${path}`)).text
    assert.match(first, path.startsWith("docs") ? /2026-01-01/ : /"n":-1.*2025-01-01.*"TotalResults":1/)
    for (const node of cluster.nodes) {
      assert.equal((await node.request("GET", `/databases/${database}/${path}`)).text, first)
    }
  }

  assert.equal(await stored(), documents)
}

async function nodeFailsTwice(t, client, cluster, database) {
  // The number of reads that each node has answered, by URL.
  const served = new Map(cluster.urls.map(url => [url, 0]))
  await withStore(client, cluster, database, async store => {
    store.getRequestExecutor(database).on("succeedRequest", ({ url }) => {
      const node = cluster.urls.find(address => url.startsWith(`${address}/databases/`))
      served.set(node, served.get(node) + (url.includes("/docs?") ? 1 : 0))
    })
    const work = startWork(store)
    const failing = await cluster.leader()
    const awaitUse = async () => {
      const before = served.get(cluster.urls[failing])
      const startedAt = performance.now()
      while (served.get(cluster.urls[failing]) === before) {
        assert.ok(performance.now() - startedAt < 60_000, `the client reads from ${cluster.urls[failing]} again within a minute`)
        work.check()
        await pause(20)
      }

      t.diagnostic(`the client used the node again after ${Math.round(performance.now() - startedAt)} ms`)
    }

    await awaitUse()
    for (let round = 0; round < 2; round++) {
      await cluster.nodes[failing].kill()
      await work.awaitMore(50)
      await cluster.start(failing)
      await awaitUse()
    }

    const written = await work.stop()
    const reading = store.openSession()
    for (const [id, name] of written) {
      assert.equal((await reading.load(id, User))?.name, name)
    }
  }, { readBalanceBehavior: "RoundRobin" })
}

/** Writes and reads without a pause, in a new session each time, so that reads are distributed over all nodes. */
function startWork(store) {
  const written = new Map()
  let failure = null
  let isStopping = false
  const loop = (async () => {
    for (let i = 0; !isStopping; i++) {
      const session = store.openSession()
      const id = `work/${i % 10}`
      await session.store(new User({ name: `turn ${i}` }), id)
      await session.saveChanges()
      written.set(id, `turn ${i}`)
      assert.equal((await store.openSession().load(id, User)).name, `turn ${i}`)
    }
  })().catch(error => { failure = error })
  const check = () => {
    if (failure) {
      throw failure
    }
  }

  return {
    check,
    /** Waits until about `count` more documents are written. */
    async awaitMore(count) {
      let turns = 0
      for (let last = written.get("work/0"); turns < count / 10;) {
        check()
        await pause(10)
        if (written.get("work/0") !== last) {
          last = written.get("work/0")
          turns++
        }
      }
    },
    async stop() {
      isStopping = true
      await loop
      check()
      return written
    },
  }
}

async function withStore(client, cluster, database, work, conventions = {}) {
  const store = openStore(client, cluster.urls, database, cluster.authentication, conventions)
  try {
    await work(store)
  } finally {
    store.dispose()
  }
}

/** The bulk insert goes to a node that keeps running, so the client does not notice that the leader changes. */
async function bulkInsertAcrossLeaders(t, client, cluster, database) {
  const dead = await cluster.leader()
  const host = (dead + 1) % 3
  await withStore(client, { ...cluster, urls: [cluster.urls[host]] }, database, async store => {
    const inserting = store.bulkInsert()
    await insert(inserting, 0, 6_000)
    await cluster.nodes[dead].kill()
    const killedAt = performance.now()
    await insert(inserting, 6_000, 12_000)
    const next = await cluster.leader()
    t.diagnostic(`a new leader was elected ${Math.round(performance.now() - killedAt)} ms after the leader was killed`)
    await cluster.start(dead)
    await cluster.transfer(next)
    await insert(inserting, 12_000, 18_000)
    await inserting.finish()
    await assertInserted(store, client, 18_000)
  }, { disableTopologyUpdates: true })
}

/**
 * A bulk insert fails when its node is killed. The same store can repeat it. The client reports the failure, unless
 * more than a mebibyte waits to be sent: then client 7.2.6 waits forever for its own stream.
 */
async function bulkInsertRepeated(t, client, cluster, database) {
  await withStore(client, cluster, database, async store => {
    const dead = await cluster.leader()
    const cut = store.bulkInsert()
    await insert(cut, 0, 12_000)
    await cluster.nodes[dead].kill()
    const continued = insert(cut, 12_000, 24_000).then(() => cut.finish()).then(() => "finished", () => "was refused")
    const end = await Promise.race([continued, pause(3_000).then(() => "waits")])
    t.diagnostic(`the bulk insert whose node was killed ${end}`)
    if (end === "finished") {
      await assertInserted(store, client, 24_000) // Client 5.4.3 had sent nothing yet, and used another node.
    }

    const repeated = store.bulkInsert()
    await insert(repeated, 0, 24_000)
    await repeated.finish()
    await assertInserted(store, client, 24_000)
    await cluster.start(dead)
  })
}

async function insert(inserting, from, to) {
  for (let i = from; i < to; i++) {
    if (i % 500 === 0) {
      await pause(0) // so that the client notices the end of its connection
    }

    await inserting.store(new User({ name: `user number ${i}`, text: "some more text that makes this document longer" }), `users/${i}`)
  }
}

async function assertInserted(store, client, count) {
  assert.equal((await store.maintenance.send(new client.GetCollectionStatisticsOperation())).collections.Users, count)
  const users = await store.openSession().load([0, count / 2 - 1, count - 1].map(i => `users/${i}`), User)
  assert.deepEqual(Object.values(users).map(user => user?.name), [0, count / 2 - 1, count - 1].map(i => `user number ${i}`))
}
