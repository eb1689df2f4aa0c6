import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

/** Revisions of documents: configured, forced, read, removed and restored. */
export function revisions(client, url) {
  const database = work => withDatabase(client, url(), "revisions", work)

  async function configure(store, settings = {}, collections = {}) {
    const configuration = new client.RevisionsConfiguration()
    const rule = fields => Object.assign(new client.RevisionsCollectionConfiguration(), { disabled: false, ...fields })
    configuration.defaultConfig = settings && rule(settings)
    configuration.collections = new Map(Object.entries(collections).map(([name, fields]) => [name, rule(fields)]))
    const result = await store.maintenance.send(new client.ConfigureRevisionsOperation(configuration))
    assert.ok(result.raftCommandIndex > 0)
  }

  async function save(store, name, id = "users/1") {
    const session = store.openSession()
    await session.store(new User({ name }), id)
    await session.saveChanges()
  }

  async function saveAll(store, names, id) {
    for (const name of names) {
      await save(store, name, id)
    }
  }

  const namesOf = async (store, id = "users/1", options) =>
    (await store.openSession().advanced.revisions.getFor(id, { documentType: User, ...options })).map(each => each.name)

  const countOf = async store => (await store.maintenance.send(new client.GetStatisticsOperation())).countOfRevisionDocuments

  const send = (method, path, body) =>
    fetch(`${url()}/databases/revisions/${path}`, { method, body: body && JSON.stringify(body) })

  async function complete(answer) {
    assert.equal(answer.status, 200, await answer.clone().text())
    return ended((await answer.json()).OperationId)
  }

  async function ended(id) {
    for (;;) {
      const state = await (await send("GET", `operations/state?id=${id}`)).json()
      if (state.Status !== "InProgress") {
        assert.equal(state.Status, "Completed", JSON.stringify(state))
        return state.Result
      }
    }
  }

  describe("revisions", () => {
    it("are kept of each version, and read newest first, in pages and as metadata", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b", "c", "d"])
      assert.deepEqual(await namesOf(store), ["d", "c", "b", "a"])
      assert.deepEqual(await namesOf(store, "users/1", { start: 1, pageSize: 2 }), ["c", "b"])
      assert.deepEqual(await namesOf(store, "users/2"), [])

      const session = store.openSession()
      const metadata = await session.advanced.revisions.getMetadataFor("users/1")
      assert.equal(metadata.length, 4)
      for (const each of metadata) {
        assert.match(each["@flags"], /HasRevisions, Revision/)
        assert.equal(each["@id"], "users/1")
        assert.equal(each["@collection"], "Users")
      }

      assert.match(session.advanced.getMetadataFor(await session.load("users/1", User))["@flags"], /HasRevisions/)
      assert.equal(await session.advanced.revisions.getCountFor("users/1"), 4)
      assert.equal(await countOf(store), 4)
      const page = await store.operations.send(new client.GetRevisionsOperation("users/1", { start: 0, pageSize: 3, documentType: User }))
      assert.equal(page.totalResults, 4)
      assert.deepEqual(page.results.map(each => each.name), ["d", "c", "b"])
    }))

    it("are found by change vector and by time", () => database(async store => {
      await configure(store)
      await save(store, "a")
      const between = new Date(Date.now() + 5)
      await new Promise(done => setTimeout(done, 30))
      await saveAll(store, ["b", "c"])
      const session = store.openSession()
      const changeVectors = (await session.advanced.revisions.getMetadataFor("users/1")).map(each => each["@change-vector"])
      assert.equal((await session.advanced.revisions.get(changeVectors[2], User)).name, "a")
      const several = await session.advanced.revisions.get([changeVectors[1], "A:999-none", changeVectors[0]], User)
      assert.equal(several[changeVectors[1]].name, "b")
      assert.equal(several[changeVectors[0]].name, "c")
      assert.equal(several["A:999-none"], null)
      assert.equal(await session.advanced.revisions.get("A:999-none"), null)

      assert.equal((await session.advanced.revisions.get("users/1", between, User)).name, "a")
      assert.equal((await session.advanced.revisions.get("users/1", new Date(Date.now() + 60000), User)).name, "c")
      assert.equal(await session.advanced.revisions.get("users/1", new Date(0), User), null)
    }))

    it("are read lazily, in one request", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b"])
      const session = store.openSession()
      const lazily = session.advanced.revisions.lazily
      const all = lazily.getFor("users/1", { documentType: User })
      const metadata = lazily.getMetadataFor("users/1")
      assert.deepEqual((await all.getValue()).map(each => each.name), ["b", "a"])
      const [newest] = await metadata.getValue()
      assert.equal(session.advanced.numberOfRequests, 1)
      assert.equal((await lazily.get(newest["@change-vector"], User).getValue()).name, "b")
    }))

    it("follow the rule of their collection", () => database(async store => {
      await configure(store, { minimumRevisionsToKeep: 2 }, { Users: { minimumRevisionsToKeep: 3, purgeOnDelete: true }, Orders: { disabled: true } })
      await saveAll(store, ["a", "b", "c", "d", "e"])
      assert.deepEqual(await namesOf(store), ["e", "d", "c"])
      const session = store.openSession()
      await session.store({ n: 1, "@metadata": { "@collection": "Orders" } }, "orders/1")
      await session.saveChanges()
      assert.deepEqual(await namesOf(store, "orders/1"), [])
      await session.delete("users/1")
      await session.saveChanges()
      assert.equal(await countOf(store), 0)

      const record = await store.maintenance.server.send(new client.GetDatabaseRecordOperation("revisions"))
      assert.equal(record.revisions.default.minimumRevisionsToKeep, 2)
      assert.equal((record.revisions.collections.Users ?? record.revisions.collections.users).purgeOnDelete, true)
    }))

    it("of a deleted document are found in the bin, and return with the document", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b"])
      const session = store.openSession()
      await session.delete("users/1")
      await session.saveChanges()
      const readBin = async () => {
        if (!client.GetRevisionsBinEntryCommand) { // the older client has no command for it
          return (await (await send("GET", "revisions/bin?start=0&pageSize=10")).json()).Results
        }

        const command = new client.GetRevisionsBinEntryCommand(store.conventions, 0, 10)
        await store.getRequestExecutor().execute(command)
        return command.result.results
      }

      const bin = await readBin()
      assert.equal(bin.length, 1)
      assert.equal(bin[0]["@metadata"]["@id"], "users/1")
      assert.match(bin[0]["@metadata"]["@flags"], /DeleteRevision/)
      const metadata = await store.openSession().advanced.revisions.getMetadataFor("users/1")
      assert.deepEqual(metadata.map(each => /DeleteRevision/.test(each["@flags"])), [true, false, false])

      await save(store, "c")
      assert.equal((await readBin()).length, 0)
      assert.equal(await store.openSession().advanced.revisions.getCountFor("users/1"), 4)
    }))

    it("are forced without a configuration", () => database(async store => {
      const session = store.openSession()
      const user = new User({ name: "a" })
      await session.store(user, "users/1")
      await session.saveChanges()
      session.advanced.revisions.forceRevisionCreationFor(user)
      await session.saveChanges()
      assert.deepEqual(await namesOf(store), ["a"])
      assert.match(session.advanced.getMetadataFor(user)["@flags"], /HasRevisions/)

      // Without a change since the last revision, none is created.
      session.advanced.revisions.forceRevisionCreationFor("users/1")
      await session.saveChanges()
      assert.deepEqual(await namesOf(store), ["a"])

      user.name = "b"
      await session.saveChanges()
      user.name = "c"
      session.advanced.revisions.forceRevisionCreationFor(user)
      await session.saveChanges()
      assert.deepEqual(await namesOf(store), ["b", "a"])

      const missing = store.openSession()
      missing.advanced.revisions.forceRevisionCreationFor("users/9")
      await assert.rejects(missing.saveChanges(), /not saved on the server yet/)
    }))

    it("come with the documents that name them, in loads and queries", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b"])
      await new Promise(done => setTimeout(done, 10))
      const time = new Date()
      await new Promise(done => setTimeout(done, 10))
      const [second, first] = (await store.openSession().advanced.revisions.getMetadataFor("users/1")).map(each => each["@change-vector"])
      const changing = store.openSession()
      const user = await changing.load("users/1", User)
      Object.assign(user, { name: "c", one: first, all: [first, second, "A:1-none"] })
      await changing.saveChanges()

      const byVector = store.openSession()
      const loaded = await byVector.load("users/1", { documentType: User, includes: builder => builder.includeRevisions("one").includeRevisions("all") })
      assert.equal((await byVector.advanced.revisions.get(loaded.one, User)).name, "a")
      assert.equal((await byVector.advanced.revisions.get(second, User)).name, "b")
      assert.equal(byVector.advanced.numberOfRequests, 1)

      const byTime = store.openSession()
      await byTime.load("users/1", { documentType: User, includes: builder => builder.includeRevisions(time) })
      assert.equal((await byTime.advanced.revisions.get("users/1", time, User)).name, "b")
      assert.equal(byTime.advanced.numberOfRequests, 1)

      const querying = store.openSession()
      await querying.query(User).include(builder => builder.includeRevisions("all").includeRevisions(time)).all()
      assert.equal((await querying.advanced.revisions.get(first, User)).name, "a")
      assert.equal((await querying.advanced.revisions.get("users/1", time, User)).name, "b")
      assert.equal(querying.advanced.numberOfRequests, 1)

      const raw = store.openSession()
      await raw.advanced.rawQuery("from Users include revisions($p0, $p1)").addParameter("p0", "one").addParameter("p1", "all").all()
      assert.equal((await raw.advanced.revisions.get(second, User)).name, "b")
      assert.equal(raw.advanced.numberOfRequests, 1)
    }))

    it("are removed by an operation, and the configuration is enforced", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b", "c", "d", "e"])
      const changeVectors = (await store.openSession().advanced.revisions.getMetadataFor("users/1")).map(each => each["@change-vector"])
      const deleted = await send("DELETE", "admin/revisions", { DocumentIds: ["users/1"], RevisionsChangeVectors: [changeVectors[1], "A:1-none"] })
      assert.deepEqual(await deleted.json(), { TotalDeletes: 1 })
      assert.deepEqual(await namesOf(store), ["e", "c", "b", "a"])

      await configure(store, { minimumRevisionsToKeep: 2 })
      if (client.EnforceRevisionsConfigurationOperation) {
        const { operationId } = await store.operations.send(new client.EnforceRevisionsConfigurationOperation())
        assert.equal((await ended(operationId)).RemovedRevisions, 2)
      } else {
        assert.equal((await complete(await send("POST", "admin/revisions/config/enforce"))).RemovedRevisions, 2)
      }

      assert.deepEqual(await namesOf(store), ["e", "c"])
    }))

    it("restore documents, one by one and to a time", () => database(async store => {
      await configure(store)
      await saveAll(store, ["a", "b"])
      await save(store, "x", "users/2")
      await new Promise(done => setTimeout(done, 20))
      const time = new Date()
      await new Promise(done => setTimeout(done, 20))
      await saveAll(store, ["c", "d"])
      await save(store, "new", "users/3")
      const deleting = store.openSession()
      await deleting.delete("users/2")
      await deleting.saveChanges()

      const changeVectors = (await store.openSession().advanced.revisions.getMetadataFor("users/1")).map(each => each["@change-vector"])
      assert.equal((await send("POST", "revisions/revert/docs", { IdToChangeVector: { "users/1": changeVectors[3] } })).status, 204)
      assert.equal((await store.openSession().load("users/1", User)).name, "a")
      const wrong = await send("POST", "revisions/revert/docs", { IdToChangeVector: { "users/3": changeVectors[3] } })
      assert.equal(wrong.status, 400, await wrong.text())

      const result = await complete(await send("POST", "revisions/revert", { Time: time.toISOString(), WindowInSec: 345600 }))
      assert.equal(result.RevertedDocuments, 2)
      assert.equal(result.SkippedDocuments, 1)
      const session = store.openSession()
      assert.equal((await session.load("users/1", User)).name, "b")
      assert.equal((await session.load("users/2", User)).name, "x")
      assert.equal((await session.load("users/3", User)).name, "new")
    }))
  })
}
