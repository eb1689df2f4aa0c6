import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Counters of documents, as sessions and operations use them. */
export function counters(client, url) {
  const database = work => withDatabase(client, url(), "counters", work)

  const put = async (store, ...ids) => {
    const session = store.openSession()
    for (const id of ids) {
      await session.store(new User({ name: id }), id)
    }

    await session.saveChanges()
  }

  const increment = async (store, id, counters) => {
    const session = store.openSession()
    for (const [name, delta] of Object.entries(counters)) {
      session.countersFor(id).increment(name, delta)
    }

    await session.saveChanges()
  }

  const batch = documents => {
    const batch = new client.CounterBatch()
    batch.documents = Object.entries(documents).map(([id, operations]) => {
      const one = new client.DocumentCountersOperation()
      one.documentId = id
      one.operations = operations.map(([type, name, delta]) => client.CounterOperation.create(name, type, delta))
      return one
    })
    return new client.CounterBatchOperation(batch)
  }

  describe("counters", () => {
    it("are incremented, read and deleted in sessions", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "ann" }), "users/1")
      session.countersFor("users/1").increment("Likes", 100)
      session.countersFor("users/1").increment("Dislikes")
      await session.saveChanges()
      await increment(store, "users/1", { likes: -10 })

      const reading = store.openSession()
      assert.deepEqual(await reading.countersFor("users/1").getAll(), { Dislikes: 1, Likes: 90 })
      assert.equal(await reading.countersFor("users/1").get("LIKES"), 90)
      const user = await store.openSession().load("users/1", User)
      const loading = store.openSession()
      const loaded = await loading.load("users/1", User)
      assert.equal(loaded.name, user.name)
      assert.deepEqual(loading.advanced.getCountersFor(loaded), ["Dislikes", "Likes"])
      assert.equal(loading.advanced.getMetadataFor(loaded)["@flags"], "HasCounters")
      assert.equal(await loading.countersFor(loaded).get("none"), null)

      const deleting = store.openSession()
      deleting.countersFor("users/1").delete("likes")
      await deleting.saveChanges()
      const after = store.openSession()
      assert.deepEqual(await after.countersFor("users/1").getAll(), { Dislikes: 1 })
      assert.equal(await store.openSession().countersFor("users/1").get("likes"), null)
    }))

    it("are kept when a session changes their document, and deleted with it", () => database(async store => {
      await put(store, "users/1")
      await increment(store, "users/1", { likes: 1 })
      const session = store.openSession()
      session.advanced.useOptimisticConcurrency = true
      const user = await session.load("users/1", User)
      session.countersFor(user).increment("likes", 4)
      session.countersFor(user).increment("new", 1)
      user.name = "changed"
      await session.saveChanges()
      user.name = "changed again" // The session knows the document's change vector that the new counter caused.
      await session.saveChanges()
      assert.equal(await store.openSession().countersFor("users/1").get("likes"), 5)

      const deleting = store.openSession()
      await deleting.delete("users/1")
      await deleting.saveChanges()
      await put(store, "users/1")
      assert.deepEqual(await store.openSession().countersFor("users/1").getAll(), {})
    }))

    it("are changed by operations on several documents, either all or none", () => database(async store => {
      await put(store, "users/1", "users/2")
      const result = await store.operations.send(batch({
        "users/1": [["Increment", "likes", 10], ["Increment", "downloads", 20], ["Get", "likes"]],
        "users/2": [["Increment", "likes", 1], ["Delete", "likes"], ["Get", "likes"]],
      }))
      assert.deepEqual(result.counters.map(detail => detail && [detail.documentId, detail.counterName, detail.totalValue]), [
        ["users/1", "likes", 10], ["users/1", "downloads", 20], ["users/1", "likes", 10], ["users/2", "likes", 1], null,
      ])
      const some = await store.operations.send(new client.GetCountersOperation("users/1", ["likes", "none", "downloads"]))
      assert.deepEqual(some.counters.map(detail => detail?.totalValue), [10, undefined, 20])
      const many = Array.from({ length: 100 }, (_, i) => `a counter with a long name ${i}`)
      const none = await store.operations.send(new client.GetCountersOperation("users/1", [...many, "likes"]))
      assert.deepEqual([none.counters.length, none.counters[100].totalValue], [101, 10])
      const full = await store.operations.send(new client.GetCountersOperation("users/1", "likes", true))
      assert.deepEqual(Object.values(full.counters[0].counterValues), [10])

      // Like RavenDB, the node answers 404. RavenDB's clients do not report that as an error but return no result.
      assert.equal(await store.operations.send(batch({ "users/1": [["Increment", "likes", 1]], "users/9": [["Increment", "likes", 1]] })), undefined)
      assert.equal(await store.openSession().countersFor("users/1").get("likes"), 10)
      const session = store.openSession()
      session.countersFor("users/9").increment("likes")
      await assert.rejects(session.saveChanges(), error => error.name === "DocumentDoesNotExistException")
      const overflowing = store.openSession()
      overflowing.advanced.defer(new client.CountersBatchCommandData("users/1", client.CounterOperation.create("likes", "Increment", Number.MAX_SAFE_INTEGER)))
      await overflowing.saveChanges()
    }))

    it("are included when documents are loaded", () => database(async store => {
      await put(store, "users/1", "users/2")
      await increment(store, "users/1", { likes: 1, shares: 2 })
      const session = store.openSession()
      await session.load(["users/1", "users/2"], { documentType: User, includes: i => i.includeCounter("likes") })
      const requests = session.advanced.numberOfRequests
      assert.equal(await session.countersFor("users/1").get("likes"), 1)
      assert.equal(await session.countersFor("users/2").get("likes"), null)
      assert.equal(session.advanced.numberOfRequests, requests)

      const all = store.openSession()
      await all.load("users/1", { documentType: User, includes: i => i.includeAllCounters() })
      assert.deepEqual(await all.countersFor("users/1").getAll(), { likes: 1, shares: 2 })
      assert.equal(all.advanced.numberOfRequests, 1)
      await increment(store, "users/1", { likes: 1 })
      const again = store.openSession() // The client's cache revalidates the answer.
      await again.load("users/1", { documentType: User, includes: i => i.includeAllCounters() })
      assert.deepEqual(await again.countersFor("users/1").getAll(), { likes: 2, shares: 2 })
    }))

    it("are stored by bulk inserts", () => database(async store => {
      const inserting = store.bulkInsert()
      await inserting.store(new User({ name: "ann" }), "users/1")
      await inserting.store(new User({ name: "bob" }), "users/2")
      for (let i = 0; i < 3000; i++) {
        await inserting.countersFor(`users/${1 + i % 2}`).increment(`c${i}`, i)
      }

      await inserting.countersFor("users/1").increment("c0", 7)
      await inserting.finish()
      const all = await store.openSession().countersFor("users/2").getAll()
      assert.deepEqual([Object.keys(all).length, all.c2999], [1500, 2999])
      assert.equal(await store.openSession().countersFor("users/1").get("c0"), 7)
    }))

    it("come with the results of a query", () => database(async store => {
      await put(store, "users/1", "users/2")
      await increment(store, "users/1", { likes: 5, views: 2 })
      const session = store.openSession()
      const users = await session.query({ collection: "Users" }).include(i => i.includeCounter("likes")).all()
      assert.equal(users.length, 2)
      const requests = session.advanced.numberOfRequests
      assert.deepEqual([await session.countersFor("users/1").get("likes"), await session.countersFor("users/2").get("likes")], [5, null])
      assert.equal(session.advanced.numberOfRequests, requests)

      const all = store.openSession()
      await all.query({ collection: "Users" }).include(i => i.includeAllCounters()).all()
      assert.deepEqual(await all.countersFor("users/1").getAll(), { likes: 5, views: 2 })
      assert.equal(all.advanced.numberOfRequests, 1)
    }))

    it("report their changes to subscriptions", () => database(async store => {
      await put(store, "users/1", "users/2")
      const feed = store.changes()
      await feed.ensureConnectedNow()
      const seen = { all: [], likes: [], one: [], document: [] }
      const watched = [
        [feed.forAllCounters(), seen.all], [feed.forCounter("Likes"), seen.likes],
        [feed.forCounterOfDocument("users/1", "likes"), seen.one], [feed.forCountersOfDocument("users/2"), seen.document],
      ]
      for (const [observable, list] of watched) {
        observable.on("data", change => list.push(`${change.type} ${change.documentId} ${change.name} ${change.value}`))
        await observable.ensureSubscribedNow()
      }

      await increment(store, "users/1", { likes: 5 })
      await increment(store, "users/1", { likes: 1, other: 1 })
      await increment(store, "users/2", { likes: 2 })
      const deadline = Date.now() + 20_000
      while (seen.all.length < 4 && Date.now() < deadline) {
        await new Promise(done => setTimeout(done, 20))
      }

      assert.deepEqual(seen.all, ["Put users/1 likes 5", "Increment users/1 likes 6", "Put users/1 other 1", "Put users/2 likes 2"])
      assert.deepEqual(seen.likes, seen.all.filter(text => text.includes("likes")))
      assert.deepEqual(seen.one, seen.all.slice(0, 2))
      assert.deepEqual(seen.document, seen.all.slice(3))
      feed.dispose()
      assert.equal((await store.maintenance.send(new client.GetStatisticsOperation())).countOfCounterEntries, 3)
    }))
  })
}
