import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Compare-exchange values and cluster-wide transactions, as sessions and operations use them. */
export function compareExchange(client, url) {
  const database = work => withDatabase(client, url(), "compare-exchange", work)
  const clusterWide = (store, options = {}) => store.openSession({ transactionMode: "ClusterWide", ...options })
  const put = (store, key, value, index, metadata) =>
    store.operations.send(new client.PutCompareExchangeValueOperation(key, value, index, metadata))
  const get = (store, key, type) => store.operations.send(new client.GetCompareExchangeValueOperation(key, type))

  describe("compare-exchange values", () => {
    it("are reserved once, changed only with the current index, and deleted", () => database(async store => {
      const first = await put(store, "emails/ann@b.c", "users/1", 0)
      assert.equal(first.successful, true)
      assert.equal(first.value, "users/1")
      const second = await put(store, "emails/ann@b.c", "users/2", 0)
      assert.equal(second.successful, false)
      assert.equal(second.value, "users/1", "the current value")
      assert.equal(second.index, first.index)

      const read = await get(store, "emails/ann@b.c")
      assert.deepEqual([read.value, read.index], ["users/1", first.index])
      const changed = await put(store, "emails/ann@b.c", "users/3", read.index)
      assert.ok(changed.successful && changed.index > read.index)

      const refused = await store.operations.send(new client.DeleteCompareExchangeValueOperation("emails/ann@b.c", read.index))
      assert.equal(refused.successful, false)
      const removed = await store.operations.send(new client.DeleteCompareExchangeValueOperation("emails/ann@b.c", changed.index))
      assert.deepEqual([removed.successful, removed.value], [true, "users/3"])
      assert.equal(await get(store, "emails/ann@b.c"), null)
    }))

    it("hold objects, lists and metadata, and are listed by keys and by prefix", () => database(async store => {
      await put(store, "settings/a", new User({ name: "ann" }), 0)
      await put(store, "settings/b", [1, 2, 3], 0)
      await put(store, "other", 7, 0)
      assert.equal((await get(store, "settings/a", User)).value.name, "ann")
      const some = await store.operations.send(new client.GetCompareExchangeValuesOperation({ keys: ["settings/b", "none", "other"] }))
      assert.deepEqual(Object.keys(some).sort(), ["none", "other", "settings/b"])
      assert.equal(some.none.value, null)
      assert.deepEqual(Object.values(some["settings/b"].value), [1, 2, 3]) // Client 5.4.3 turns a list into an object.
      const page = await store.operations.send(new client.GetCompareExchangeValuesOperation({ startWith: "settings/", start: 1, pageSize: 5 }))
      assert.deepEqual(Object.keys(page), ["settings/b"])
    }))

    it("expire at the time in their metadata", () => database(async store => {
      const at = milliseconds => ({ "@expires": new Date(Date.now() + milliseconds).toISOString() })
      await assert.rejects(put(store, "gone", 1, 0, at(-600_000)), /the cluster's time is/)
      await put(store, "kept", 1, 0, at(600_000))
      assert.equal((await put(store, "gone", 1, 0, at(5_000))).successful, true)
      const deadline = Date.now() + 25_000 // The node removes expired values once a minute; a read does not wait for that.
      while (Date.now() < deadline && await get(store, "gone") !== null)
        await new Promise(resolve => setTimeout(resolve, 100))
      assert.equal(await get(store, "gone"), null)
      assert.equal((await get(store, "kept")).metadata["@expires"].slice(-1), "Z")
      assert.equal((await put(store, "gone", 2, 0)).successful, true, "the key is free again")
    }))
  })

  describe("cluster-wide sessions", () => {
    it("store documents and values together, or nothing", () => database(async store => {
      const session = clusterWide(store)
      const user = new User({ name: "ann" })
      await session.store(user, "users/1")
      session.advanced.clusterTransaction.createCompareExchangeValue("emails/ann@b.c", "users/1")
      await session.saveChanges()

      const second = clusterWide(store)
      await second.store(new User({ name: "eve" }), "users/2")
      second.advanced.clusterTransaction.createCompareExchangeValue("emails/ann@b.c", "users/2")
      await assert.rejects(second.saveChanges(), error => error.name === "ClusterTransactionConcurrencyException" && /emails\/ann@b\.c/.test(error.message))
      assert.equal(await store.openSession().load("users/2"), null, "nothing of the second was stored")
    }))

    it("read, change and delete values in consecutive sessions", () => database(async store => {
      const session = clusterWide(store)
      const created = session.advanced.clusterTransaction.createCompareExchangeValue("lock", { owner: "a" })
      await session.saveChanges()
      assert.ok(created.index > 0)

      const changing = clusterWide(store)
      const value = await changing.advanced.clusterTransaction.getCompareExchangeValue("lock")
      assert.equal(value.value.owner, "a")
      value.value = { owner: "b" } // A new object is assigned, because the client does not notice changes inside the old one.
      await changing.saveChanges()
      value.value = { owner: "c" }
      await changing.saveChanges()

      const deleting = clusterWide(store)
      const lock = await deleting.advanced.clusterTransaction.getCompareExchangeValue("lock")
      assert.equal(lock.value.owner, "c")
      const values = await deleting.advanced.clusterTransaction.getCompareExchangeValues("lo")
      assert.deepEqual(Object.keys(values), ["lock"])
      deleting.advanced.clusterTransaction.deleteCompareExchangeValue(lock)
      await deleting.saveChanges()
      assert.equal(await clusterWide(store).advanced.clusterTransaction.getCompareExchangeValue("lock"), null)

      const late = clusterWide(store)
      late.advanced.clusterTransaction.deleteCompareExchangeValue("lock", lock.index)
      await assert.rejects(late.saveChanges(), error => error.name === "ClusterTransactionConcurrencyException")
    }))

    it("guard the documents that they load against concurrent changes", () => database(async store => {
      const creating = clusterWide(store)
      await creating.store(new User({ name: "john" }), "users/johndoe")
      await creating.saveChanges()
      const guards = await store.operations.send(new client.GetCompareExchangeValuesOperation({ startWith: "rvn-atomic/" }))
      assert.deepEqual(Object.keys(guards), ["rvn-atomic/users/johndoe"])

      const [first, second] = [clusterWide(store), clusterWide(store)]
      const [one, other] = [await first.load("users/johndoe", User), await second.load("users/johndoe", User)]
      one.name = "jindoe"
      other.name = "jandoe"
      await first.saveChanges()
      await assert.rejects(second.saveChanges(), error => error.name === "ClusterTransactionConcurrencyException")
      one.name = "again"
      await first.saveChanges()

      const blind = clusterWide(store)
      await blind.store(new User({ name: "blind" }), "users/johndoe")
      await assert.rejects(blind.saveChanges(), error => error.name === "ClusterTransactionConcurrencyException")

      const deleting = clusterWide(store)
      await deleting.delete(await deleting.load("users/johndoe", User))
      await deleting.saveChanges()
      assert.deepEqual(await store.operations.send(new client.GetCompareExchangeValuesOperation({ startWith: "rvn-atomic/" })), {})
      const again = clusterWide(store)
      assert.equal(await again.load("users/johndoe", User), null)
      await again.store(new User({ name: "new" }), "users/johndoe")
      await again.saveChanges()
    }))

    it("store without guards where the session disables them", () => database(async store => {
      for (const name of ["a", "b"]) {
        const session = clusterWide(store, { disableAtomicDocumentWritesInClusterWideTransaction: true })
        await session.store(new User({ name }), "users/1")
        await session.saveChanges()
      }

      assert.deepEqual(await store.operations.send(new client.GetCompareExchangeValuesOperation({ startWith: "rvn-atomic/" })), {})
    }))

    it("read values lazily, and with the documents that contain their keys", () => database(async store => {
      await put(store, "ann@b.c", "taken", 0)
      const storing = store.openSession()
      await storing.store(new User({ name: "ann", mail: "ann@b.c" }), "users/1")
      await storing.saveChanges()

      const lazy = clusterWide(store)
      const later = lazy.advanced.clusterTransaction.lazily.getCompareExchangeValue("ann@b.c")
      assert.equal((await later.getValue()).value, "taken")

      const session = clusterWide(store)
      const user = await session.load("users/1", { documentType: User, includes: i => i.includeCompareExchangeValue("mail") })
      const requests = session.advanced.numberOfRequests
      assert.equal((await session.advanced.clusterTransaction.getCompareExchangeValue(user.mail)).value, "taken")
      assert.equal(session.advanced.numberOfRequests, requests, "the value came with the document")
    }))

    it("query by values, and include the values whose keys are in the results", () => database(async store => {
      await put(store, "blocked", "eve@b.c", 0)
      await put(store, "ann@b.c", "taken", 0)
      const storing = store.openSession()
      await storing.store(new User({ name: "ann", mail: "ann@b.c" }), "users/1")
      await storing.store(new User({ name: "eve", mail: "eve@b.c" }), "users/2")
      await storing.saveChanges()

      const users = await store.openSession().advanced.rawQuery("from Users where mail = cmpxchg('blocked')", User).waitForNonStaleResults().all()
      assert.deepEqual(users.map(user => user.name), ["eve"])
      const session = clusterWide(store)
      await session.query({ collection: "Users" }).include(i => i.includeCompareExchangeValue("mail")).all()
      const requests = session.advanced.numberOfRequests
      assert.equal((await session.advanced.clusterTransaction.getCompareExchangeValue("ann@b.c")).value, "taken")
      assert.equal(await session.advanced.clusterTransaction.getCompareExchangeValue("eve@b.c"), null)
      assert.equal(session.advanced.numberOfRequests, requests, "the values came with the results")
    }))

    it("refuse patches, on the client's side and on the server's", () => database(async store => {
      const session = clusterWide(store)
      await session.store(new User({ name: "a" }), "users/1")
      session.advanced.defer(new client.PatchCommandData("users/2", null, Object.assign(new client.PatchRequest(), { script: "this.a = 1" })))
      await assert.rejects(session.saveChanges(), /PATCH/)
      assert.equal(await store.openSession().load("users/1"), null)
    }))
  })
}
