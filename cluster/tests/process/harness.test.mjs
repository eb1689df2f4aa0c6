// Proves that the fault player (Chaos) fails when it should: stand-ins of nodes do what real nodes must not do.
import assert from "node:assert/strict"
import { test } from "node:test"
import { Chance } from "./chance.mjs"
import { Chaos } from "./chaos.mjs"
import { ContendedDocuments } from "./contended-documents.mjs"
import { Evidence } from "./evidence.mjs"
import { NamespacedCluster } from "./namespaced-cluster.mjs"
import { RecordedLoad } from "./recorded-load.mjs"
import { outcomeOf as outcomeOfRedis, RedisRegisters } from "./redis-registers.mjs"
import { outcomeOf, Requests } from "./requests.mjs"

const timeoutMilliseconds = 300

/** Makes a cluster of members a, b and c that are ready at once. `answers` are their request functions, by name; without one a member answers 201. `logs` are what they have logged. */
function standIn(answers = {}, logs = {}) {
  const members = ["a", "b", "c"].map(name => ({ name, node: { log: logs[name] ?? "", request: answers[name] ?? (async () => ({ status: 201, headers: {}, text: "{}" })) } }))
  return { members, everStarted: members, settled: async () => {} }
}

const answersWith = (status, text = "{}", headers = {}) => async () => ({ status, headers, text })
const neverAnswers = (method, path, body, { timeout }) => new Promise((_, failed) => setTimeout(() => failed(new Error(`no answer came for ${timeout} ms`)), timeout))
const put = (requests, index) => requests.ask(index, [201], "PUT", "docs?id=one", { body: "{}" })

const quiet = { name: "quiet", isQuiet: true, begin: async () => ({ what: "fault" }) }
const quietForA = { ...quiet, begin: async () => ({ what: "fault", mayFail: ({ name }) => name === "a" }) }

/** Plays a fault while one request is in flight to each member. */
async function play(fault, cluster) {
  const requests = new Requests(cluster, "chaos", timeoutMilliseconds)
  const chaos = new Chaos({ cluster, chance: new Chance(1) })
  cluster.members.forEach((_, index) => put(requests, index))
  await chaos.play(fault, requests)
}

test("A hanging request is reported during a fault that clients must not notice", async () => {
  await play(quiet, standIn())
  await assert.rejects(play(quiet, standIn({ a: neverAnswers })), /requests failed that clients should not notice/)
  await play({ ...quiet, isQuiet: false }, standIn({ a: neverAnswers }))
})

test("A request that never ends is reported during any fault", async () => {
  await assert.rejects(play({ ...quiet, isQuiet: false }, standIn({ a: () => new Promise(() => {}) })), /neither end nor are given up/)
})

test("While one member is down, requests to the others are answered", async () => {
  const refuses = answersWith(503, "No member leads now")
  await play(quietForA, standIn({ a: refuses }))
  await assert.rejects(play(quietForA, standIn({ b: refuses })), /requests failed that clients should not notice/)
})

for (const [what, answer] of Object.entries({
  "reports a missing document to a write": answersWith(404),
  "reports a conflict to a write without an expected version": answersWith(409),
  "reports a missing database": answersWith(503, "{}", { "database-missing": "chaos" }),
  "calls a correct request wrong": answersWith(400),
  "does not know the client": answersWith(401),
  "reports a fault of the node's own": answersWith(500, "The node could not answer because of a fault of its own; its log has the details."),
})) {
  test(`No fault excuses an answer that ${what}`, async () => {
    await assert.rejects(play({ ...quiet, isQuiet: false }, standIn({ b: answer })), /answers that no fault excuses/)
  })
}

for (const status of [0, 429, 500, 503, 504, 507]) {
  test(`During a fault a request may be answered with ${status}`, async () => {
    await play({ ...quiet, isQuiet: false }, standIn({ b: answersWith(status, "It may or may not have been stored.") }))
  })
}

for (const sentence of [
  "error: A rule of consensus was found broken, so this node stopped taking part: one leader in a term.",
  "Process terminated. The process ends, because the commit path found an inconsistent state.",
  "warning: duty failed: Rookery.Platform.InvariantViolationException: Invariant violated: a reference is given back once.",
  "error: This node computed other results than a majority from the same writes, so it stopped taking part.",
]) {
  test(`No log may say: ${sentence.slice(0, 60)}`, async () => {
    const excusing = { ...quiet, excuses: ["failing", "rot"] }
    await assert.rejects(play(excusing, standIn({}, { c: `info: well\n${sentence}\ninfo: well\n` })), /logs that no fault excuses/)
  })
}

test("Messages about a broken card are excused only when the card is broken", async () => {
  const logs = { a: "error: The journal could not be written, so nothing more is acknowledged: no space is left\n   at Rookery.Platform.PosixFile.Write()\n" }
  await play({ ...quiet, excuses: ["failing"] }, standIn({}, logs))
  await assert.rejects(play(quiet, standIn({}, logs)), /logs that no fault excuses/)
})

test("A permanent refusal is excused only when the card was copied", async () => {
  const logs = { b: "error: Diagnosis mode: The cluster refused this node's data for good: There are two copies of node b.\n" }
  await play({ ...quiet, excuses: ["copy"] }, standIn({}, logs))
  await assert.rejects(play({ ...quiet, excuses: ["failing", "rot"] }, standIn({}, logs)), /logs that no fault excuses/)
})

test("Only new lines of a log are searched", async () => {
  const cluster = standIn({}, { a: "error: The journal could not be writ" })
  const chaos = new Chaos({ cluster, chance: new Chance(1) })
  const requests = new Requests(cluster, "chaos")
  await chaos.play(quiet, requests)
  cluster.members[0].node.log += "ten, so nothing more is acknowledged\n"
  await chaos.play({ ...quiet, excuses: ["failing"] }, requests)
  await chaos.play(quiet, requests)
})

