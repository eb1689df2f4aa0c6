// Long answers of every member while leadership is transferred and the next leader is killed: each is complete or cut off.
import assert from "node:assert/strict"
import http from "node:http"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

// 16 MB: more than a connection buffers of an answer that is not read.
const documents = 4_000
const text = "x".repeat(4_000)
const questions = [
  ["GET", "export"],
  ["GET", "streams/docs?format=jsonl"],
  ["POST", "streams/queries?format=jsonl", "from Ds"],
  ["POST", "streams/queries?format=jsonl", "from Ds where n >= 0 order by n as long"],
]

test("When the leader changes, each long answer is complete or cut off", { timeout: 180_000 }, async t => {
  const cluster = await ThreeNodes.form(t)
  await cluster.nodes[0].createDatabase("long")
  await cluster.settled("long")
  for (let first = 0; first < documents; first += 500) {
    const Commands = Array.from({ length: 500 }, (_, n) => command(first + n))
    await cluster.nodes[0].expect(201, "POST", "/databases/long/bulk_docs", JSON.stringify({ Commands }))
  }

  const first = await cluster.leader()
  const responses = await Promise.all(cluster.nodes.map(node => Promise.all(questions.map(question => begin(node, question)))))
  await cluster.transfer(first)
  await until(async () => await cluster.leader() !== first)
  const second = await cluster.leader()
  await cluster.nodes[second].kill()
  await until(async () => {
    const views = await Promise.all([0, 1, 2].map(index => cluster.topology(index).catch(() => null)))
    return views.some(view => view?.CurrentState === "Leader")
  })
  await until(() => cluster.nodes[first].request("PUT", "/databases/long/docs?id=d/0", JSON.stringify(document(documents))).then(({ status }) => status === 201, () => false))

  for (const [index, answers] of responses.entries()) {
    for (const [at, answer] of answers.entries()) {
      const where = `${questions[at].join(" ")} at ${index === second ? "the killed leader" : `node ${index}`}`
      const lines = await readLines(answer)
      assert.ok(lines === null || index !== second, `${where} ended as if it were complete`)
      if (lines !== null) {
        const numbers = new Set(lines.filter(line => line.includes(text)).map(line => JSON.parse(line)).map(row => row.n ?? row.Result?.n ?? row.Item?.n))
        assert.equal(numbers.size, documents, where)
      }

      t.diagnostic(`${where}: ${lines === null ? "broken off" : "complete"}`)
    }
  }
})

function document(n) {
  return { n, text, "@metadata": { "@collection": "Ds" } }
}

function command(n) {
  return { Type: "PUT", Id: `d/${n}`, Document: document(n) }
}

/** Sends the request, and reads nothing of the answer yet. */
function begin(node, [method, path, query]) {
  return new Promise((done, failed) => {
    const request = http.request(`${node.url}/databases/long/${path}`, { method, agent: false })
    request.on("error", failed)
    request.on("response", response => {
      assert.equal(response.statusCode, 200)
      done(response)
    })
    request.end(query && JSON.stringify({ Query: query, WaitForNonStaleResults: true }))
  })
}

/** Reads an answer. Returns its lines, or null if it is cut off. */
async function readLines(response) {
  const parts = []
  try {
    for await (const part of response) {
      parts.push(part)
    }
  } catch {
    return null
  }

  return response.complete ? Buffer.concat(parts).toString().split("\n") : null
}
