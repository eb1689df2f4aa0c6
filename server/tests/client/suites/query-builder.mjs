import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, collect, withDatabase } from "../clients.mjs"

const people = [
  { name: "Ann", age: 31, city: "Ulm", tags: ["red", "blue"], address: { street: "Main Street", number: 5 }, active: true },
  { name: "Bob", age: 19, city: "Ulm", tags: ["red"], address: { street: "Side Street", number: 12 }, active: false },
  { name: "Cid", age: 45, city: "Bonn", tags: [], address: null },
  { name: "dora", age: 7.5, city: "Bonn", tags: ["blue", "green"], address: { street: "Main Street", number: 100 }, active: true },
  { name: "Eve", age: null, city: "Kiel" },
]

const orders = [
  { company: "companies/1", total: 10, lines: [{ product: "nuts", quantity: 1 }, { product: "bolts", quantity: 2 }] },
  { company: "companies/2", total: 5.5, lines: [{ product: "nuts", quantity: 10 }] },
  { company: "companies/1", total: 20, lines: [{ product: "nails", quantity: 7 }] },
]

/** Queries with conditions, as the query builder and people write them. */
export function queryBuilder(client, url) {
  const database = work => withDatabase(client, url(), "builder", async store => {
    const session = store.openSession()
    for (const [i, person] of people.entries()) {
      await session.store(new User(person), `users/${i + 1}`)
    }

    for (const [i, order] of orders.entries()) {
      await session.store(new Order(order), `orders/${i + 1}`)
    }

    await session.saveChanges()
    await work(store, () => store.openSession().query({ collection: "Users" }), text => store.openSession().advanced.rawQuery(text))
  })
  const names = async query => (await query.all()).map(user => user.name).sort().join()

  describe("the query builder", () => {
    it("compares", () => database(async (_, users) => {
      assert.equal(await names(users().whereEquals("name", "ANN")), "Ann")
      assert.equal(await names(users().whereEquals("name", "ANN", true)), "")
      assert.equal(await names(users().whereEquals("name", "Ann", true)), "Ann")
      assert.equal(await names(users().whereNotEquals("city", "Ulm")), "Cid,Eve,dora")
      assert.equal(await names(users().whereGreaterThan("age", 19)), "Ann,Cid")
      assert.equal(await names(users().whereGreaterThanOrEqual("age", 19)), "Ann,Bob,Cid")
      assert.equal(await names(users().whereLessThan("age", 19)), "dora")
      assert.equal(await names(users().whereBetween("age", 7, 31)), "Ann,Bob,dora")
      assert.equal(await names(users().whereEquals("age", null)), "Eve")
      assert.equal(await names(users().whereEquals("active", true)), "Ann,dora")
      assert.equal(await names(users().whereEquals("address.street", "main street")), "Ann,dora")
    }))

    it("matches any or all of several values", () => database(async (_, users) => {
      assert.equal(await names(users().whereIn("name", ["ann", "DORA", "none"])), "Ann,dora")
      assert.equal(await names(users().whereIn("name", [])), "")
      assert.equal(await names(users().containsAny("tags", ["green", "red"])), "Ann,Bob,dora")
      assert.equal(await names(users().containsAll("tags", ["blue", "red"])), "Ann")
      assert.equal(await names(users().whereEquals("tags", "red")), "Ann,Bob")
    }))

    it("matches beginnings, ends and patterns of texts, and existing fields", () => database(async (_, users) => {
      assert.equal(await names(users().whereStartsWith("name", "d")), "dora")
      assert.equal(await names(users().whereEndsWith("name", "B")), "Bob")
      assert.equal(await names(users().whereRegex("name", "^[A-C]")), "Ann,Bob,Cid")
      assert.equal(await names(users().whereExists("active")), "Ann,Bob,dora")
    }))

    it("combines conditions", () => database(async (_, users) => {
      assert.equal(await names(users().whereEquals("city", "Ulm").andAlso().whereLessThan("age", 20)), "Bob")
      assert.equal(await names(users().whereEquals("name", "Ann").orElse().whereEquals("city", "Bonn").andAlso().whereGreaterThan("age", 20)), "Ann,Cid")
      assert.equal(await names(users().openSubclause().whereEquals("name", "Ann").orElse().whereEquals("city", "Bonn").closeSubclause().andAlso().whereGreaterThan("age", 40)), "Cid")
      assert.equal(await names(users().whereEquals("city", "Ulm").andAlso().not().whereEquals("name", "ann")), "Bob")
      assert.equal(await names(users().not().whereEquals("city", "Ulm")), "Cid,Eve,dora")
      assert.equal(await names(users().whereEquals("id()", "users/1").andAlso().whereEquals("city", "ulm")), "Ann")
      assert.equal(await names(users().whereStartsWith("id()", "users/").andAlso().whereEquals("city", "ulm")), "Ann,Bob")
    }))

    it("orders", () => database(async (_, users) => {
      const ordered = async query => (await query.all()).map(user => user.name).join()
      assert.equal(await ordered(users().orderBy("name")), "Ann,Bob,Cid,dora,Eve")
      assert.equal(await ordered(users().orderByDescending("name")), "Eve,dora,Cid,Bob,Ann")
      assert.equal(await ordered(users().whereExists("address.number").orderByDescending("address.number", "Long")), "dora,Bob,Ann")
      assert.equal(await ordered(users().orderBy("city").orderByDescending("age", "Double")), "Cid,dora,Eve,Ann,Bob")
      assert.equal(await ordered(users().orderBy("name").skip(1).take(2)), "Bob,Cid")
      assert.equal((await users().randomOrdering().all()).length, 5)
    }))

    it("counts, finds one, pages with statistics", () => database(async (_, users) => {
      assert.equal(await users().whereEquals("city", "Ulm").count(), 2)
      assert.equal(await users().whereEquals("city", "Rome").any(), false)
      assert.equal((await users().whereEquals("city", "Ulm").orderBy("age").first()).name, "Bob")
      assert.equal((await users().whereEquals("name", "Eve").single()).name, "Eve")
      await assert.rejects(users().whereEquals("city", "Ulm").single())
      let statistics
      const page = await users().whereNotEquals("name", "Ann").waitForNonStaleResults().statistics(found => { statistics = found }).orderBy("name").skip(1).take(2).all()
      assert.deepEqual(page.map(user => user.name), ["Cid", "dora"])
      assert.equal(statistics.totalResults, 4)
      assert.equal(statistics.skippedResults, 0)
      assert.equal(statistics.isStale, false)
    }))

    it("selects fields", () => database(async (_, users) => {
      const projected = await users().whereEquals("city", "Ulm").orderBy("name").selectFields(["name", "age"]).all()
      assert.deepEqual(projected.map(item => [item.name, item.age]), [["Ann", 31], ["Bob", 19]])
      const cities = await users().orderBy("city").selectFields(["city"]).distinct().all()
      assert.deepEqual(cities.map(item => item.city ?? item), ["Bonn", "Kiel", "Ulm"])
    }))

    it("groups", () => database(async store => {
      const orders = () => store.openSession().query({ collection: "Orders" }).groupBy("company").selectKey("company", "by")
      const sums = await orders().selectSum(new client.GroupByField("total", "sum")).all()
      assert.deepEqual(sums.map(group => [group.by, group.sum]).sort(), [["companies/1", 30], ["companies/2", 5.5]])
      const counts = await orders().selectCount().all()
      assert.deepEqual(counts.map(group => [group.by, group.count]).sort(), [["companies/1", 2], ["companies/2", 1]])
    }))

    it("streams what matches", () => database(async (store, users) => {
      const session = store.openSession()
      let statistics
      const items = await collect(await session.advanced.stream(session.query({ collection: "Users" }).whereEquals("city", "Ulm"), found => { statistics = found }))
      assert.deepEqual(items.map(item => item.document.name).sort(), ["Ann", "Bob"])
      assert.equal(statistics.totalResults, 2)
    }))

    it("queries lazily", () => database(async store => {
      const session = store.openSession()
      const ulm = session.query({ collection: "Users" }).whereEquals("city", "Ulm").lazily()
      const bonn = session.query({ collection: "Users" }).whereEquals("city", "Bonn").lazily()
      assert.equal((await ulm.getValue()).length, 2)
      assert.equal((await bonn.getValue()).length, 2)
      assert.equal(session.advanced.numberOfRequests, 1)
    }))
  })

  describe("queries written by hand", () => {
    it("group, sum and count elements of arrays", () => database(async (_, __, raw) => {
      const groups = await raw("from Orders group by lines[].product order by key() select key() as product, count() as n").all()
      assert.deepEqual(groups.map(group => [group.product, group.n]), [["bolts", 1], ["nails", 1], ["nuts", 2]])
      const totals = await raw("from Orders group by company order by sum(total) as double desc select company, sum(total) as total, min(total) as least, max(total) as most, avg(total) as mean").all()
      assert.deepEqual(totals.map(({ company, total, least, most, mean }) => [company, total, least, most, mean]),
        [["companies/1", 30, 10, 20, 15], ["companies/2", 5.5, 5.5, 5.5, 5.5]])
    }))

    it("select with aliases, nested paths and ids", () => database(async (_, __, raw) => {
      const rows = await raw("from Users as u where u.address.number > $n order by u.name select id(u) as key, u.address.street as street, u.tags as tags").addParameter("n", 10).all()
      assert.deepEqual(rows.map(({ key, street, tags }) => ({ key, street, tags })), [
        { key: "users/2", street: "Side Street", tags: ["red"] },
        { key: "users/4", street: "Main Street", tags: ["blue", "green"] },
      ])
    }))

    it("filter their results", () => database(async (_, __, raw) => {
      assert.equal(await names(raw("from Users where city = 'Ulm' filter age > 20")), "Ann")
    }))

    it("are refused with the position of the error", () => database(async (_, users, raw) => {
      await assert.rejects(raw("from Users where age > > 5").all(), failed => failed.name === "InvalidQueryException" && /\n {23}\^/.test(failed.message))
      await assert.rejects(raw("from Users where spatial.within(a, spatial.circle(1, 2, 3))").all(), /spatial\.within/)
      await assert.rejects(raw("from index 'Nobody/ByNothing'").all(), failed => failed.name === "IndexDoesNotExistException")
    }))
  })
}
