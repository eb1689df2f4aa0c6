import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, collect, withDatabase, within } from "../clients.mjs"

const maxWaitMilliseconds = 60_000

/** Indexes that are defined as classes, and the queries that name them. */
export function staticIndexes(client, url) {
  class Users_ByName extends client.AbstractJavaScriptIndexCreationTask {
    constructor() {
      super()
      const { load } = this.mapUtils()
      this.map("Users", u => ({ name: u.first.toLowerCase(), text: [u.first, u.bio], age: u.age, city: load(u.company, "Companies").city }))
      this.index("text", "Search")
      this.store("name", "Yes")
      this.suggestion("text")
    }
  }

  class Orders_ByLine extends client.AbstractCsharpIndexCreationTask {
    constructor() {
      super()
      this.map = "from o in docs.Orders from l in o.lines select new { product = l.product, total = l.quantity * l.price, buyer = o.buyer }"
      this.store("product", "Yes")
      this.store("total", "Yes")
    }
  }

  class Products_Sold extends client.AbstractJavaScriptIndexCreationTask {
    constructor() {
      super()
      this.map("Orders", o => o.lines.map(l => ({ product: l.product, count: 1, total: l.quantity * l.price })))
      this.reduce(rows => rows.groupBy(r => r.product).aggregate(g => ({
        product: g.key,
        count: g.values.reduce((n, v) => n + v.count, 0),
        total: g.values.reduce((n, v) => n + v.total, 0),
      })))
    }
  }

  class Cities_Count extends client.AbstractCsharpIndexCreationTask {
    constructor() {
      super()
      this.map = "docs.Users.Select(u => new { city = LoadDocument(u.company, \"Companies\").city, count = 1 })"
      this.reduce = "results.GroupBy(r => r.city).Select(g => new { city = g.Key, count = g.Sum(x => x.count) })"
    }
  }

  class Row {}
  const plain = rows => rows.map(({ "@metadata": metadata, __PROJECTED_NESTED_OBJECT_TYPES__, ...row }) => row)

  const database = work => withDatabase(client, url(), "static", async store => {
    for (const index of [new Users_ByName(), new Orders_ByLine(), new Products_Sold(), new Cities_Count()]) {
      await index.execute(store)
    }

    const session = store.openSession()
    await session.store({ city: "Ulm", "@metadata": { "@collection": "Companies" } }, "companies/1")
    await session.store({ city: "Bonn", "@metadata": { "@collection": "Companies" } }, "companies/2")
    await session.store(new User({ first: "Ann", bio: "fishes in big rivers", age: 31, company: "companies/1" }), "users/1")
    await session.store(new User({ first: "Bob", bio: "a river of fish, fish and fish", age: 19, company: "companies/2" }), "users/2")
    await session.store(new User({ first: "Cid", bio: "hunts moons", age: 45, company: "companies/1" }), "users/3")
    await session.store(new Order({ buyer: "users/1", lines: [{ product: "nuts", quantity: 2, price: 3 }, { product: "bolts", quantity: 1, price: 5 }] }), "orders/1")
    await session.store(new Order({ buyer: "users/2", lines: [{ product: "nuts", quantity: 10, price: 2.5 }, { product: "nuts", quantity: 1, price: 1 }] }), "orders/2")
    await session.saveChanges()
    await work(store, (index, type) => store.openSession().query({ index, documentType: type }).waitForNonStaleResults(maxWaitMilliseconds))
  })

  describe("static indexes", () => {
    it("answer by computed fields, words and loaded documents", () => database(async (_, query) => {
      const names = async request => (await request.all()).map(user => user.first).join()
      assert.equal(await names(query(Users_ByName, User).whereEquals("name", "ann")), "Ann")
      assert.equal(await names(query(Users_ByName, User).whereEquals("city", "ulm").orderByDescending("age", "Long")), "Cid,Ann")
      assert.equal(await names(query(Users_ByName, User).search("text", "fish")), "Bob")
      assert.equal(await names(query(Users_ByName, User).whereGreaterThan("age", 20).orderBy("name")), "Ann,Cid")
      assert.equal(await names(query(Users_ByName, User).whereEquals("id()", "users/2")), "Bob")
    }))

    it("are updated when a document or one that it loads changes", () => database(async (store, query) => {
      assert.equal(await query(Users_ByName, User).whereEquals("city", "Ulm").count(), 2)
      const session = store.openSession()
      const company = await session.load("companies/1")
      company.city = "Jena"
      await session.saveChanges()
      assert.equal(await query(Users_ByName, User).whereEquals("city", "Jena").count(), 2)
      assert.equal(await query(Users_ByName, User).whereEquals("city", "Ulm").count(), 0)
    }))

    it("return a document once, however many entries it has, but each entry if stored fields are selected", () => database(async (_, query) => {
      let statistics
      const orders = await query(Orders_ByLine, Order).whereEquals("product", "nuts").statistics(found => { statistics = found }).all()
      assert.deepEqual(orders.map(order => order.id), ["orders/1", "orders/2"])
      assert.equal(statistics.totalResults, 2)
      assert.equal(statistics.indexName, "Orders/ByLine")
      assert.equal(statistics.isStale, false)
      const lines = await query(Orders_ByLine).whereEquals("product", "nuts").orderBy("total", "Double").selectFields(["product", "total", "buyer"], Row).all()
      assert.deepEqual(plain(lines), [{ product: "nuts", total: 1, buyer: "users/2" }, { product: "nuts", total: 6, buyer: "users/1" }, { product: "nuts", total: 25, buyer: "users/2" }])
    }))

    it("return a document for each entry if the query skips the check of duplicates", () => database(async (_, query) => {
      const orders = await query(Orders_ByLine, Order).whereEquals("product", "nuts").on("beforeQueryExecuted", asked => { asked.skipDuplicateChecking = true }).all()
      assert.deepEqual(orders.map(order => order.id).sort(), ["orders/1", "orders/2", "orders/2"])
    }))

    it("order by boosted fields, index missing fields as null, and call additional sources", () => withDatabase(client, url(), "static", async store => {
      class Users_Boosted extends client.AbstractCsharpIndexCreationTask {
        constructor() {
          super()
          this.map = "from u in docs.Users select new { first = u.first.Boost(10), u.bio, u.city }"
          this.configuration = { "Indexing.IndexMissingFieldsAsNull": "true" }
        }
      }
      class Users_Titled extends client.AbstractJavaScriptIndexCreationTask {
        constructor() {
          super()
          const { boost, noTracking } = { boost: value => value, noTracking: { load: () => ({}) } } // names of the sent text
          function title(name) {
            return "Dr. " + name
          }
          this.map("Users", u => ({ name: boost(title(u.first), 2), friend: noTracking.load(u.friend, "Users").first }))
          this.addSource("titles", title)
        }
      }
      await new Users_Boosted().execute(store)
      await new Users_Titled().execute(store)
      const session = store.openSession()
      await session.store(new User({ first: "Ann", bio: "Bob" }), "users/1")
      await session.store(new User({ first: "Bob", bio: "Ann", city: "Ulm", friend: "users/1" }), "users/2")
      await session.saveChanges()
      const found = async (index, conditions) => (await conditions(store.openSession().query({ index, documentType: User }).waitForNonStaleResults(maxWaitMilliseconds)).all()).map(user => user.id).join()
      assert.equal(await found(Users_Boosted, q => q.whereEquals("bio", "bob").orElse().whereEquals("first", "bob")), "users/2,users/1")
      assert.equal(await found(Users_Boosted, q => q.whereEquals("city", null)), "users/1")
      assert.equal(await found(Users_Titled, q => q.whereEquals("name", "dr. bob").andAlso().whereEquals("friend", "ann")), "users/2")
      const stored = await store.maintenance.send(new client.GetIndexOperation("Users/Titled"))
      assert.match(stored.additionalSources.titles, /function title/)
      assert.deepEqual(await store.maintenance.send(new client.GetTermsOperation("Users/Boosted", "none", null, 10)), [])
    }))

    it("reduce, and answer with the reduced rows", () => database(async (store, query) => {
      assert.deepEqual(plain(await query(Products_Sold, Row).all()), [{ product: "bolts", count: 1, total: 5 }, { product: "nuts", count: 3, total: 32 }])
      assert.deepEqual(plain(await query(Products_Sold, Row).whereGreaterThan("count", 1).all()), [{ product: "nuts", count: 3, total: 32 }])
      assert.deepEqual(plain(await query(Products_Sold, Row).orderByDescending("total", "Double").selectFields(["product"], Row).all()), [{ product: "nuts" }, { product: "bolts" }])
      assert.deepEqual(plain(await query(Cities_Count, Row).orderBy("city").all()), [{ city: "Bonn", count: 1 }, { city: "Ulm", count: 2 }])
      await store.operations.send(new client.DeleteByQueryOperation(new client.IndexQuery("from Orders where id() = 'orders/2'"))).then(operation => operation.waitForCompletion())
      assert.deepEqual(plain(await query(Products_Sold, Row).orderBy("product").all()), [{ product: "bolts", count: 1, total: 5 }, { product: "nuts", count: 1, total: 6 }])
    }))

    it("answer raw queries with scripts, filters and includes", () => database(async (store, query) => {
      await query(Users_ByName, User).all()
      await query(Products_Sold, Row).all()
      const raw = text => store.openSession().advanced.rawQuery(text, Row)
      assert.deepEqual(plain(await raw("from index 'Users/ByName' as u where u.age > 20 order by u.name select { who: u.first, city: load(u.company).city }").all()), [{ who: "Ann", city: "Ulm" }, { who: "Cid", city: "Ulm" }])
      assert.deepEqual(plain(await raw("from index 'Products/Sold' as p order by p.product select { each: p.total / p.count }").all()), [{ each: 5 }, { each: 32 / 3 }])
      assert.deepEqual(plain(await raw("from index 'Products/Sold' filter total > 10").all()), [{ product: "nuts", count: 3, total: 32 }])
      assert.equal((await raw("from index 'Users/ByName' where age > 1 filter bio = 'hunts moons'").all()).length, 1)
      const session = store.openSession()
      await session.advanced.rawQuery("from index 'Users/ByName' where name = 'bob' include company").all()
      assert.equal((await session.load("companies/2")).city, "Bonn")
      assert.equal(session.advanced.numberOfRequests, 1)
    }))

    it("are paged with statistics and streamed", () => database(async (store, query) => {
      let statistics
      const page = await query(Users_ByName, User).orderBy("age", "Long").skip(1).take(1).statistics(found => { statistics = found }).all()
      assert.deepEqual([page.map(user => user.first), statistics.totalResults], [["Ann"], 3])
      const session = store.openSession()
      const streamed = await collect(await session.advanced.stream(session.query({ index: Users_ByName, documentType: User }).orderBy("name")))
      assert.deepEqual(streamed.map(item => item.document.first), ["Ann", "Bob", "Cid"])
      await query(Products_Sold, Row).all()
      const rows = await collect(await session.advanced.stream(session.query({ index: Products_Sold, documentType: Row })))
      assert.deepEqual(rows.map(item => item.document.product), ["bolts", "nuts"])
    }))

    it("count facets and suggest words", () => database(async (_, query) => {
      const { city } = await query(Users_ByName, User).aggregateBy(facet => facet.byField("city").sumOn("age")).execute()
      assert.deepEqual(city.values.map(({ range, count, sum }) => [range, count, sum]), [["bonn", 1, 19], ["ulm", 2, 76]])
      const { product } = await query(Orders_ByLine, Order).aggregateBy(facet => facet.byField("product")).execute()
      assert.deepEqual(product.values.map(({ range, count }) => [range, count]), [["bolts", 1], ["nuts", 3]])
      const { text } = await query(Users_ByName, User).suggestUsing(field => field.byField("text", "rivars")).execute()
      assert.deepEqual(text.suggestions, ["rivers", "river"])
    }))

    it("highlight the found words, and explain the scores", () => database(async (_, query) => {
      let highlights
      let explained
      await query(Users_ByName, User).search("text", "fish").highlight({ fieldName: "text", fragmentLength: 18, fragmentCount: 1, preTags: ["["], postTags: ["]"] }, shown => { highlights = shown })
        .includeExplanations(shown => { explained = shown }).all()
      assert.deepEqual(highlights.getFragments("users/2"), ["of [fish], [fish] and"])
      assert.match(explained.explanations["users/2"][0], /'fish' 3 times in 5 words/)
    }))

    it("are rebuilt while the old version answers when their definition changes", () => database(async (store, query) => {
      assert.equal(await query(Orders_ByLine, Order).whereEquals("product", "nuts").count(), 2)
      const changed = new Orders_ByLine()
      changed.map = changed.map.replace("buyer = o.buyer", "buyer = o.buyer, many = l.quantity > 1")
      await changed.execute(store)
      const countMany = () => query(Orders_ByLine, Order).whereEquals("many", true).count().catch(refused => refused.message)
      const startedAt = Date.now()
      let many
      while ((many = await countMany()) !== 2) {
        assert.match(String(many), /has no field 'many'/)
        assert.ok(Date.now() - startedAt < maxWaitMilliseconds, "the new definition does not answer in time")
        await within(1000, new Promise(resolve => setTimeout(resolve, 50)), "the end of a pause")
      }
    }))

    it("answer directly after a reset", () => database(async (store, query) => {
      await query(Users_ByName, User).all()
      await store.maintenance.send(new client.ResetIndexOperation("Users/ByName"))
      const terms = await store.maintenance.send(new client.GetTermsOperation("Users/ByName", "city", null, 10))
      assert.ok(Array.isArray(terms))
      assert.ok((await query(Users_ByName, User).all()).length > 0)
    }))

    it("change and delete documents by query", () => database(async (store, query) => {
      await query(Users_ByName, User).all()
      await (await store.operations.send(new client.PatchByQueryOperation("from index 'Users/ByName' where city = 'Ulm' update { this.seen = true }"))).waitForCompletion()
      assert.deepEqual([(await store.openSession().load("users/1")).seen, (await store.openSession().load("users/2")).seen], [true, undefined])
      await (await store.operations.send(new client.DeleteByQueryOperation("from index 'Orders/ByLine' where product = 'bolts'"))).waitForCompletion()
      assert.equal(await store.openSession().load("orders/1"), null)
      await assert.rejects(async () => (await store.operations.send(new client.DeleteByQueryOperation("from index 'Products/Sold'"))).waitForCompletion(), /reduced rows/)
    }))

    it("refuse unsupported queries and definitions with the reason and its position", () => database(async (store, query) => {
      const raw = text => store.openSession().advanced.rawQuery(text).all()
      await assert.rejects(query(Users_ByName, User).whereEquals("none", 1).all(), failed => failed.name === "InvalidQueryException" && /has no field 'none'. It has name, text, age, city/.test(failed.message))
      await assert.rejects(raw("from index 'Users/ByName' where search(name, 'a')"), /does not hold the words of 'name'[^]*\^/)
      await assert.rejects(raw("from index 'Users/ByName' group by name select name, count()"), /'group by' groups the documents of a collection/)
      await assert.rejects(raw("from index 'Products/Sold' where id() = 'a'"), /reduced rows, which have no id/)
      await assert.rejects(new (class Users_Bad extends client.AbstractCsharpIndexCreationTask {
        constructor() {
          super()
          this.map = "from u in docs.Users orderby u.name select new { u.name }"
        }
      })().execute(store), /line 1, column 22: This server does not run 'orderby' here/)
    }))
  })
}
