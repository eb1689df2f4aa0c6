import assert from "node:assert/strict"
import { Readable } from "node:stream"
import { describe, it } from "node:test"
import { User, withDatabase } from "../clients.mjs"

const maxWaitMilliseconds = 60_000

/** Indexes over counters, and maps that read what a document has beside its body. */
export function indexSources(client, url) {
  class Likes_ByUser extends client.AbstractRawJavaScriptCountersIndexCreationTask {
    constructor() {
      super()
      this.maps.add("counters.map('Users', 'Likes', function (counter) { return { likes: counter.Value, name: counter.Name, user: counter.DocumentId, first: load(counter.DocumentId, 'Users').first } })")
      this.fields = Object.fromEntries(["likes", "name", "user", "first"].map(name => [name, Object.assign(new client.IndexFieldOptions(), { storage: "Yes" })]))
    }
  }

  class Counters_Total extends client.AbstractCsharpCountersIndexCreationTask {
    constructor() {
      super()
      this.map = "from counter in counters.Users select new { name = counter.Name.ToLower(), total = counter.Value }"
      this._reduce = "from r in results group r by r.name into g select new { name = g.Key, total = g.Sum(x => x.total) }"
    }
  }

  class Users_ByCounter extends client.AbstractJavaScriptIndexCreationTask {
    constructor() {
      super()
      const counterNamesFor = () => {} // the name that the sent text of the function has
      this.map("Users", u => ({ counters: counterNamesFor(u) }))
    }
  }

  class Row {}
  const database = (indexes, work) => withDatabase(client, url(), "sources", async store => {
    for (const index of indexes) {
      await new index().execute(store)
    }

    const session = store.openSession()
    await session.store(new User({ first: "Ann" }), "users/1")
    await session.store(new User({ first: "Bob" }), "users/2")
    session.countersFor("users/1").increment("Likes", 5)
    session.countersFor("users/1").increment("Views", 100)
    session.countersFor("users/2").increment("likes", 7)
    session.advanced.waitForIndexesAfterSaveChanges({ timeout: maxWaitMilliseconds, throwOnTimeout: true })
    await session.saveChanges()
    await work(store, (index, type) => store.openSession().query({ index, documentType: type }).waitForNonStaleResults(maxWaitMilliseconds))
  })

  describe("sources of indexes", () => {
    it("index counters of documents, and follow their increments", () => database([Likes_ByUser, Counters_Total, Users_ByCounter], async (store, query) => {
      const likes = async () => (await query(Likes_ByUser, Row).orderBy("likes", "Long").selectFields(["likes", "user", "first"], Row).all()).map(row => `${row.user} ${row.first} ${row.likes}`)
      const totals = async () => Object.fromEntries((await query(Counters_Total, Row).all()).map(row => [row.name, row.total]))
      const named = async name => (await query(Users_ByCounter, User).whereEquals("counters", name).all()).map(user => user.first)
      assert.deepEqual(await likes(), ["users/1 Ann 5", "users/2 Bob 7"])
      assert.deepEqual(await totals(), { likes: 12, views: 100 })
      assert.deepEqual(await named("views"), ["Ann"])
      const rows = await query(Likes_ByUser, Row).orderBy("likes", "Long").all()
      assert.deepEqual(rows.map(row => [row.likes, row.name, row.user]), [[5, "Likes", "users/1"], [7, "likes", "users/2"]])

      const session = store.openSession()
      session.countersFor("users/1").increment("likes", 10)
      session.advanced.waitForIndexesAfterSaveChanges({ timeout: maxWaitMilliseconds, throwOnTimeout: true })
      await session.saveChanges()
      const found = store.openSession().query({ index: Likes_ByUser, documentType: User }).whereEquals("likes", 15)
      assert.deepEqual((await found.all()).map(user => user.first), ["Ann"], "the batch waited for the index")
      assert.deepEqual(await totals(), { likes: 22, views: 100 })

      const deleting = store.openSession()
      deleting.countersFor("users/2").delete("likes")
      await deleting.delete("users/1")
      await deleting.saveChanges()
      assert.deepEqual([await likes(), await totals(), await named("views")], [[], {}, []])
    }))

    it("say that their source are counters", () => database([Likes_ByUser], async store => {
      const definition = await store.maintenance.send(new client.GetIndexOperation("Likes/ByUser"))
      assert.equal(definition.sourceType, "Counters")
      await store.maintenance.send(new client.PutIndexesOperation(definition))
      const statistics = await store.maintenance.send(new client.GetStatisticsOperation())
      assert.deepEqual(statistics.indexes.map(index => index.sourceType ?? index.SourceType), ["Counters"])
    }))

    it("have fields that documents name", () => withDatabase(client, url(), "sources", async store => {
      class Products_ByAttribute extends client.AbstractJavaScriptIndexCreationTask {
        constructor() {
          super()
          const createField = () => {} // the name that the sent text of the function has
          this.map("Products", p => ({ price: p.price, _: p.attributes.map(a => createField(a.name, a.value, { indexing: a.words ? "Search" : "Exact", storage: true, termVector: null })) }))
        }
      }
      await new Products_ByAttribute().execute(store)
      const session = store.openSession()
      const put = (id, price, attributes) => session.store({ price, attributes, "@metadata": { "@collection": "Products" } }, id)
      await put("products/1", 10, [{ name: "Color", value: "Red" }, { name: "Size", value: 42 }])
      await put("products/2", 20, [{ name: "Color", value: "Blue" }, { name: "Size", value: 7 }, { name: "Text", value: "fishes in rivers", words: true }])
      await put("products/3", 30, [])
      await session.saveChanges()
      const found = async (clauses, values) => (await store.openSession().advanced.rawQuery(`from index 'Products/ByAttribute' ${clauses}`).addParameter("v", values).waitForNonStaleResults(maxWaitMilliseconds).all())
      const ids = async (clauses, values) => (await found(clauses, values)).map(product => product.id).join()
      assert.equal(await ids("where search(Text, $v)", "fishes"), "products/2")
      assert.equal(await ids("where Color = $v", "red"), "products/1")
      assert.equal(await ids("where exact(Color = $v)", "red"), "")
      assert.equal(await ids("where Size > $v order by Size as long desc", 5), "products/1,products/2")
      assert.equal(await ids("where Size < 10 and price > 5"), "products/2")
      assert.equal(await ids("where Weight = 3 or exists(Weight)"), "")
      assert.equal(await ids("where not exists(Color)"), "products/3")
      assert.deepEqual((await found("where exists(Size) order by price select Color, Size")).map(row => `${row.Color} ${row.Size}`), ["Red 42", "Blue 7"])
      await assert.rejects(found("where search(Color, $v)", "red"), /does not hold the words of 'Color'/)
      assert.deepEqual(await store.maintenance.send(new client.GetTermsOperation("Products/ByAttribute", "Color", null, 10)), ["blue", "red"])
      const changing = store.openSession()
      const product = await changing.load("products/1")
      product.attributes = [{ name: "Weight", value: 3 }]
      await changing.saveChanges()
      assert.equal(await ids("where Weight = 3"), "products/1")
      assert.equal(await ids("where Color = $v", "red"), "")
    }))

    it("read names, sizes and types of attachments, but not their contents", () => withDatabase(client, url(), "sources", async store => {
      const define = (name, map) => store.maintenance.send(new client.PutIndexesOperation(Object.assign(new client.IndexDefinition(), { name, maps: new Set([map]) })))
      await define("js", "map('Users', u => { const photo = loadAttachment(u, 'PHOTO.png'); return { names: attachmentsFor(u).map(a => a.Name), size: photo && photo.Size, type: photo && photo.ContentType, count: loadAttachments(u).length } })")
      await define("cs", "from u in docs.Users let photo = LoadAttachment(u, \"photo.png\") select new { names = AttachmentsFor(u).Select(a => a.Name), size = photo.Size, hash = photo.Hash }")
      await assert.rejects(define("contents", "map('Users', u => ({ text: loadAttachment(u, 'a').getContentAsString() }))"), /getContentAsString/)
      await assert.rejects(define("contents", "from u in docs.Users select new { text = LoadAttachment(u, \"a\").GetContentAsString() }"), /GetContentAsString/)
      const session = store.openSession()
      await session.store(new User({ first: "Ann" }), "users/1")
      await session.store(new User({ first: "Bob" }), "users/2")
      session.advanced.attachments.store("users/1", "photo.png", Readable.from([Buffer.from("12345")]), "image/png")
      session.advanced.attachments.store("users/1", "cv.txt", Readable.from([Buffer.from("123")]), "text/plain")
      await session.saveChanges()
      const found = async rql => (await store.openSession().advanced.rawQuery(rql, User).waitForNonStaleResults(maxWaitMilliseconds).all()).map(user => user.first)
      assert.deepEqual(await found("from index 'js' where names = 'cv.txt' and size = 5 and type = 'image/png' and count = 2"), ["Ann"])
      assert.deepEqual(await found("from index 'js' where size = null and count = 0"), ["Bob"])
      assert.deepEqual(await found("from index 'cs' where names = 'cv.txt' and size = 5 and exists(hash)"), ["Ann"])
      const deleting = store.openSession()
      deleting.advanced.attachments.delete("users/1", "photo.png")
      await deleting.saveChanges()
      assert.deepEqual(await found("from index 'js' where size = 5"), [])
      assert.deepEqual(await found("from index 'cs' where names = 'cv.txt' and not exists(size)"), ["Ann"])
    }))
  })
}
