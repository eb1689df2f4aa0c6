import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, openStore, withDatabase } from "../clients.mjs"

/** Databases: created, listed, separate, measured, deleted. */
export function databases(client, url) {
  describe("databases", () => {
    it("have separate documents", () => withDatabase(client, url(), "left", left => withDatabase(client, url(), "right", async right => {
      for (const [store, name] of [[left, "l"], [right, "r"]]) {
        const session = store.openSession()
        await session.store(new User({ name }), "users/1")
        await session.saveChanges()
      }

      assert.equal((await left.openSession().load("users/1")).name, "l")
      assert.equal((await right.openSession().load("users/1")).name, "r")
      const names = await left.maintenance.server.send(new client.GetDatabaseNamesOperation(0, 20))
      assert.ok(names.includes("left") && names.includes("right"), names.join())
    })))

    it("are empty after they were deleted and created again, and cannot be created twice", async () => {
      await withDatabase(client, url(), "again", async store => {
        const session = store.openSession()
        await session.store(new User({ name: "gone" }), "users/1")
        await session.saveChanges()
        await assert.rejects(store.maintenance.server.send(new client.CreateDatabaseOperation({ databaseName: "again" })), { name: "ConcurrencyException" })
        const record = await store.maintenance.server.send(new client.GetDatabaseRecordOperation("again"))
        assert.equal(record.databaseName, "again")
        assert.equal(record.databaseState, "Normal")
        await store.maintenance.server.send(new client.UpdateDatabaseOperation(record, record.etag, 1))
        await assert.rejects(store.maintenance.server.send(new client.UpdateDatabaseOperation(record, 999, 1)), { name: "ConcurrencyException" })
        await store.maintenance.server.send(new client.UpdateDatabaseOperation({ ...record, disabled: true }, record.etag, 1))
        await assert.rejects(store.openSession().load("users/1"), { name: "DatabaseDisabledException" })
        const disabled = await store.maintenance.server.send(new client.GetDatabaseRecordOperation("again"))
        assert.ok(disabled.disabled && disabled.etag > record.etag)
        await assert.rejects(store.maintenance.server.send(new client.CreateDatabaseOperation(disabled)), { name: "ConcurrencyException" })
        await store.maintenance.server.send(new client.UpdateDatabaseOperation({ ...disabled, disabled: false }, disabled.etag, 1))
      })
      await withDatabase(client, url(), "again", async store => assert.equal(await store.openSession().load("users/1"), null))
      const store = openStore(client, url(), "again")
      assert.ok(!await store.maintenance.server.send(new client.GetDatabaseRecordOperation("again")))
      store.dispose()
    })

    it("are deleted; hardDelete: false is refused", () => withDatabase(client, url(), "deleted", async store => {
      const remove = parameters => store.maintenance.server.send(new client.DeleteDatabasesOperation({ databaseNames: ["deleted"], ...parameters }))
      await assert.rejects(remove({ hardDelete: false }), /HardDelete/)
      assert.ok(await store.maintenance.server.send(new client.GetDatabaseRecordOperation("deleted")))
      await remove({})
      assert.ok(!await store.maintenance.server.send(new client.GetDatabaseRecordOperation("deleted")))
    }))

    it("count their documents", () => withDatabase(client, url(), "statistics", async store => {
      const session = store.openSession()
      for (let i = 0; i < 5; i++) {
        await session.store(new User({ name: "x" }), `users/${i}`)
      }

      await session.saveChanges()
      await session.delete("users/4")
      await session.saveChanges()
      const statistics = await store.maintenance.send(new client.GetStatisticsOperation())
      assert.equal(statistics.countOfDocuments, 4)
      assert.equal(statistics.countOfTombstones, 1)
      assert.ok(statistics.databaseChangeVector)
      assert.equal((await store.maintenance.send(new client.GetDetailedStatisticsOperation())).countOfDocuments, 4)
      const collections = await store.maintenance.send(new client.GetCollectionStatisticsOperation())
      assert.deepEqual(collections.collections, { Users: 4 })
      const build = await store.maintenance.server.send(new client.GetBuildNumberOperation())
      assert.equal(build.productVersion, "7.2")
    }))
  })
}
