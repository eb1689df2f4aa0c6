import assert from "node:assert/strict"
import { describe, it } from "node:test"
import { Order, User, withDatabase, within } from "../clients.mjs"

const RETRY = 100

/** Data subscriptions, as the clients' documentation uses them. */
export function subscriptions(client, url) {
  const database = work => withDatabase(client, url(), "subscriptions", work)
  const put = async (store, ...documents) => {
    const session = store.openSession()
    for (const [entity, id] of documents) {
      await session.store(entity, id)
    }

    await session.saveChanges()
  }
  const users = (from, to) => Array.from({ length: to - from + 1 }, (_, i) => [new User({ name: `u${from + i}` }), `users/${from + i}`])

  /** Opens a worker that collects its items until `count` of them came; returns them. The worker acknowledges all batches. */
  async function collect(store, options, count, map = item => item.id) {
    const worker = open(store, options)
    try {
      return await items(worker, count, map)
    } finally {
      worker.dispose()
    }
  }

  const open = (store, options) =>
    store.subscriptions.getSubscriptionWorker({ timeToWaitBeforeConnectionRetry: RETRY, maxErroneousPeriod: 3_000, ...(typeof options === "string" ? { subscriptionName: options } : options) })

  function items(worker, count, map = item => item.id) {
    const got = []
    return within(10_000, new Promise((done, failed) => {
      worker.on("error", failed)
      worker.on("afterAcknowledgment", () => got.length >= count && done(got))
      worker.on("batch", (batch, processed) => {
        got.push(...batch.items.map(map))
        processed()
      })
    }), () => `${count} items, after ${got}`)
  }

  const failure = worker => within(10_000, new Promise((done, failed) => {
    worker.on("error", done)
    worker.on("batch", (_, processed) => processed())
    worker.on("end", () => failed(new Error("the worker ended without an error")))
  }), "an error")

  const established = worker => within(10_000, new Promise((done, failed) => {
    worker.on("error", failed)
    worker.on("onEstablishedSubscriptionConnection", done)
    worker.on("batch", (_, processed) => processed())
  }), "a connection")

  describe("the definitions of subscriptions", () => {
    it("are created, listed, read, and deleted", () => database(async store => {
      const unnamed = await store.subscriptions.create(User)
      assert.equal(await store.subscriptions.create({ name: "Mine", query: "from Orders where total > 5" }), "Mine")
      const list = await store.subscriptions.getSubscriptions(0, 10)
      assert.deepEqual(list.map(state => state.subscriptionName).sort(), [unnamed, "Mine"].sort())
      const state = await store.subscriptions.getSubscriptionState("mine")
      assert.equal(state.query, "from Orders where total > 5")
      assert.equal(state.changeVectorForNextBatchStartingPoint, null)
      assert.equal(state.disabled, false)
      assert.equal((await store.subscriptions.getSubscriptions(1, 5)).length, 1)
      await store.subscriptions.delete("Mine")
      await assert.rejects(store.subscriptions.getSubscriptionState("Mine"), error => error.name === "SubscriptionDoesNotExistException")
    }))

    it("are updated, and refused by name where they are not supported", () => database(async store => {
      await store.subscriptions.create({ name: "s", query: "from Users" })
      await store.subscriptions.update({ name: "s", query: "from Users where name = 'b'" })
      assert.equal((await store.subscriptions.getSubscriptionState("s")).query, "from Users where name = 'b'")
      await assert.rejects(store.subscriptions.update({ name: "none", query: "from Users" }), /There is no subscription 'none'/)
      await store.subscriptions.update({ name: "none", query: "from Users", createNew: true })
      await assert.rejects(store.subscriptions.create({ name: "s", query: "from Users" }), /already/)
      await assert.rejects(store.subscriptions.create({ query: "from Users order by name" }), /'order by' is not supported/)
      await assert.rejects(store.subscriptions.create({ query: "from Users", mentorNode: "Q" }), /'MentorNode' is 'Q'/)
    }))
  })

  describe("subscriptions", () => {
    it("send what is stored before and after the worker connects, and resume after the last acknowledgement", () => database(async store => {
      await put(store, ...users(1, 3), [new Order(), "orders/1"])
      const name = await store.subscriptions.create(User)
      const worker = open(store, { subscriptionName: name, documentType: User })
      const first = items(worker, 5, item => `${item.id} ${item.result.name} ${item.result.constructor.name}`)
      await established(worker)
      await put(store, ...users(4, 5))
      assert.deepEqual(await first, [1, 2, 3, 4, 5].map(i => `users/${i} u${i} User`))
      worker.dispose()
      await put(store, ...users(6, 7))
      assert.deepEqual(await collect(store, name, 2), ["users/6", "users/7"])
      const state = await store.subscriptions.getSubscriptionState(name)
      assert.match(state.changeVectorForNextBatchStartingPoint, /^A:\d+-/)
      assert.ok(state.lastBatchAckTime)
    }))

    it("send revisions with the ones before them", () => database(async store => {
      const { ConfigureRevisionsOperation, RevisionsCollectionConfiguration, RevisionsConfiguration } = client
      const configuration = new RevisionsConfiguration()
      configuration.defaultConfig = Object.assign(new RevisionsCollectionConfiguration(), { disabled: false })
      await store.maintenance.send(new ConfigureRevisionsOperation(configuration))
      const name = await store.subscriptions.createForRevisions({ documentType: User })
      await put(store, ...users(1, 2))
      await put(store, [new User({ name: "later" }), "users/1"])
      const worker = store.subscriptions.getSubscriptionWorkerForRevisions({ subscriptionName: name, documentType: User })
      const pair = ({ id, result }) => `${id} ${result.current.name} ${result.previous?.name}`
      try {
        assert.deepEqual(await items(worker, 3, pair), ["users/1 u1 undefined", "users/2 u2 undefined", "users/1 later u1"])
      } finally {
        worker.dispose()
      }
    }))

    it("send batches of the size that the worker asks for", () => database(async store => {
      await put(store, ...users(1, 10))
      const name = await store.subscriptions.create(User)
      const worker = open(store, { subscriptionName: name, maxDocsPerBatch: 4 })
      const sizes = []
      await within(10_000, new Promise((done, failed) => {
        worker.on("error", failed)
        worker.on("batch", (batch, processed) => {
          sizes.push(batch.getNumberOfItemsInBatch())
          processed()
          if (sizes.reduce((sum, size) => sum + size) === 10) done()
        })
      }), "ten")
      worker.dispose()
      assert.deepEqual(sizes, [4, 4, 2])
    }))

    it("send a document again that changes while its batch is out", () => database(async store => {
      await put(store, ...users(1, 1))
      const name = await store.subscriptions.create(User)
      const worker = open(store, name)
      const names = []
      const two = new Promise((done, failed) => {
        worker.on("error", failed)
        worker.on("batch", async (batch, processed) => {
          names.push(...batch.items.map(item => item.result.name))
          if (names.length === 1) {
            await put(store, [new User({ name: "changed" }), "users/1"])
          }

          processed()
          if (names.length === 2) done()
        })
      })
      await within(10_000, two, "two versions")
      worker.dispose()
      assert.deepEqual(names, ["u1", "changed"])
    }))

    it("begin after the last document, or after a change vector", () => database(async store => {
      await put(store, ...users(1, 2))
      const session = store.openSession()
      const vector = session.advanced.getChangeVectorFor(await session.load("users/1"))
      const later = await store.subscriptions.create({ query: "from Users", changeVector: "LastDocument" })
      const after = await store.subscriptions.create({ query: "from Users", changeVector: vector })
      await assert.rejects(store.subscriptions.create({ query: "from Users", changeVector: "A:1-other" }), /'ChangeVector'/)
      await put(store, ...users(3, 3))
      assert.deepEqual(await collect(store, later, 1), ["users/3"])
      assert.deepEqual(await collect(store, after, 2), ["users/2", "users/3"])
      await store.subscriptions.update({ name: after, changeVector: "BeginningOfTime" })
      assert.deepEqual(await collect(store, after, 3), ["users/1", "users/2", "users/3"])
    }))

    it("filter by conditions and declared functions, and project", () => database(async store => {
      await put(store,
        [new Order({ total: 10, lines: [{ price: 1 }, { price: 2 }] }), "orders/1"],
        [new Order({ total: 20, lines: [{ price: 30 }] }), "orders/2"],
        [new Order({ total: 30, lines: [] }), "orders/3"])
      const plain = await store.subscriptions.create({ query: "from Orders as o where o.total > 10 and not exists(o.missing)" })
      assert.deepEqual(await collect(store, plain, 2), ["orders/2", "orders/3"])
      const summed = await store.subscriptions.create({
        query: `declare function sum(o) { var total = 0; for (var i = 0; i < o.lines.length; i++) { total += o.lines[i].price } return total; }
          from Orders as o where sum(o) > 2 and o.total < 100 select { total: o.total, sum: sum(o), id: id(o) }`,
      })
      const rows = await collect(store, summed, 2, item => ({ ...item.rawResult, "@metadata": undefined, id: item.id }))
      assert.deepEqual(rows.map(({ id, total, sum }) => [id, total, sum]), [["orders/1", 10, 3], ["orders/2", 20, 30]])
      const called = await store.subscriptions.create({ query: "declare function predicate() { return this.total === 30 } from 'Orders' as doc where predicate.call(doc)" })
      assert.deepEqual(await collect(store, called, 1), ["orders/3"])
    }))

    it("report a document on which the script fails, and go on", () => database(async store => {
      await put(store, [new Order({ lines: [] }), "orders/1"], [new Order({ lines: null }), "orders/2"])
      const name = await store.subscriptions.create({ query: "declare function count(o) { if (o.lines === null) { throw 'no lines' } return o.lines.length } from Orders as o select { n: count(o) }" })
      const got = await collect(store, name, 2, item => item.exceptionMessage ? `${item.id} fails` : `${item.id} ${item.result.n}`)
      assert.deepEqual(got, ["orders/1 0", "orders/2 fails"])
    }))

    it("include documents and counters in the batch", () => database(async store => {
      await put(store, [new User({ name: "boss" }), "users/boss"], [new Order({ owner: "users/boss" }), "orders/1"])
      const session = store.openSession()
      session.countersFor("orders/1").increment("likes", 3)
      await session.saveChanges()
      const name = await store.subscriptions.create({ documentType: Order, includes: builder => builder.includeDocuments("owner").includeCounter("likes") })
      const worker = open(store, { subscriptionName: name, documentType: Order })
      const loaded = await within(10_000, new Promise((done, failed) => {
        worker.on("error", failed)
        worker.on("batch", async (batch, processed) => {
          try {
            const inBatch = batch.openSession({ transactionMode: "SingleNode" })
            const order = await inBatch.load("orders/1", Order)
            const owner = await inBatch.load(order.owner, User)
            const likes = await inBatch.countersFor("orders/1").get("likes")
            done([owner.name, likes, inBatch.advanced.numberOfRequests])
          } catch (error) {
            failed(error)
          }

          processed()
        })
      }), "a batch")
      worker.dispose()
      assert.deepEqual(loaded, ["boss", 3, 0])
    }))

    it("belong to one worker, unless another one takes over or waits", () => database(async store => {
      const name = await store.subscriptions.create(User)
      const first = open(store, name)
      await established(first)
      const second = open(store, name)
      assert.equal((await failure(second)).name, "SubscriptionInUseException")

      const waiting = open(store, { subscriptionName: name, strategy: "WaitForFree" })
      const waited = established(waiting)
      const displaced = failure(first)
      const taking = open(store, { subscriptionName: name, strategy: "TakeOver" })
      const taken = established(taking)
      assert.equal((await displaced).name, "SubscriptionInUseException")
      await taken
      taking.dispose()
      await waited
      await put(store, ...users(1, 1))
      waiting.dispose()
    }))

    it("share the documents among concurrent workers", () => database(async store => {
      await put(store, ...users(1, 40))
      const name = await store.subscriptions.create(User)
      const got = []
      const workers = [1, 2].map(() => open(store, { subscriptionName: name, strategy: "Concurrent", maxDocsPerBatch: 3 }))
      await within(10_000, new Promise((done, failed) => {
        for (const [index, worker] of workers.entries()) {
          worker.on("error", failed)
          worker.on("batch", (batch, processed) => {
            got.push(...batch.items.map(item => [index, item.id]))
            setTimeout(processed, 20)
            if (got.length >= 40) done()
          })
        }
      }), "all")
      assert.equal(new Set(got.map(([, id]) => id)).size, 40)
      assert.equal(got.length, 40)
      assert.equal(new Set(got.map(([index]) => index)).size, 2)
      const alone = open(store, name)
      assert.equal((await failure(alone)).name, "SubscriptionInUseException")
      workers.forEach(worker => worker.dispose())
    }))

    it("end when they are dropped, disabled or deleted, and not when they are changed", () => database(async store => {
      const name = await store.subscriptions.create(User)
      let worker = open(store, name)
      let ended = failure(worker)
      await established(worker)
      await store.subscriptions.dropConnection(name)
      assert.equal((await ended).name, "SubscriptionClosedException")

      worker = open(store, name)
      await established(worker)
      const again = within(10_000, new Promise(done => worker.on("connectionRetry", done)), "a retry")
      await store.subscriptions.update({ name, query: "from Users where name != 'nobody'" })
      assert.equal((await again).name, "SubscriptionClosedException")
      ended = failure(worker)
      await new Promise(done => setTimeout(done, 3 * RETRY))
      await store.subscriptions.disable(name)
      assert.equal((await ended).name, "SubscriptionClosedException")
      assert.equal((await failure(open(store, name))).name, "SubscriptionClosedException")
      await store.subscriptions.enable(name)

      worker = open(store, name)
      ended = failure(worker)
      await established(worker)
      await store.subscriptions.delete(name)
      assert.equal((await ended).name, "SubscriptionDoesNotExistException")
      assert.equal((await failure(open(store, name))).name, "SubscriptionDoesNotExistException")
    }))

    it("end when no documents are left, if the worker asks for that", () => database(async store => {
      await put(store, ...users(1, 2))
      const name = await store.subscriptions.create(User)
      const worker = open(store, { subscriptionName: name, closeWhenNoDocsLeft: true })
      const got = []
      worker.on("batch", (batch, processed) => {
        got.push(...batch.items.map(item => item.id))
        processed()
      })
      assert.equal((await failure(worker)).name, "SubscriptionClosedException")
      assert.deepEqual(got, ["users/1", "users/2"])
    }))

    it("send a batch again that was not acknowledged", () => database(async store => {
      await put(store, ...users(1, 2))
      const name = await store.subscriptions.create(User)
      const worker = open(store, name)
      await within(10_000, new Promise(done => worker.on("batch", () => done())), "a batch")
      worker.dispose()
      assert.deepEqual(await collect(store, name, 2), ["users/1", "users/2"])
    }))
  })
}
