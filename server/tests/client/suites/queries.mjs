import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, withDatabase } from "../clients.mjs"

/** Queries that need no index, because they read a collection or ids. */
export function queries(client, url) {
  const database = work => withDatabase(client, url(), "queries", async store => {
    const session = store.openSession()
    for (let i = 1; i <= 25; i++) {
      await session.store(new User({ name: `user ${i}` }), `users/${i}`)
    }

    await session.store(new Order({ buyer: "users/7" }), "orders/1")
    await session.saveChanges()
    await work(store)
  })

  describe("queries", () => {
    it("read a collection in pages", () => database(async store => {
      let seen = []
      for (let start = 0; ; start += 10) {
        let statistics
        const page = await store.openSession().advanced.rawQuery("from Users").skip(start).take(10).statistics(found => { statistics = found }).all()
        assert.equal(statistics.totalResults, 25)
        assert.equal(statistics.isStale, false)
        seen = seen.concat(page.map(user => user.name))
        if (page.length < 10) {
          break
        }
      }

      assert.equal(new Set(seen).size, 25)
      assert.equal((await store.openSession().advanced.rawQuery("from Users limit 3").all()).length, 3)
      assert.equal((await store.openSession().query({ collection: "Nobody" }).all()).length, 0)
    }))

    it("count, find the first document, and show whether there is any", () => database(async store => {
      assert.equal(await store.openSession().query({ collection: "Users" }).count(), 25)
      assert.equal(await store.openSession().query({ collection: "Users" }).any(), true)
      assert.equal(await store.openSession().query({ collection: "Nobody" }).any(), false)
      assert.ok((await store.openSession().query({ collection: "Users" }).first()).name)
      assert.equal(await store.openSession().advanced.rawQuery("from @all_docs").count(), 26)
    }))

    it("find by id conditions", () => database(async store => {
      const names = async query => (await query.all()).map(user => user.name)
      const users = () => store.openSession().query({ collection: "Users" })
      assert.deepEqual(await names(users().whereEquals("id()", "users/3")), ["user 3"])
      assert.deepEqual((await names(users().whereIn("id()", ["users/3", "users/5", "users/none"]))).sort(), ["user 3", "user 5"])
      assert.deepEqual((await names(users().whereStartsWith("id()", "users/2"))).sort(), ["user 2", "user 20", "user 21", "user 22", "user 23", "user 24", "user 25"])
      assert.equal((await names(users().whereEquals("id()", "orders/1"))).length, 0)
    }))

    it("count the documents that a filter read", () => database(async store => {
      let statistics
      const query = store.openSession().advanced.rawQuery("from Users filter name = 'user 3' filter_limit 20").statistics(read => { statistics = read })
      await query.all()
      assert.equal(statistics.scannedResults, 20)
    }))

    it("fail if their index is missing, also lazily", () => database(async store => {
      await assert.rejects(store.openSession().query({ indexName: "None" }).all(), { name: "IndexDoesNotExistException" })
      await assert.rejects(store.openSession().query({ indexName: "None" }).lazily().getValue(), { name: "IndexDoesNotExistException" })
    }))

    it("include documents", () => database(async store => {
      const session = store.openSession()
      const orders = await session.query({ collection: "Orders" }).include("buyer").all()
      const requests = session.advanced.numberOfRequests
      assert.equal((await session.load(orders[0].buyer)).name, "user 7")
      assert.equal(session.advanced.numberOfRequests, requests)
    }))
  })
}
