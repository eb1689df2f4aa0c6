// Clients of all nodes that write and read, and remember what they asked and were told.
import { createCipheriv } from "node:crypto"
import { Chance } from "./chance.mjs"

const registers = 6
const lists = 4
const baseDocuments = 1_500 // 24 MB, more than a memtable takes
const baseBatch = 50
const timeoutMilliseconds = 8_000
const thinkMilliseconds = 20

/** Documents that nobody writes again, so many that they lie in the runs of every node: wrong bytes in a run are wrong bytes in an answer. */
export async function storeBase(cluster, database) {
  for (let first = 0; first < baseDocuments; first += baseBatch) {
    const Commands = Array.from({ length: baseBatch }, (_, n) => ({ Id: `base/${first + n}`, ChangeVector: null, Type: "PUT", Document: { text: baseText(first + n) } }))
    await cluster.nodes[first % 3].expect(201, "POST", `/databases/${database}/bulk_docs`, JSON.stringify({ Commands }))
  }
}

/** Reads all of them at a node; those that are not there or not right. */
export async function wrongBase(node, database) {
  const wrong = []
  for (let first = 0; first < baseDocuments; first += baseBatch) {
    const Ids = Array.from({ length: baseBatch }, (_, n) => `base/${first + n}`)
    const { Results } = await node.expect(200, "POST", `/databases/${database}/docs`, JSON.stringify({ Ids }))
    wrong.push(...Ids.filter((_, n) => Results[n]?.text !== baseText(first + n)))
  }

  return wrong
}

// Nothing that could be compressed.
function baseText(number) {
  const key = Buffer.alloc(16)
  key.writeUInt32LE(number)
  return createCipheriv("aes-128-ctr", key, Buffer.alloc(16)).update(Buffer.alloc(12 << 10)).toString("base64")
}

/**
 * Starts the clients of a round: two stay at each node, three ask another one each time. `acknowledged` maps ids, each written once, to their version; `history` has the operations on a few contended documents and lists,
 * which are others after each `nextPhase`; `failures` what was not answered as asked; `wrong` answers that no fault excuses.
 */
