import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** The typed patches of a session: set, increment, change an array. */
export function patches(client, url) {
  const database = work => withDatabase(client, url(), "patches", work)

  describe("patches", () => {
    it("set, increment and change arrays without loading", () => database(async store => {
      const setup = store.openSession()
      await setup.store(new User({ name: "before", visits: 1, tags: ["a"], address: { city: "x" } }), "users/1")
      await setup.saveChanges()

      const session = store.openSession()
      session.advanced.patch("users/1", "name", "after")
      session.advanced.patch("users/1", "address.city", "Oslo")
      session.advanced.increment("users/1", "visits", 4)
      session.advanced.increment("users/1", "likes", 2)
      session.advanced.patchArray("users/1", "tags", tags => tags.push("b", "c"))
      await session.saveChanges()

      const user = await store.openSession().load("users/1")
      assert.equal(user.name, "after")
      assert.equal(user.address.city, "Oslo")
      assert.equal(user.visits, 5)
      assert.equal(user.likes, 2)
      assert.deepEqual(user.tags, ["a", "b", "c"])

      const removing = store.openSession()
      removing.advanced.patchArray("users/1", "tags", tags => tags.removeAt(1))
      await removing.saveChanges()
      assert.deepEqual((await store.openSession().load("users/1")).tags, ["a", "c"])
    }))

    it("answer with a status, also for a missing document", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "x" }), "users/1")
      await session.saveChanges()

      const rename = id => {
        const patch = new client.PatchRequest()
        patch.script = "this.name = args.val_0;"
        patch.values = { val_0: "y" }
        return store.operations.send(new client.PatchOperation(id, null, patch))
      }
      assert.equal((await rename("users/1")).status, "Patched")
      assert.equal((await rename("users/1")).status, "NotModified")
      assert.equal((await rename("users/2")).status, "DocumentDoesNotExist")
      assert.equal((await store.openSession().load("users/1")).name, "y")
    }))

    it("read a missing argument as undefined, and do nothing without operations", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "x", tags: ["a"] }), "users/1")
      await session.saveChanges()
      const patch = new client.PatchRequest()
      patch.script = "this.name = args.none === undefined ? 'none' : args.none; this.other = args.none;"
      patch.values = { val: 1 }
      assert.equal((await store.operations.send(new client.PatchOperation("users/1", null, patch))).status, "Patched")
      const empty = store.openSession()
      empty.advanced.patchArray("users/1", "tags", () => {})
      await empty.saveChanges()
      const user = await store.openSession().load("users/1")
      assert.deepEqual([user.name, user.tags, "other" in user], ["none", ["a"], false])
    }))

    // The newest clients have this operation, and send a session's patches in this form.
    it("apply a JSON patch", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "x", tags: ["a"] }), "users/1")
      await session.saveChanges()
      const apply = (id, ...operations) => store.operations.send({
        resultType: "CommandResult",
        getCommand: () => new (class extends client.RavenCommand {
          get isReadRequest() { return false }

          createRequest(node) {
            return {
              uri: `${node.url}/databases/${node.database}/json-patch?id=${encodeURIComponent(id)}`,
              method: "PATCH",
              headers: { "Content-Type": "application/json" },
              body: JSON.stringify({ Operations: operations }),
            }
          }

          async setResponseAsync(stream) {
            let text = ""
            for await (const part of stream) {
              text += part
            }

            this.result = JSON.parse(text)
            return text
          }
        })(),
      })
      const { Status, ModifiedDocument } = await apply("users/1", { op: "test", path: "/name", value: "x" }, { op: "add", path: "/tags/-", value: "b" })
      assert.deepEqual([Status, ModifiedDocument.tags], ["Patched", ["a", "b"]])
      await assert.rejects(apply("users/1", { op: "add", path: "/name", value: "y" }, { op: "remove", path: "/tags/10" }), /Operations\[1\] .*out of array bounds/)
      await assert.rejects(apply("users/none", { op: "add", path: "/name", value: "y" }), /Cannot apply json patch/)
      assert.equal((await store.openSession().load("users/1")).name, "x")
    }))

    it("run scripts", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "ann", n: 1, tags: ["a", "b", "c"], lines: [{ q: 2, price: 3 }, { q: 1, price: 4 }], old: true }), "users/1")
      await session.saveChanges()
      const patch = async (script, values) => {
        const request = new client.PatchRequest()
        request.script = script
        request.values = values
        return (await store.operations.send(new client.PatchOperation("users/1", null, request))).status
      }
      assert.equal(await patch(`
        this.n++;
        this.total = this.lines.reduce((sum, l) => sum + l.q * l.price, 0);
        for (const line of this.lines) {
          if (line.q > 1) { line.many = true; }
        }
        this.tags = this.tags.filter(t => t != args.without).map(t => t.toUpperCase());
        this.tags.push("d");
        this.rounded = Math.round(2.4);
        delete this.old;`, { without: "b" }), "Patched")
      const user = await store.openSession().load("users/1")
      assert.deepEqual({ ...user, "@metadata": undefined, id: undefined }, {
        name: "ann", n: 2, tags: ["A", "C", "d"], lines: [{ q: 2, price: 3, many: true }, { q: 1, price: 4 }], total: 10, rounded: 2, "@metadata": undefined, id: undefined,
      })
      assert.equal(await patch("if (this.n > 2) { this.n = 0; }"), "NotModified")
    }))

    it("run loops, and set the expiry of a document", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "x" }), "users/1")
      await session.saveChanges()
      const patch = new client.PatchRequest()
      patch.script = `for (var i = 0; i < 3; i++) { if (i === 1) continue; this.name += i }
        switch (this.name) { case "x02": this.found = true; break; default: throw new Error(this.name) }
        this["@metadata"]["@expires"] = args.at`
      patch.values = { at: "2099-01-01T00:00:00.0000000Z" }
      assert.equal((await store.operations.send(new client.PatchOperation("users/1", null, patch))).status, "Patched")
      const user = await store.openSession().load("users/1")
      assert.deepEqual([user.name, user.found, user["@metadata"]["@expires"]], ["x02", true, "2099-01-01T00:00:00.0000000Z"])
    }))

    it("refuse a script with an unsupported statement or too many steps", () => database(async store => {
      const session = store.openSession()
      await session.store(new User({ name: "x" }), "users/1")
      await session.saveChanges()
      const patch = new client.PatchRequest()
      patch.script = "try { this.name += 1 } catch (e) { }"
      await assert.rejects(store.operations.send(new client.PatchOperation("users/1", null, patch)), /'try'/)
      patch.script = "for (const a of args.l) for (const b of args.l) for (const c of args.l) this.n++;"
      patch.values = { l: Array.from({ length: 1000 }, (_, i) => i) }
      await assert.rejects(store.operations.send(new client.PatchOperation("users/1", null, patch)), /more steps/)
    }))
  })
}
