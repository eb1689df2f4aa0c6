import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, openStore, withDatabase } from "../clients.mjs"

/** Expiration, refresh, archival, client configuration, settings, and databases that are disabled. */
export function configurations(client, url) {
  const database = work => withDatabase(client, url(), "configurations", work)
  const past = "2020-01-01T00:00:00.0000000Z"
  const put = async (store, id, name, metadata) => {
    const session = store.openSession()
    const user = new User({ name })
    await session.store(user, id)
    Object.assign(session.advanced.getMetadataFor(user), metadata)
    await session.saveChanges()
  }
  const until = async holds => {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline;) {
      if (await holds()) {
        return
      }

      await new Promise(resolve => setTimeout(resolve, 50))
    }

    assert.fail("it did not happen within 20 s")
  }
  const metadataOf = async (store, id) => {
    const session = store.openSession()
    return session.advanced.getMetadataFor(await session.load(id, User))
  }

  describe("the configuration of a database", () => {
    it("expires documents as often as it says", () => database(async store => {
      const result = await store.maintenance.send(new client.ConfigureExpirationOperation({ disabled: false, deleteFrequencyInSec: 1 }))
      assert.ok(result.raftCommandIndex > 0)
      await put(store, "users/1", "ann", { "@expires": past })
      await until(async () => await store.openSession().load("users/1") === null)
      await store.maintenance.send(new client.ConfigureExpirationOperation({ disabled: true, deleteFrequencyInSec: 1 }))
    }))

    it("refreshes documents", () => database(async store => {
      const result = await store.maintenance.send(new client.ConfigureRefreshOperation({ disabled: false, refreshFrequencyInSec: 1 }))
      assert.ok(result.raftCommandIndex > 0)
      await put(store, "users/1", "ann", { "@refresh": past, mine: 7 })
      await until(async () => (await metadataOf(store, "users/1"))["@refresh"] === undefined)
      assert.equal((await metadataOf(store, "users/1")).mine, 7)
    }))

    if (client.ConfigureDataArchivalOperation) {
      it("archives documents, which queries with conditions leave out", () => database(async store => {
        await put(store, "users/1", "ann", {})
        await put(store, "users/2", "bea", { "@archive-at": past })
        await store.maintenance.send(new client.ConfigureDataArchivalOperation({ disabled: false, archiveFrequencyInSec: 1 }))
        await until(async () => (await metadataOf(store, "users/2"))["@archived"] === true)
        assert.equal((await metadataOf(store, "users/2"))["@archive-at"], undefined)
        const query = () => store.openSession().query({ collection: "Users", documentType: User })
        assert.equal((await query().all()).length, 2)
        assert.deepEqual((await query().whereExists("name").waitForNonStaleResults().all()).map(user => user.name), ["ann"])
      }))
    }

    it("reaches clients that are running", () => database(async store => {
      await store.maintenance.send(new client.PutClientConfigurationOperation({ maxNumberOfRequestsPerSession: 3, readBalanceBehavior: "RoundRobin" }))
      const stored = await store.maintenance.send(new client.GetClientConfigurationOperation())
      assert.equal(stored.configuration.maxNumberOfRequestsPerSession, 3)

      const running = openStore(client, url(), "configurations")
      try {
        await running.openSession().load("users/1")
        await until(() => running.getRequestExecutor().conventions.maxNumberOfRequestsPerSession === 3)
        const session = running.openSession()
        await assert.rejects(async () => {
          for (let i = 0; i < 5; i++) {
            await session.load(`users/${i}`)
          }
        }, /maximum number of requests/i)

        await store.maintenance.send(new client.PutClientConfigurationOperation({ disabled: true }))
        await running.openSession().load("users/1")
        await until(() => running.getRequestExecutor().conventions.maxNumberOfRequestsPerSession > 3)
      } finally {
        running.dispose()
      }
    }))

    if (client.PutDatabaseSettingsOperation) {
      it("has settings, of which unknown ones are refused by name", () => database(async store => {
        const key = "Indexing.Static.ArchivedDataProcessingBehavior"
        await store.maintenance.send(new client.PutDatabaseSettingsOperation("configurations", { [key]: "ExcludeArchived" }))
        const read = await store.maintenance.send(new client.GetDatabaseSettingsOperation("configurations"))
        assert.deepEqual(read.settings, { [key]: "ExcludeArchived" })
        await assert.rejects(store.maintenance.send(new client.PutDatabaseSettingsOperation("configurations", { "No.Such": "1" })), /No\.Such/)
      }))
    }
  })

  describe("a disabled database", () => {
    it("refuses requests with its own exception until it is enabled", () => database(async store => {
      await put(store, "users/1", "ann", {})
      const disabled = await store.maintenance.server.send(new client.ToggleDatabasesStateOperation("configurations", true))
      assert.deepEqual([disabled.success, disabled.disabled], [true, true])
      await assert.rejects(store.openSession().load("users/1"), /is disabled/)
      const record = await store.maintenance.server.send(new client.GetDatabaseRecordOperation("configurations"))
      assert.equal(record.disabled, true)
      await store.maintenance.server.send(new client.ToggleDatabasesStateOperation("configurations", false))
      const other = openStore(client, url(), "configurations")
      try {
        assert.equal((await other.openSession().load("users/1", User)).name, "ann")
      } finally {
        other.dispose()
      }
    }))
  })
}
