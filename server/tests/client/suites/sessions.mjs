import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, openStore, withDatabase } from "../clients.mjs"

/** What every program does in sessions: store, load, include, change, delete, handle conflicts. */
export function sessions(client, url) {
  const database = work => withDatabase(client, url(), "sessions", work)

  describe("sessions", () => {
    it("load what was stored, with its metadata", () => database(async store => {
      const writing = store.openSession()
      await writing.store(new User({ name: "Ann Øst", born: new Date(Date.UTC(1980, 1, 2)), tags: ["a", "b"], nested: { deep: [1, 2.5, null, true] } }), "users/Ann")
      await writing.saveChanges()

      const reading = store.openSession()
      const ann = await reading.load("users/ann", User)
      assert.ok(ann instanceof User)
      assert.equal(ann.name, "Ann Øst")
      assert.deepEqual(ann.tags, ["a", "b"])
      assert.deepEqual(ann.nested, { deep: [1, 2.5, null, true] })
      assert.ok(ann.born instanceof Date)
      const metadata = reading.advanced.getMetadataFor(ann)
      assert.equal(metadata["@collection"], "Users")
      assert.equal(metadata["@id"], "users/Ann")
      assert.match(reading.advanced.getChangeVectorFor(ann), /^A:\d+-\S{22}$/)
      assert.ok(reading.advanced.getLastModifiedFor(ann) instanceof Date)
    }))

    it("return null for a missing document, alone and among others", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "here" }), "users/1")
      await session.saveChanges()

      const reading = store.openSession()
      assert.equal(await reading.load("users/2", User), null)
      const several = await reading.load(["users/1", "users/2"], User)
      assert.equal(several["users/1"].name, "here")
      assert.equal(several["users/2"], null)
      assert.equal(await reading.advanced.exists("users/1"), true)
      assert.equal(await store.openSession().advanced.exists("users/3"), false)
    }))

    it("load more ids than a URL holds", () => database(async store => {
      const session = store.openSession()
      const ids = Array.from({ length: 100 }, (_, i) => `users/with-a-rather-long-id-${i}`)
      for (const id of ids) {
        await session.store(new User({ name: id }), id)
      }

      await session.saveChanges()
      const loaded = await store.openSession().load(ids, User)
      assert.deepEqual(Object.values(loaded).map(user => user.name), ids)
    }))

    it("receive included documents in the same answer", () => database(async store => {
      const writing = store.openSession()
      await writing.store(new User({ name: "friend" }), "users/1")
      await writing.store(new User({ name: "product" }), "products/1")
      await writing.store(new Order({ friend: "users/1", lines: [{ product: "products/1" }, { product: "products/none" }] }), "orders/1")
      await writing.saveChanges()

      const reading = store.openSession()
      await reading.include("friend").include("lines[].product").load("orders/1")
      const requests = reading.advanced.numberOfRequests
      assert.equal((await reading.load("users/1")).name, "friend")
      assert.equal((await reading.load("products/1")).name, "product")
      assert.equal(reading.advanced.numberOfRequests, requests)
    }))

    it("change, revalidate and delete", () => database(async store => {
      const first = store.openSession()
      const user = new User({ name: "before" })
      await first.store(user, "users/1")
      await first.saveChanges()
      const stored = first.advanced.getChangeVectorFor(user)
      user.name = "after"
      await first.saveChanges()
      assert.notEqual(first.advanced.getChangeVectorFor(user), stored)

      for (let again = 0; again < 3; again++) { // the second load sends If-None-Match and gets 304
        assert.equal((await store.openSession().load("users/1")).name, "after")
      }

      const deleting = store.openSession()
      await deleting.delete("users/1")
      await deleting.saveChanges()
      assert.equal(await store.openSession().load("users/1"), null)
      await deleting.delete("users/1") // A second deletion is no error.
      await deleting.saveChanges()
    }))

    it("refuse a stale write, and store nothing of its batch", () => database(async store => {
      const setup = store.openSession()
      await setup.store(new User({ name: "first" }), "users/1")
      await setup.saveChanges()

      const slow = store.openSession()
      slow.advanced.useOptimisticConcurrency = true
      const stale = await slow.load("users/1", User)

      const quick = store.openSession()
      const fresh = await quick.load("users/1", User)
      fresh.name = "quick"
      await quick.saveChanges()

      stale.name = "slow"
      await slow.store(new User({ name: "bystander" }), "users/2")
      await assert.rejects(slow.saveChanges(), { name: "ConcurrencyException" })
      const reading = store.openSession()
      assert.equal((await reading.load("users/1")).name, "quick")
      assert.equal(await reading.load("users/2"), null)

      const creating = store.openSession()
      await creating.store(new User({ name: "again" }), "users/1", { changeVector: "" })
      await assert.rejects(creating.saveChanges(), { name: "ConcurrencyException" })
    }))

    it("load lazily in one request", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "one" }), "users/1")
      await session.store(new User({ name: "two" }), "users/2")
      await session.saveChanges()

      const reading = store.openSession()
      const one = reading.advanced.lazily.load("users/1")
      const none = reading.advanced.lazily.load("users/none")
      const two = reading.advanced.lazily.load("users/2")
      const query = reading.query({ collection: "Users" }).lazily()
      await reading.advanced.eagerly.executeAllPendingLazyOperations()
      assert.equal(reading.advanced.numberOfRequests, 1)
      assert.equal((await one.getValue()).name, "one")
      assert.equal((await two.getValue()).name, "two")
      assert.ok(!(await none.getValue()))
      assert.equal((await query.getValue()).length, 2)
    }))

    it("load by prefix, with patterns and pages", () => database(async store => {
      const session = store.openSession()
      for (const id of ["users/1", "users/10", "users/11", "users/2", "orders/1"]) {
        await session.store(new User({ name: id }), id)
      }

      await session.saveChanges()
      const names = async options => (await store.openSession().advanced.loadStartingWith("users/", options)).map(user => user.name)
      assert.deepEqual(await names(), ["users/1", "users/10", "users/11", "users/2"])
      assert.deepEqual(await names({ matches: "1?" }), ["users/10", "users/11"])
      assert.deepEqual(await names({ exclude: "1*" }), ["users/2"])
      assert.deepEqual(await names({ start: 1, pageSize: 2 }), ["users/10", "users/11"])
      assert.deepEqual(await names({ startAfter: "users/10" }), ["users/11", "users/2"])
    }))

    it("fail with the reason if the database is missing", async () => {
      const store = openStore(client, url(), "no-such-database")
      try {
        await assert.rejects(store.openSession().load("users/1"), error => {
          assert.match(`${error.name} ${error.message}`, /DatabaseDoesNotExist/)
          return true
        })
      } finally {
        store.dispose()
      }
    })
  })
}
