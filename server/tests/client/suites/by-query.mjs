import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Patch and delete by query, as long-running operations. */
export function byQuery(client, url) {
  const database = work => withDatabase(client, url(), "by-query", async store => {
    const bulk = store.bulkInsert()
    for (let n = 0; n < 1000; n++) {
      await bulk.store(new User({ n, even: n % 2 === 0, tags: ["a"], address: { city: n < 500 ? "Ulm" : "Bonn" } }), `users/${n}`)
    }

    await bulk.finish()
    await work(store, query => count(store, query))
  })
  const count = (store, query) => store.openSession().advanced.rawQuery(query).count()
  const patch = async (store, query, parameters, options) => {
    const indexQuery = new client.IndexQuery(query)
    indexQuery.queryParameters = parameters
    return store.operations.send(new client.PatchByQueryOperation(indexQuery, options))
  }

  describe("by query", () => {
    it("patches", () => database(async (store, countOf) => {
      const operation = await store.operations.send(new client.PatchByQueryOperation("from Users update { this.seen = true; this.tags.push('b'); }"))
      await operation.waitForCompletion()
      assert.equal(await countOf("from Users where seen = true and tags = 'b'"), 1000)

      const some = await patch(store, "from Users as u where u.address.city = $city and u.even = true update { u.by = $by; u.address.zip = args.zip }", { city: "ulm", by: [1, 2], zip: "89073" })
      await some.waitForCompletion()
      assert.equal(await countOf("from Users where address.zip = '89073'"), 250)
      assert.deepEqual((await store.openSession().load("users/2")).by, [1, 2])
      assert.equal((await store.openSession().load("users/1")).by, undefined)
    }))

    it("patches with declared functions, and reports the outcome of each document", () => database(async (store, countOf) => {
      const operation = await patch(store, `
        declare function half(u) {
          if (u.n % 2 == 1) { return null; }
          return u.n / 2;
        }
        from Users as u where u.n < 4 order by u.n as long update {
          const h = half(u);
          if (h != null) { this.half = h; }
        }`, {}, { retrieveDetails: true, allowStale: true, maxOpsPerSecond: 1000 })
      await operation.waitForCompletion()
      const state = await store.operations.send(new client.GetOperationStateOperation(operation.id, operation.nodeTag))
      assert.equal(state.status, "Completed")
      assert.deepEqual(state.result.details.map(detail => `${detail.id} ${detail.status}`), ["users/0 Patched", "users/1 NotModified", "users/2 Patched", "users/3 NotModified"])
      assert.deepEqual([state.progress.total, state.progress.processed, state.result.total], [4, 4, 4])
      assert.equal(await countOf("from Users where half = 1"), 1)
    }))

    it("deletes", () => database(async (store, countOf) => {
      const indexQuery = new client.IndexQuery("from Users where even = $even")
      indexQuery.queryParameters = { even: true }
      await (await store.operations.send(new client.DeleteByQueryOperation(indexQuery, { allowStale: true }))).waitForCompletion()
      assert.equal(await countOf("from Users"), 500)
      await (await store.operations.send(new client.DeleteByQueryOperation("from Users where startsWith(id(), 'users/9')"))).waitForCompletion()
      // Of the 500 odd numbers, 1 of one digit, 5 of two and 50 of three begin with a 9.
      assert.equal(await countOf("from Users"), 444)
      await (await store.operations.send(new client.DeleteByQueryOperation("from Users"))).waitForCompletion()
      assert.equal(await countOf("from Users"), 0)
    }))

    it("can be killed", () => database(async (store, countOf) => {
      const operation = await patch(store, "from Users update { this.seen = true }", {}, { maxOpsPerSecond: 1 })
      await operation.kill()
      await assert.rejects(operation.waitForCompletion(), /canceled/i)
      assert.ok(await countOf("from Users where seen = true") < 1000)
    }))

    it("fails with a message that names the document or the position", () => database(async (store, countOf) => {
      const failing = await patch(store, "from Users as u where u.n < 10 update { if (u.n == 5) { u.none.deeper = 1; } u.seen = true; }")
      await assert.rejects(failing.waitForCompletion(), /users\/5 failed.*5 of 10 documents were changed before/s)
      assert.equal(await countOf("from Users where seen = true"), 5)
      await assert.rejects(patch(store, "from Users update { spatial(this) }"), /'spatial'/)
      await assert.rejects(patch(store, "from Users update { this.a = }"), /column 30/)
      await assert.rejects(patch(store, "from Users"), /update/)
      await assert.rejects(new client.OperationCompletionAwaiter(store.getRequestExecutor(), store.conventions, 5, "A").waitForCompletion(), /knows no operation 5/)
    }))
  })
}
