import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, collect, withDatabase } from "../clients.mjs"

const documents = 100_000

/** Bulk insert. Neither client ever ends the body of its request, and 7.x may compress it. */
export function bulkInsert(client, url) {
  const database = work => withDatabase(client, url(), "bulk", work)
  const count = async store => (await store.maintenance.send(new client.GetCollectionStatisticsOperation())).collections.Users

  describe("bulk insert", () => {
    it(`stores ${documents} documents`, () => database(async store => {
      const inserting = store.bulkInsert()
      for (let i = 0; i < documents; i++) {
        const user = new User({ name: `user number ${i}`, mail: `user${i}@example.org`, visits: i, tags: ["alpha", "beta"] })
        const id = `users/${i}`
        if (!inserting.tryStoreSync?.(user, id)) {
          await inserting.store(user, id)
        }
      }

      await inserting.finish()
      assert.equal(await count(store), documents)
      const session = store.openSession()
      for (const i of [0, 1, 777, documents - 1]) {
        const user = await session.load(`users/${i}`, User)
        assert.equal(user.name, `user number ${i}`)
        assert.equal(session.advanced.getMetadataFor(user)["@collection"], "Users")
      }
    }))

    it("stores compressed documents with ids from HiLo and their own metadata", () => database(async store => {
      const inserting = store.bulkInsert({ useCompression: true })
      for (let i = 0; i < 1_000; i++) {
        await inserting.store(new User({ name: "zipped \" \\ ü \u{1F426}" }), { "@expires": "2100-01-01T00:00:00.0000000Z" })
      }

      await inserting.finish()
      assert.equal(await count(store), 1_000)
      const stored = await collect(await store.openSession().advanced.stream("users/", { pageSize: 10 }))
      assert.ok(stored.every(item => item.document.name === "zipped \" \\ ü \u{1F426}"))
      assert.ok(stored.every(item => item.metadata["@expires"]))
    }))

    it("without documents stores none", () => database(async store => {
      await store.bulkInsert().finish()
      assert.equal((await store.maintenance.send(new client.GetStatisticsOperation())).countOfDocuments, 0)
    }))

    // The body is smaller than the mebibyte that client 5.4.3 buffers. With more, that client sometimes waits forever
    // for its own stream after the server's answer (3 of 30 runs).
    it("fails with the reason", () => database(async store => {
      const inserting = store.bulkInsert()
      const work = async () => {
        await inserting.store(new User({ name: "fine" }), "users/1")
        await inserting.store(new User({ name: "too long an id" }), `users/${"x".repeat(600)}`)
        for (let i = 0; i < 5_000; i++) {
          await inserting.store(new User({ name: "more" }), `users/more/${i}`)
        }

        await inserting.finish()
      }
      await assert.rejects(work(), /512/)
    }))
  })
}
