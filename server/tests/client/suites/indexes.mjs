import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase, within } from "../clients.mjs"

const documents = 400

/** Automatic indexes, which queries create, and the operations on them. */
export function indexes(client, url) {
  const database = work => withDatabase(client, url(), "indexes", async store => {
    const bulk = store.bulkInsert()
    for (let i = 0; i < documents; i++) {
      await bulk.store(new User({ name: `user ${i}`, age: i % 40, address: { city: i % 2 ? "Ulm" : "Bonn" } }), `users/${i}`)
    }

    await bulk.finish()
    await work(store, () => store.openSession().query({ collection: "Users" }))
  })

  describe("indexes", () => {
    it("are created by queries, and answer them", () => database(async (store, users) => {
      let statistics
      const results = await users().whereEquals("age", 7).whereEquals("address.city", "Ulm").orderBy("name").statistics(now => { statistics = now }).all()
      assert.deepEqual(results.map(user => user.name), ["user 127", "user 167", "user 207", "user 247", "user 287", "user 327", "user 367", "user 47", "user 7", "user 87"])
      assert.equal(statistics.totalResults, 10)
      assert.equal(statistics.indexName, "Auto/Users/Byaddress_cityAndageAndname")
      assert.equal(statistics.isStale, false)
      assert.deepEqual(await store.maintenance.send(new client.GetIndexNamesOperation(0, 10)), ["Auto/Users/Byaddress_cityAndageAndname"])
    }))

    it("are up to date when a query waits for them", () => database(async (store, users) => {
      await users().whereEquals("age", 7).all()
      for (let i = 0; i < 10; i++) {
        const session = store.openSession()
        await session.store(new User({ name: "late", age: 7 }), `late/${i}`)
        await session.saveChanges()
        assert.equal(await users().whereEquals("age", 7).waitForNonStaleResults(10_000).count(), 11 + i)
      }
    }))

    it("that are paused give stale answers, and a wait for them times out", () => database(async (store, users) => {
      await users().whereEquals("age", 7).waitForNonStaleResults().all()
      await store.maintenance.send(new client.StopIndexingOperation())
      const session = store.openSession()
      await session.store(new User({ name: "late", age: 7 }), "users/late")
      await session.saveChanges()
      let statistics
      assert.equal((await users().whereEquals("age", 7).statistics(now => { statistics = now }).all()).length, 10)
      assert.equal(statistics.isStale, true)
      await assert.rejects(users().whereEquals("age", 7).waitForNonStaleResults(100).all(), failed => failed.name === "TimeoutException")
      assert.equal((await store.maintenance.send(new client.GetIndexingStatusOperation())).status, "Paused")
      await store.maintenance.send(new client.StartIndexingOperation())
      assert.equal((await users().whereEquals("age", 7).waitForNonStaleResults(10_000).all()).length, 11)
    }))

    it("are listed, counted and described", () => database(async (store, users) => {
      await users().whereEquals("age", 7).waitForNonStaleResults().all()
      const [index] = await store.maintenance.send(new client.GetIndexesOperation(0, 10))
      assert.equal(index.name, "Auto/Users/Byage")
      assert.equal(index.type, "AutoMap")
      assert.equal((await store.maintenance.send(new client.GetIndexOperation("Auto/Users/Byage"))).name, "Auto/Users/Byage")
      const statistics = await store.maintenance.send(new client.GetIndexStatisticsOperation("Auto/Users/Byage"))
      assert.equal(statistics.entriesCount, documents)
      assert.equal(statistics.isStale, false)
      assert.equal((await store.maintenance.send(new client.GetIndexesStatisticsOperation())).length, 1)
      assert.deepEqual((await store.maintenance.send(new client.GetIndexErrorsOperation()))[0].errors, [])
      const { countOfIndexes, indexes: [one] } = await store.maintenance.send(new client.GetStatisticsOperation())
      assert.equal(countOfIndexes, 1)
      assert.equal(one.name, "Auto/Users/Byage")
    }))

    it("are configured, built again and deleted", () => database(async (store, users) => {
      await users().whereEquals("age", 7).waitForNonStaleResults().all()
      const name = "Auto/Users/Byage"
      await store.maintenance.send(new client.SetIndexesPriorityOperation({ indexNames: [name], priority: "High" }))
      assert.equal((await store.maintenance.send(new client.GetIndexOperation(name))).priority, "High")
      await store.maintenance.send(new client.DisableIndexOperation(name))
      assert.equal((await store.maintenance.send(new client.GetIndexStatisticsOperation(name))).state, "Disabled")
      await store.maintenance.send(new client.EnableIndexOperation(name))
      await store.maintenance.send(new client.ResetIndexOperation(name))
      assert.equal(await users().whereEquals("age", 7).waitForNonStaleResults(10_000).count(), 10)
      await store.maintenance.send(new client.DeleteIndexOperation(name))
      assert.equal((await store.maintenance.send(new client.GetIndexesOperation(0, 10))).length, 0)
    }))

    it("report their changes", () => database(async (store, users) => {
      const seen = []
      let done
      const complete = new Promise(resolve => { done = resolve })
      const watched = store.changes().forAllIndexes()
      watched.on("data", change => {
        seen.push(change.type)
        if (seen.includes("IndexAdded") && seen.includes("BatchCompleted") && seen.includes("IndexRemoved")) {
          done()
        }
      })
      await within(60_000, watched.ensureSubscribedNow(), "confirmation")
      await users().whereEquals("age", 7).waitForNonStaleResults().all()
      await store.maintenance.send(new client.DeleteIndexOperation("Auto/Users/Byage"))
      await within(60_000, complete, () => `three kinds of changes (so far ${seen})`)
    }))

    it("report how long the parts of a query took", () => database(async (store, users) => {
      await users().whereEquals("age", 7).waitForNonStaleResults().all()
      let timings
      await users().whereEquals("age", 7).timings(taken => { timings = taken }).all()
      assert.ok(timings.durationInMs >= 0)
      assert.deepEqual(Object.keys(timings.timings).map(part => part.toLowerCase()).sort(), ["index", "parser", "query", "results"])
    }))

    it("list their terms", () => database(async (store, users) => {
      await users().whereEquals("address.city", "ulm").waitForNonStaleResults().all()
      assert.deepEqual(await store.maintenance.send(new client.GetTermsOperation("Auto/Users/Byaddress_city", "address.city", null, 10)), ["bonn", "ulm"])
    }))
  })
}
