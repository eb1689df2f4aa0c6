import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase, within } from "../clients.mjs"

/** Subscriptions to changes over the WebSocket. */
export function changes(client, url) {
  describe("changes", () => {
    it("report documents by id, prefix, collection and all", () => withDatabase(client, url(), "changes", async store => {
      const feed = store.changes()
      const seen = { one: [], prefix: [], collection: [], all: [] }
      let missing = 9
      let done
      const complete = new Promise(resolve => { done = resolve })
      const note = list => change => {
        list.push(`${change.type} ${change.id}`)
        if (--missing === 0) {
          done()
        }
      }
      const watch = async (observable, list) => {
        observable.on("data", note(list))
        await within(60_000, observable.ensureSubscribedNow(), "confirmation")
      }
      await watch(feed.forDocument("users/1"), seen.one)
      await watch(feed.forDocumentsStartingWith("users/"), seen.prefix)
      await watch(feed.forDocumentsInCollection("Users"), seen.collection)
      await watch(feed.forAllDocuments(), seen.all)

      const session = store.openSession()
      await session.store(new User({ name: "one" }), "users/1")
      await session.saveChanges()
      await session.store({ other: true, "@metadata": { "@collection": "Others" } }, "others/1")
      await session.saveChanges()
      await session.delete("users/1")
      await session.saveChanges()

      await within(60_000, complete, () => `nine events (so far ${JSON.stringify(seen)})`)
      assert.deepEqual(seen.one, ["Put users/1", "Delete users/1"])
      assert.deepEqual(seen.prefix, ["Put users/1", "Delete users/1"])
      assert.deepEqual(seen.collection, ["Put users/1", "Delete users/1"])
      assert.deepEqual(seen.all, ["Put users/1", "Put others/1", "Delete users/1"])
      feed.dispose()
    }))

    it("confirm subscriptions to unsupported features, which never change", () => withDatabase(client, url(), "watches", async store => {
      const feed = store.changes()
      for (const observable of [feed.forAllTimeSeries(), feed.forTimeSeries("hr"), feed.forTimeSeriesOfDocument("users/1"), feed.forTimeSeriesOfDocument("users/1", "hr"), feed.forAllCounters(), feed.forCountersOfDocument("users/1")]) {
        observable.on("data", () => {})
        await within(60_000, observable.ensureSubscribedNow(), "confirmation")
      }

      feed.dispose()
    }))
  })
}