test("A node that ended by itself is reported when it is stopped", async () => {
  const ended = { name: "a", node: { end: "SIGABRT", log: "Process terminated.", kill: async () => {}, terminate: async () => 0 } }
  const cluster = Object.assign(new NamespacedCluster(), { started: new Set([ended.node]) })
  await assert.rejects(cluster.kill(ended), /had ended by itself with SIGABRT/)
  await assert.rejects(cluster.terminate(ended), /had ended by itself with SIGABRT/)
  await assert.rejects(cluster.terminate({ name: "b", node: { log: "", terminate: async () => 134 } }), /ended with 134 after SIGTERM/)
})

test("A write that was never sent, or was refused, has a known outcome", () => {
  const requests = new Requests(standIn({ a: async () => Promise.reject(Object.assign(new Error("connect ECONNREFUSED"), { syscall: "connect" })) }), "chaos")
  return put(requests, 0).then(answer => {
    assert.equal(outcomeOf(answer), "Refused")
    assert.equal(outcomeOf({ status: 503, text: "No member leads now. Nothing was stored; try again." }), "Refused")
    assert.equal(outcomeOf({ status: 504, text: "It may or may not have been stored." }), "Unknown")
    assert.equal(outcomeOf({ status: 500, text: "It may or may not have been stored." }), "Unknown")
  })
})

test("A write over the Redis port that was never sent, or was refused, has a known outcome", () => {
  assert.equal(outcomeOfRedis({ reply: { simple: "OK" }, wasSent: true }), "Done")
  assert.equal(outcomeOfRedis({ reply: null, wasSent: true }), "Done")
  assert.equal(outcomeOfRedis({ wasSent: false }), "Refused")
  assert.equal(outcomeOfRedis({ reply: { error: "CLUSTERDOWN No member leads now" }, wasSent: true }), "Refused")
  assert.equal(outcomeOfRedis({ reply: { error: "UNKNOWNOUTCOME It may or may not have been stored." }, wasSent: true }), "Unknown")
  assert.equal(outcomeOfRedis({ wasSent: true }), "Unknown")
})

test("Wrong values over the Redis port are found in the history, and errors that no fault excuses are reported", async () => {
  const resp = reply => ({ isClosed: false, close: () => {}, call: async commands => commands.map(() => reply) })
  const cluster = { ...standIn(), connectToRedis: async () => resp({ error: "WRONGTYPE Operation against a key" }) }
  const history = []
  const requests = new Requests(cluster, "chaos")
  const door = new RedisRegisters({ cluster, requests, round: 1, record: (client, answer, operation) => history.push(operation) })
  await door.turn(0, 0, new Chance(1))
  assert.match(requests.wrong[0].text, /WRONGTYPE/)
  cluster.connectToRedis = async () => resp("7")
  const other = new RedisRegisters({ cluster, requests, round: 2, record: (client, answer, operation) => history.push(operation) })
  assert.equal((await other.read(1, 1, "door:2/0/0")).value, 7)
  assert.deepEqual(history.at(-1), { kind: "Get", value: 7, key: "door:2/0/0", outcome: "Done", etag: -1 })
})

test("A refused compare-and-set that found the expected value is reported", async () => {
  const vector = "A:7-history"
  let found = vector
  const request = async (method, path, body) => path.includes("bulk_docs")
    ? { status: 409, headers: {}, text: JSON.stringify({ Message: `Document ${JSON.parse(body).Commands[1].Id} has the change vector '${found}', but was expected to have '${vector}'.` }) }
    : method === "PUT" ? { status: 201, headers: {}, text: "{\"ChangeVector\":\"A:1-history\"}" }
      : { status: 200, headers: {}, text: JSON.stringify({ Results: Array(2).fill({ elements: [], "@metadata": { "@change-vector": vector } }) }) }
  for (const [actual, isWrong] of [[vector, true], ["A:8-history", false]]) {
    found = actual
    const load = new RecordedLoad(standIn({ a: request, b: request, c: request }), "chaos", 1, 1).start()
    await load.stop()
    assert.equal(load.requests.wrong.some(wrong => /refused an update of an unchanged document/.test(wrong)), isWrong, found)
  }
})

test("An unanswered last read is reported", async () => {
  const load = new RecordedLoad(standIn({ a: answersWith(503), b: answersWith(503), c: answersWith(503) }), "chaos", 1, 1).start()
  await assert.rejects(load.stop(), /the last read of register\/1\/0\/0 was not answered/)
})

test("A document whose history has too many operations or unknown outcomes is replaced by another", () => {
  const documents = new ContendedDocuments("register", 1, 3)
  const first = documents.key(0)
  documents.count(first, "Done")
  documents.count(first, "Done")
  assert.equal(documents.key(0), first)
  documents.count(first, "Done")
  const second = documents.key(0)
  assert.notEqual(second, first)
  documents.count(first, "Done")
  documents.count(second, "Unknown")
  documents.count(second, "Unknown")
  assert.deepEqual(documents.keys, [first, second, documents.key(0)])
})

test("A fault that never has an effect is reported after many tries", () => {
  const evidence = new Evidence()
  for (let n = 0; n < 4; n++) {
    evidence.add({ name: "never" }, false)
    evidence.add({ name: "once" }, n === 3)
    evidence.add({ name: "certain" }, undefined)
  }

  evidence.add({ name: "rare" }, false)
  assert.deepEqual(evidence.missing, ["never"])
})