export function startRecordedLoad(cluster, database, round, seed) {
  const acknowledged = new Map()
  const history = []
  const failures = []
  const wrong = []
  let version = 0
  let phase = 0
  let running = true

  async function ask(index, method, path, body, headers) {
    const { name, node } = cluster.members[index % cluster.members.length]
    const invoked = performance.now()
    const answer = await node.request(method, `/databases/${database}/${path}`, body, { headers, timeout: timeoutMilliseconds }).catch(broken => ({ status: 0, text: String(broken.message) }))
    const completed = performance.now()
    if (![200, 201, 404, 409].includes(answer.status)) {
      failures.push({ name, invoked, completed, method, path, status: answer.status, text: answer.text.slice(0, 300) })
      await new Promise(done => setTimeout(done, 100))
    }

    return { ...answer, name, invoked: Math.floor(invoked * 1000), completed: Math.ceil(completed * 1000) }
  }

  async function read(client, index, key) {
    const answer = await ask(index, "GET", `docs?id=${key}`)
    if (answer.status !== 200 && answer.status !== 404) {
      return null
    }

    const found = answer.status === 200 ? JSON.parse(answer.text).Results[0] : null
    const changeVector = found?.["@metadata"]["@change-vector"]
    const operation = { client, invoked: answer.invoked, completed: answer.completed, kind: "Get", outcome: "Done", key, value: found?.version ?? 0, etag: etagOf(changeVector) }
    history.push(operation)
    return { ...operation, changeVector }
  }

  async function write(client, index, key, expected) {
    const value = ++version
    const answer = await ask(index, "PUT", `docs?id=${key}`, JSON.stringify({ version: value }), expected && { "If-Match": `"${expected.changeVector}"` })
    const outcome = outcomeOf(answer)
    // What a refused compare-and-set found is not said, or it was not looked at: it proves nothing.
    if (expected === undefined || outcome !== "Refused") {
      history.push({
        client, invoked: answer.invoked, completed: answer.completed, kind: expected ? "CompareAndSet" : "Put", outcome, key, value,
        expected: expected?.value ?? 0, etag: outcome === "Done" ? etagOf(JSON.parse(answer.text).ChangeVector) : 0,
      })
    }
  }

  /** Two lists, read at one moment; null when no answer came. */
  async function readLists(client, index, keys) {
    const answer = await ask(index, "GET", `docs?${keys.map(key => `id=${key}`).join("&")}`)
    if (answer.status !== 200) {
      return null
    }

    const found = JSON.parse(answer.text).Results
    const reads = keys.map((key, n) => ({ key, elements: found[n]?.elements ?? [] }))
    history.push({ client, invoked: answer.invoked, completed: answer.completed, kind: "Transaction", outcome: "Done", reads })
    return reads.map((read, n) => ({ ...read, changeVector: found[n]?.["@metadata"]["@change-vector"] ?? "" }))
  }

  /** Appends to both, provided that nobody else did meanwhile. */
  async function append(client, index, keys) {
    const before = await readLists(client, index, keys)
    if (before === null) {
      return
    }

    const element = ++version
    const Commands = before.map(({ key, elements, changeVector }) => ({ Id: key, ChangeVector: changeVector, Type: "PUT", Document: { elements: [...elements, element] } }))
    const answer = await ask(index, "POST", "bulk_docs", JSON.stringify({ Commands }))
    const outcome = outcomeOf(answer)
    history.push({
      client, invoked: answer.invoked, completed: answer.completed, kind: "Transaction", outcome, etag: outcome === "Done" ? etagOf(JSON.parse(answer.text).Results.at(-1)["@change-vector"]) : 0,
      reads: before.map(({ key, elements }) => ({ key, elements })), appends: keys.map(key => ({ key, element })),
    })
  }

  async function readBase(index, number) {
    const answer = await ask(index, "GET", `docs?id=base/${number}`)
    if (answer.status === 404 || (answer.status === 200 && JSON.parse(answer.text).Results[0]?.text !== baseText(number))) {
      wrong.push(`${answer.name} answered ${answer.status} for base/${number}: ${answer.text.slice(0, 200)}`)
    }
  }

  async function work(client) {
    const chance = new Chance(seed + client)
    for (let turn = 0; running; turn++) {
      const index = client < 6 ? client % 3 : chance.between(0, cluster.members.length - 1)
      const key = `register/${round}.${phase}/${chance.between(0, registers - 1)}`
      const id = `once/${round}/${client}/${turn}`
      const value = ++version
      if ((await ask(index, "PUT", `docs?id=${id}`, JSON.stringify({ version: value, text: "rook".repeat(chance.between(0, 300)) }))).status === 201) {
        acknowledged.set(id, value)
      }

      const found = await read(client, index, key)
      if (turn % 2 === 0) {
        await write(client, index, key)
      } else if (found?.value > 0) {
        await write(client, index, key, found)
      }

      const first = chance.between(0, lists - 1)
      await append(client, index, [first, (first + chance.between(1, lists - 1)) % lists].map(number => `list/${round}.${phase}/${number}`))
      await readBase(index, chance.between(0, baseDocuments - 1))
      await new Promise(done => setTimeout(done, thinkMilliseconds))
    }
  }

  const all = Promise.all(Array.from({ length: 9 }, (_, client) => work(client)))
  return {
    acknowledged,
    history,
    failures,
    wrong,
    /** Goes on with other documents: a history of each that is short can be searched for an order. */
    nextPhase() {
      phase++
    },
    /** Ends the clients, and reads the contended documents once more at every node. */
    async stop() {
      running = false
      await all
      for (const index of cluster.members.keys()) {
        for (let earlier = 0; earlier <= phase; earlier++) {
          await Promise.all(Array.from({ length: registers }, (_, number) => read(100 + index, index, `register/${round}.${earlier}/${number}`)))
          await readLists(100 + index, index, Array.from({ length: lists }, (_, number) => `list/${round}.${earlier}/${number}`))
        }
      }
    },
  }
}

// 0 for a connection that broke: nobody knows.
function outcomeOf({ status, text }) {
  return status === 201 ? "Done" : status === 409 || text.includes("Nothing was stored") ? "Refused" : "Unknown"
}

const etagOf = changeVector => changeVector ? Number(/^[A-Z]+:(\d+)/.exec(changeVector)[1]) : 0
