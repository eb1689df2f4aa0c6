import assert from "node:assert/strict"
import { buffer } from "node:stream/consumers"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Attachments by operations, and in sessions, whose batches are multipart. */
export function attachments(client, url) {
  const database = work => withDatabase(client, url(), "attachments", work)

  async function withUser(store) {
    const session = store.openSession()
    await session.store(new User({ name: "ann" }), "users/1")
    await session.saveChanges()
  }

  const put = (store, name, content, type) =>
    store.operations.send(new client.PutAttachmentOperation("users/1", name, content, type))

  describe("attachments", () => {
    it("are stored, listed, read and deleted", () => database(async store => {
      await withUser(store)
      const stored = await put(store, "photo.png", Buffer.from([1, 2, 3]), "image/png")
      assert.equal(stored.hash, "EcDnm3HDl2zNDALRMQ4lFsCO3J2Lb1fM1oDWOk2Octo=")
      assert.equal(stored.size, 3)
      await put(store, "fileNAME_#$1^%_בעברית.txt", Buffer.from("hello"), undefined)

      const session = store.openSession()
      const user = await session.load("users/1", User)
      assert.match(session.advanced.getMetadataFor(user)["@flags"], /HasAttachments/)
      assert.deepEqual(session.advanced.attachments.getNames(user).map(each => each.name), ["fileNAME_#$1^%_בעברית.txt", "photo.png"])
      assert.ok(await session.advanced.attachments.exists("users/1", "photo.png"))
      assert.ok(!await session.advanced.attachments.exists("users/1", "none"))
      const read = await session.advanced.attachments.get("users/1", "photo.png")
      assert.deepEqual([...await buffer(read.data)], [1, 2, 3])
      assert.equal(read.details.contentType, "image/png")
      assert.equal(read.details.changeVector, stored.changeVector)
      read.dispose()

      // The document keeps its attachments when a session stores it.
      user.name = "eve"
      await session.saveChanges()
      const again = store.openSession()
      assert.equal(again.advanced.attachments.getNames(await again.load("users/1", User)).length, 2)
      assert.equal((await store.maintenance.send(new client.GetStatisticsOperation())).countOfAttachments, 2)

      await store.operations.send(new client.DeleteAttachmentOperation("users/1", "photo.png"))
      assert.ok(!await store.openSession().advanced.attachments.exists("users/1", "photo.png"))
    }))

    it("are stored and deleted by a session, with its documents", () => database(async store => {
      const contents = { "file1": [1, 2, 3], "file2": [1, 2, 3, 4, 5, 6], "Größe \"3\"": [], "large": Array(300000).fill(7) }
      {
        const session = store.openSession()
        const user = new User({ name: "ann" })
        await session.store(user, "users/1")
        for (const [name, bytes] of Object.entries(contents)) {
          session.advanced.attachments.store(name === "file2" ? user : "users/1", name, Buffer.from(bytes), "image/png")
        }
        await session.saveChanges()
      }
      {
        const session = store.openSession()
        const user = await session.load("users/1", User)
        assert.deepEqual(session.advanced.attachments.getNames(user).map(each => each.name), ["file1", "file2", "Größe \"3\"", "large"])
        for (const [name, bytes] of Object.entries(contents)) {
          const read = await session.advanced.attachments.get(user, name)
          assert.deepEqual([...await buffer(read.data)], bytes)
          read.dispose()
        }
        session.advanced.attachments.delete(user, "file2")
        session.advanced.attachments.delete("users/1", "large")
        await session.saveChanges()
      }
      const session = store.openSession()
      const user = await session.load("users/1", User)
      assert.deepEqual(session.advanced.attachments.getNames(user).map(each => each.name), ["file1", "Größe \"3\""])
      await session.delete(user)
      session.advanced.attachments.delete("users/1", "file1")
      await session.saveChanges()
      assert.equal(await store.openSession().load("users/1"), null)
    }))

    it("are copied, moved and renamed by a session, and never replace another one", () => database(async store => {
      await withUser(store)
      await put(store, "a", Buffer.from([1, 2]), "text/plain")
      const names = async id => {
        const session = store.openSession()
        return session.advanced.attachments.getNames(await session.load(id, User)).map(each => each.name)
      }
      const change = async work => {
        const session = store.openSession()
        const users = [await session.load("users/1", User), await session.load("users/2", User)]
        work(session.advanced.attachments, ...users)
        await session.saveChanges()
        return session.advanced.attachments.getNames(users[0]).length
      }
      const session = store.openSession()
      await session.store(new User({ name: "eve" }), "users/2")
      await session.saveChanges()

      assert.equal(await change((attachments, ann, eve) => attachments.copy(ann, "a", eve, "b")), 1)
      assert.deepEqual([await names("users/1"), await names("users/2")], [["a"], ["b"]])
      assert.equal(await change((attachments, ann) => attachments.rename(ann, "a", "c")), 1)
      assert.deepEqual(await names("users/1"), ["c"])
      assert.equal(await change((attachments, ann, eve) => attachments.move(ann, "c", eve, "d")), 0)
      assert.deepEqual([await names("users/1"), await names("users/2")], [[], ["b", "d"]])
      const read = await store.openSession().advanced.attachments.get("users/2", "d")
      assert.deepEqual([...await buffer(read.data), read.details.contentType], [1, 2, "text/plain"])
      read.dispose()
      await assert.rejects(change((attachments, ann, eve) => attachments.rename(eve, "d", "b")), { name: "ConcurrencyException" })
      await assert.rejects(change((attachments, ann, eve) => attachments.copy(eve, "none", ann, "b")), { name: "AttachmentDoesNotExistException" })
      const counts = await store.maintenance.send(new client.GetStatisticsOperation())
      assert.deepEqual([counts.countOfAttachments, counts.countOfUniqueAttachments], [2, 1])
    }))

    it("are replaced only if the expected change vector matches", () => database(async store => {
      await withUser(store)
      // Both clients reject a change vector in PutAttachmentOperation before they send anything. Their batches accept
      // one.
      const replace = async (content, changeVector) => {
        const session = store.openSession()
        session.advanced.defer(new client.PutAttachmentCommandData("users/1", "a", Buffer.from(content), "text/plain", changeVector))
        await session.saveChanges()
      }
      await replace("1", "")
      await assert.rejects(replace("2", ""), { name: "ConcurrencyException" })
      const read = await store.openSession().advanced.attachments.get("users/1", "a")
      read.dispose()
      await replace("2", read.details.changeVector)
      await assert.rejects(replace("3", read.details.changeVector), { name: "ConcurrencyException" })
    }))

    it("need a document, and are deleted with it", () => database(async store => {
      await assert.rejects(put(store, "a", Buffer.from("1"), "text/plain"), { name: "DocumentDoesNotExistException" })
      await withUser(store)
      await put(store, "a", Buffer.from("1"), "text/plain")
      const session = store.openSession()
      await session.delete("users/1")
      await session.saveChanges()
      assert.equal((await store.maintenance.send(new client.GetStatisticsOperation())).countOfAttachments, 0)
    }))
  })
}
