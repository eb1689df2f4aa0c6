import assert from "node:assert/strict"
import https from "node:https"
import { describe, it } from "node:test"
import { User, openStore, withDatabase, within } from "../clients.mjs"

/** As with RavenDB, a client authenticates by its certificate in the TLS handshake. */
export function secure(client, node) {
  describe("over TLS with a certificate", () => {
    for (const kind of ["pfx", "pem"]) {
      it(`sessions, bulk insert and changes work with a .${kind}`, () => withDatabase(client, node().url, "secure", async store => {
        const feed = store.changes()
        const change = new Promise(done => feed.forDocument("users/1").on("data", done))
        await within(60_000, feed.forAllDocuments().ensureSubscribedNow(), "confirmation")

        const session = store.openSession()
        await session.store(new User({ name: "ann" }), "users/1")
        await session.saveChanges()
        assert.equal((await store.openSession().load("users/1", User)).name, "ann")
        assert.equal((await within(60_000, change, "a change")).id, "users/1")
        feed.dispose()

        const bulk = store.bulkInsert()
        for (let i = 0; i < 100; i++) {
          await bulk.store(new User({ name: `u${i}` }), `bulk/${i}`)
        }

        await bulk.finish()
        assert.equal((await store.openSession().query({ collection: "Users" }).all()).length, 101)
      }, node().as("app")[kind]))
    }

    it("a read-only certificate can read its database and change nothing", () => withDatabase(client, node().url, "reader", async owner => {
      const writing = owner.openSession()
      await writing.store(new User({ name: "ann" }), "users/1")
      await writing.saveChanges()

      const store = openStore(client, node().url, "reader", node().as("reader").pfx)
      try {
        const session = store.openSession()
        assert.equal((await session.load("users/1", User)).name, "ann")
        await session.store(new User({ name: "bob" }), "users/2")
        await assert.rejects(session.saveChanges(), { name: "AuthorizationException", message: /needs the scope write in database 'reader'/ })
        await assert.rejects(store.maintenance.server.send(new client.CreateDatabaseOperation({ databaseName: "mine" })), /admin/)
      } finally {
        store.dispose()
      }

      const elsewhere = openStore(client, node().url, "secure", node().as("reader").pfx)
      await assert.rejects(elsewhere.openSession().load("users/1"), /in database 'secure'/)
      elsewhere.dispose()
    }, node().as("app").pfx))

    it("a token replaces the certificate, and a request without either is refused with advice", async () => {
      const { url, ca, token } = node()
      assert.equal((await get(`${url}/databases`, ca, token)).status, 200)
      const refused = await get(`${url}/databases`, ca)
      assert.equal(refused.status, 401)
      assert.match(JSON.parse(refused.body).Message, /rookery token create/)
    })

    it("the command line works from another machine", () => {
      const { remotely, scratch } = node()
      const created = remotely("token", "create", "ci", "--scope", "read", "--days", "1").trim()
      assert.match(created, /^rookery_[\w-]{43}$/)
      assert.match(remotely("token", "ls"), /^ci: read, until /m)
      remotely("token", "rm", "ci")
      assert.doesNotMatch(remotely("token", "ls"), /^ci:/m)
      const to = `${scratch}-${client.version}`
      assert.match(remotely("backup", "--to", to), /Backup complete/)
    })
  })
}

function get(url, ca, token) {
  return new Promise((done, failed) => {
    https.get(url, { ca, agent: false, headers: token ? { authorization: `Bearer ${token}` } : {} }, answer => {
      let body = ""
      answer.setEncoding("utf8").on("data", text => { body += text }).on("end", () => done({ status: answer.statusCode, body }))
    }).on("error", failed)
  })
}
