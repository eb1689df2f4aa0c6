import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, collect, withDatabase } from "../clients.mjs"

/** Selections: fields, objects, functions and loaded documents. */
export function projections(client, url) {
  const database = work => withDatabase(client, url(), "projections", async store => {
    const session = store.openSession()
    await session.store(new User({ first: "Ann", last: "Lee", age: 31, friendId: "users/2", tags: [{ id: "x" }, { id: "y" }] }), "users/1")
    await session.store(new User({ first: "Bob", last: "Ray", age: 20, friendId: "users/1", tags: [] }), "users/2")
    await session.store(new Order({ company: "companies/1", lines: [{ product: "products/1", quantity: 2, price: 1.5 }, { product: "products/2", quantity: 1, price: 4 }] }), "orders/1")
    await session.store({ name: "Acme", "@metadata": { "@collection": "Companies" } }, "companies/1")
    await session.store({ name: "Pen", "@metadata": { "@collection": "Products" } }, "products/1")
    await session.store({ name: "Ink", "@metadata": { "@collection": "Products" } }, "products/2")
    await session.saveChanges()
    await work(text => store.openSession().advanced.rawQuery(text), store)
  })
  class Row {}
  const plain = rows => rows.map(({ "@metadata": metadata, __PROJECTED_NESTED_OBJECT_TYPES__, ...row }) => {
    assert.ok(metadata === undefined || metadata["@projection"])
    return row
  })

  describe("selections", () => {
    it("of fields return objects of the requested class, or the values of a single field", () => database(async (_, store) => {
      const rows = await store.openSession().query({ collection: "Users" }).orderBy("age", "Long").selectFields(["first", "age"], Row).all()
      assert.ok(rows[0] instanceof Row)
      assert.deepEqual(plain(rows), [{ first: "Bob", age: 20 }, { first: "Ann", age: 31 }])
      assert.deepEqual(await store.openSession().query({ collection: "Users" }).orderBy("age", "Long").selectFields("first").all(), ["Bob", "Ann"])
      const renamed = await store.openSession().query({ collection: "Users" }).whereEquals("age", 20)
        .selectFields(new client.QueryData(["first", "friendId"], ["name", "friend"]), Row).all()
      assert.deepEqual(plain(renamed), [{ name: "Bob", friend: "users/1" }])
    }))

    it("of a script that the client's query builder writes return its objects", () => database(async (_, store) => {
      const script = client.QueryData.customFunction("u", "{ name: u.first + ' ' + u.last, tags: u.tags.map(t => t.id) }")
      const rows = await store.openSession().query({ collection: "Users" }).orderByDescending("age", "Long").selectFields(script, Row).all()
      assert.deepEqual(plain(rows), [{ name: "Ann Lee", tags: ["x", "y"] }, { name: "Bob Ray", tags: [] }])
    }))

    it("of a script that loads documents return their members", () => database(async raw => {
      const rows = await raw("from Users as u where u.age > $age order by u.first select { name: u.first, friend: load(u.friendId).first, id: id(u) }")
        .addParameter("age", 1).all()
      assert.deepEqual(plain(rows), [{ name: "Ann", friend: "Bob", id: "users/1" }, { name: "Bob", friend: "Ann", id: "users/2" }])
      const loaded = await raw(`
        from Orders as o
        load o.company as c, o.lines[].product as p[]
        select {
          company: c.name,
          products: p.map(x => x.name),
          total: o.lines.reduce((sum, l) => sum + l.quantity * l.price, 0)
        }`).all()
      assert.deepEqual(plain(loaded), [{ company: "Acme", products: ["Pen", "Ink"], total: 7 }])
      assert.deepEqual(plain(await raw("from Orders as o load o.company as c select c.name as company, o.lines[].quantity as q").all()), [{ company: "Acme", q: [2, 1] }])
    }))

    it("of a declared function return its results", () => database(async raw => {
      const rows = await raw(`
        declare function describe(u, greeting) {
          const old = u.age > 30;
          return { text: greeting + " " + u.first, old, by: $by };
        }
        from Users as u order by u.age as long select describe(u, $greeting)`).addParameter("greeting", "Hi").addParameter("by", [1]).all()
      assert.deepEqual(plain(rows), [{ text: "Hi Bob", old: false, by: [1] }, { text: "Hi Ann", old: true, by: [1] }])
    }))

    it("are streamed", () => database(async (raw, store) => {
      const stream = await store.openSession().advanced.stream(raw("from Users as u order by u.age as long select { name: u.first, friend: load(u.friendId).first }"))
      assert.deepEqual(plain((await collect(stream)).map(item => item.document)), [{ name: "Bob", friend: "Ann" }, { name: "Ann", friend: "Bob" }])
    }))

    it("are refused with the reason if they use unsupported syntax or do not end", () => database(async raw => {
      await assert.rejects(raw("from Users as u select { at: new Date() }").all(), /'new Date\(\)' outside of patches[^]*line 1, column 30/i)
      await assert.rejects(raw("declare function f(u) { while (true) { } } from Users as u select f(u)").all(), /more steps/)
      await assert.rejects(raw("declare function f(u) { with (u) { } } from Users as u select f(u)").all(), /'with'/)
      await assert.rejects(raw("declare function f(u) { return f(u) } from Users as u select f(u)").all(), /users\/1.*deeper than 100/)
    }))
  })
}
