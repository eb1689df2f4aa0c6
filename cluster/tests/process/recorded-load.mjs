// Clients of all nodes that write and read, and record requests and answers.
import { baseDocuments, baseText } from "./base-documents.mjs"
import { Chance } from "./chance.mjs"
import { ContendedDocuments } from "./contended-documents.mjs"
import { RedisRegisters } from "./redis-registers.mjs"
import { outcomeOf, Requests } from "./requests.mjs"

const registers = 6
const lists = 4
const thinkMilliseconds = 20

const foundVector = ({ text }) => /(?:has|exists with) the change vector '([^']*)'/.exec(text)?.[1] ?? ""
const etagOf = changeVector => changeVector ? Number(/^[A-Z]+:(\d+)/.exec(changeVector)[1]) : 0

/** The clients of a round: at each node, two that ask only this node; and three that choose a node at random each time. */
export class RecordedLoad {
  /** The ids, each written once, with their versions. */
  acknowledged = new Map()
  /** The operations on a few contended documents and lists, in the format of Rookery.Histories. */
  history = []
  #cluster
  #round
  #seed
  #registers
  #lists
  #door
  #version = 0
  #isRunning = true
  #clients

  constructor(cluster, database, round, seed) {
    this.#cluster = cluster
    this.#round = round
    this.#seed = seed
    this.requests = new Requests(cluster, database)
    this.#registers = new ContendedDocuments(`register/${round}`, registers, 150)
    this.#lists = new ContendedDocuments(`list/${round}`, lists, 200)
    if (cluster.connectToRedis) {
      this.#door = new RedisRegisters({ cluster, round, requests: this.requests, record: (...recorded) => this.#record(...recorded) })
    }
  }

  start() {
    this.#clients = Promise.all(Array.from({ length: 9 }, (_, client) => this.#work(client)))
    return this
  }

  /** Stops the clients, and reads the contended documents once more at every node. */
  async stop() {
    this.#isRunning = false
    await this.#clients
    for (const index of this.#cluster.members.keys()) {
      for (let first = 0; first < this.#registers.keys.length; first += 10) {
        await Promise.all(this.#registers.keys.slice(first, first + 10).map(async key => answered(await this.#read(100 + index, index, key), key)))
      }

      for (const key of this.#lists.keys) {
        answered(await this.#readLists(100 + index, index, [key]), key)
      }

      for (const key of this.#door?.keys ?? []) {
        answered(await this.#door.read(100 + index, index, key), key)
      }
    }

    this.#door?.close()
  }

  async #work(client) {
    const chance = new Chance(this.#seed + client)
    for (let turn = 0; this.#isRunning; turn++) {
      const index = client < 6 ? client % 3 : chance.between(0, this.#cluster.members.length - 1)
      await this.#writeOnce(index, `once/${this.#round}/${client}/${turn}`, chance)
      const key = this.#registers.key(chance.between(0, registers - 1))
      const found = await this.#read(client, index, key)
      if (turn % 2 === 0) {
        await this.#write(client, index, key)
      } else if (found?.value > 0) {
        await this.#compareAndSet(client, index, key, found)
      }

      await this.#door?.turn(client, index, chance)
      await this.#door?.turn(client, index, chance)
      const first = chance.between(0, lists - 1)
      await this.#append(client, index, [first, (first + chance.between(1, lists - 1)) % lists].map(number => this.#lists.key(number)))
      await this.#readBase(index, chance.between(0, baseDocuments - 1))
      await new Promise(done => setTimeout(done, thinkMilliseconds))
    }
  }

  async #writeOnce(index, id, chance) {
    const version = ++this.#version
    const body = JSON.stringify({ version, text: "rook".repeat(chance.between(0, 300)) })
    if ((await this.requests.ask(index, [201], "PUT", `docs?id=${id}`, { body })).status === 201) {
      this.acknowledged.set(id, version)
    }
  }

  /** Returns null when no answer came. */
  async #read(client, index, key) {
    const answer = await this.requests.ask(index, [200, 404], "GET", `docs?id=${key}`)
    if (answer.status !== 200 && answer.status !== 404) {
      return null
    }

    const found = answer.status === 200 ? JSON.parse(answer.text).Results[0] : null
    const changeVector = found?.["@metadata"]["@change-vector"]
    const read = this.#record(client, answer, { kind: "Get", outcome: "Done", key, value: found?.version ?? 0, etag: etagOf(changeVector) })
    return { ...read, changeVector }
  }

  async #write(client, index, key) {
    const value = ++this.#version
    const answer = await this.requests.ask(index, [201], "PUT", `docs?id=${key}`, { body: JSON.stringify({ version: value }) })
    this.#recordWrite(client, answer, { kind: "Put", key, value })
  }

  async #compareAndSet(client, index, key, { value: expected, changeVector }) {
    const value = ++this.#version
    const answer = await this.requests.ask(index, [201, 409], "PUT", `docs?id=${key}`, { body: JSON.stringify({ version: value }), headers: { "If-Match": `"${changeVector}"` } })
    if (answer.status === 409) {
      this.#sawConflict(answer, [{ key, changeVector }])
      this.#record(client, answer, { kind: "CompareAndSet", outcome: "Refused", key, value, expected, etag: etagOf(foundVector(answer)) })
    } else {
      // A write that was refused without a check is recorded like a refused put: its value must never be read.
      this.#recordWrite(client, answer, { kind: outcomeOf(answer) === "Refused" ? "Put" : "CompareAndSet", key, value, expected })
    }
  }

