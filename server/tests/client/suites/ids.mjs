import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Ids made by client (HiLo) and server (identities, counted suffix, GUID). */
export function ids(client, url) {
  const database = work => withDatabase(client, url(), "ids", work)

  describe("ids", () => {
    it("come from HiLo ranges, unique across stores", () => database(async store => {
      const session = store.openSession()
      const users = Array.from({ length: 70 }, (_, i) => new User({ name: `user ${i}` }))
      for (const user of users) {
        await session.store(user)
      }

      await session.saveChanges()
      const made = users.map(user => session.advanced.getDocumentId(user))
      assert.equal(new Set(made).size, users.length)
      assert.equal(made[0], "users/1-A")
      const hilo = await store.openSession().load("Raven/Hilo/users")
      assert.ok(hilo.Max >= 70, `Max is ${hilo.Max}`)
    }))

    it("come from identities and from the server's own count", () => database(async store => {
      const session = store.openSession()
      const [first, second, counted] = [new User({ name: "i1" }), new User({ name: "i2" }), new User({ name: "c" })]
      await session.store(first, "invoices|")
      await session.saveChanges()
      await session.store(second, "invoices|")
      await session.store(counted, "events/")
      await session.saveChanges()
      assert.equal(session.advanced.getDocumentId(first), "invoices/1")
      assert.equal(session.advanced.getDocumentId(second), "invoices/2")
      assert.match(session.advanced.getDocumentId(counted), /^events\/\d{19}-A$/)

      assert.equal(await store.maintenance.send(new client.SeedIdentityForOperation("invoices|", 100)), 100)
      assert.equal(await store.maintenance.send(new client.NextIdentityForOperation("invoices|")), 101)
      assert.deepEqual(await store.maintenance.send(new client.GetIdentitiesOperation()), { "invoices|": 101 })
    }))
  })
}
