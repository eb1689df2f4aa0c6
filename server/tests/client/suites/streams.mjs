import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, collect, withDatabase } from "../clients.mjs"

/** Streams: by prefix and by collection (jsonl in 7.x, json in 5.4). */
export function streams(client, url) {
  const database = work => withDatabase(client, url(), "streams", async store => {
    const session = store.openSession()
    for (let i = 1; i <= 300; i++) {
      await session.store(new User({ name: `user ${i}` }), `users/${i}`)
    }

    await session.store(new Order({ buyer: "users/7" }), "orders/1")
    await session.saveChanges()
    await work(store)
  })

  describe("streams", () => {
    it("by prefix", () => database(async store => {
      const items = await collect(await store.openSession().advanced.stream("users/"))
      assert.equal(items.length, 300)
      assert.equal(items[0].id, "users/1")
      assert.equal(items[0].document.name, "user 1")
      assert.ok(items.every(item => item.changeVector))
      assert.deepEqual((await collect(await store.openSession().advanced.stream("users/", { startAfter: "users/98" }))).map(item => item.id), ["users/99"])
    }))

    it("by collection, with statistics first", () => database(async store => {
      const session = store.openSession()
      let statistics
      const items = await collect(await session.advanced.stream(session.query({ collection: "Users" }), found => { statistics = found }))
      assert.equal(items.length, 300)
      assert.equal(statistics?.totalResults, 300)
      const none = await collect(await session.advanced.stream(store.openSession().query({ collection: "Nobody" })))
      assert.equal(none.length, 0)
    }))
  })
}