  /** Reads lists in one request; null when no answer came. */
  async #readLists(client, index, keys) {
    // A single missing id is answered 404, one of several with null.
    const answer = await this.requests.ask(index, keys.length === 1 ? [200, 404] : [200], "GET", `docs?${keys.map(key => `id=${key}`).join("&")}`)
    if (answer.status !== 200 && answer.status !== 404) {
      return null
    }

    const found = answer.status === 200 ? JSON.parse(answer.text).Results : []
    const reads = keys.map((key, n) => ({ key, elements: found[n]?.elements ?? [] }))
    this.#record(client, answer, { kind: "Transaction", outcome: "Done", reads })
    return reads.map((read, n) => ({ ...read, changeVector: found[n]?.["@metadata"]["@change-vector"] ?? "" }))
  }

  /** Appends to both lists, if neither has changed meanwhile. */
  async #append(client, index, keys) {
    const before = await this.#readLists(client, index, keys)
    if (before === null) {
      return
    }

    const element = ++this.#version
    const Commands = before.map(({ key, elements, changeVector }) => ({ Id: key, ChangeVector: changeVector, Type: "PUT", Document: { elements: [...elements, element] } }))
    const answer = await this.requests.ask(index, [201, 409], "POST", "bulk_docs", { body: JSON.stringify({ Commands }) })
    if (answer.status === 409) {
      this.#sawConflict(answer, before)
    }

    const outcome = outcomeOf(answer)
    this.#record(client, answer, {
      kind: "Transaction", outcome, etag: outcome === "Done" ? etagOf(JSON.parse(answer.text).Results.at(-1)["@change-vector"]) : 0,
      reads: before.map(({ key, elements }) => ({ key, elements })), appends: keys.map(key => ({ key, element })),
    })
  }

  async #readBase(index, number) {
    const answer = await this.requests.ask(index, [200], "GET", `docs?id=base/${number}`)
    if (answer.status === 200 && JSON.parse(answer.text).Results[0]?.text !== baseText(number)) {
      this.requests.wrong.push(`${answer.name} answered with something else for base/${number}: ${answer.text.slice(0, 200)}`)
    }
  }

  #recordWrite(client, answer, operation) {
    const outcome = outcomeOf(answer)
    this.#record(client, answer, { ...operation, outcome, etag: outcome === "Done" ? etagOf(JSON.parse(answer.text).ChangeVector) : 0 })
  }

  /** Adds an operation to the history. */
  #record(client, { invoked, completed }, operation) {
    this.history.push({ client, invoked, completed, ...operation })
    this.#registers.count(operation.key, operation.outcome)
    operation.reads?.forEach(({ key }) => this.#lists.count(key, operation.outcome))
    return operation
  }

  /** Records as wrong an answer that reports a conflict although the document was as expected. */
  #sawConflict(answer, documents) {
    const conflicting = documents.find(({ key }) => answer.text.includes(`Document ${key} `))
    if (conflicting === undefined || conflicting.changeVector === foundVector(answer)) {
      this.requests.wrong.push(`${answer.name} refused an update of an unchanged document, ${JSON.stringify(documents).slice(0, 300)}: ${answer.text.slice(0, 300)}`)
    }
  }
}

function answered(answer, key) {
  if (answer === null) {
    throw new Error(`the last read of ${key} was not answered`)
  }
}
