// Many clients send documents of megabytes to nodes with small memory budgets. The node stays up, its memory stays near the budget, and a refusal names the bytes that the request needs.
// A longer run: MEMORY_SECONDS=60 MEMORY_SEED=7 MEMORY_BUDGETS=96,128,256 node --test memory.test.mjs
import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import http from "node:http"
import { connect } from "node:net"
import test from "node:test"
import { NodeProcess, temporaryDirectory, until } from "./node-process.mjs"

const seconds = Number(process.env.MEMORY_SECONDS ?? 3)
const seed = Number(process.env.MEMORY_SEED ?? 1)
const budgets = (process.env.MEMORY_BUDGETS ?? "96,256").split(",").map(Number)
const clients = 16
const documents = 12
const MB = 1_000_000

// MiB by which a node may exceed its budget. The largest requests need more memory than a small budget leaves beside the memtables. Longer runs exceeded a budget of 96 MiB by 117 MiB, and one of 128 MiB by 112 MiB.
const beyondBudget = 192

for (const budget of budgets) {
  test(`a node of ${budget} MiB outlives ${clients} clients with large documents (MEMORY_SEED=${seed})`, async t => {
    const data = temporaryDirectory(t)
    const options = ["--memory", `${budget}M`]
    const node = await NodeProcess.serve({ data, options })
    await node.createDatabase("d")
    const deadline = performance.now() + seconds * 1000
    const load = new Load(node, random(seed))
    await Promise.all(Array.from({ length: clients }, () => load.run(deadline)))
    assert.equal(node.end, undefined, `it ended:\n${node.log}`)
    assert.equal((await node.request("GET", "/readyz")).status, 200, node.log)

    // Without other requests, the largest allowed document is accepted.
    const largest = document("largest", 8 * 1024 * 1024)
    await node.expect(201, "PUT", "/databases/d/docs?id=largest", largest)
    assert.equal((await node.request("GET", "/databases/d/docs?id=largest")).status, 200)
    const peak = peakMebibytes(node.child.pid)
    t.diagnostic(`peak ${peak} MiB of ${budget}; ${JSON.stringify(Object.fromEntries([...load.answers].sort()))}`)
    assert.deepEqual(load.faults, [], node.log)

    // While megabytes a second are written, a long read may lose its snapshot. Its connection is broken off then, so its answer never looks complete.
    const endedReads = Number(/^rookery_ended_reads_total (\d+)$/m.exec((await node.request("GET", "/metrics")).text)[1])
    assert.ok(load.brokenOff === 0 || endedReads > 0, `${load.brokenOff} reads broke off, and no snapshot was ended`)
    assert.ok(peak <= budget + beyondBudget, `${peak} MiB resident`)

    // A replay needs no more memory than the writes did.
    await node.kill()
    const again = await NodeProcess.serve({ data, options })
    for (const [id, content] of load.acknowledged) {
      const answer = await again.request("GET", `/databases/d/docs?id=${id}`)
      assert.equal(answer.status, 200, `${id} was acknowledged and is missing`)
      assert.ok(answer.text.includes(content), `${id} is not what was acknowledged`)
    }

    assert.equal(await again.terminate(), 0)
  })
}

test("a node of 128 MiB outlives 1,000 clients that read nothing of long answers", async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t), options: ["--memory", "128M"] })
  await node.createDatabase("d")
  const text = "x".repeat(1200)
  for (let batch = 0; batch < 60; batch++) {
    const commands = Array.from({ length: 200 }, (_, n) => ({ Type: "PUT", Id: `a/${batch * 200 + n}`, Document: { text, n } }))
    await node.expect(201, "POST", "/databases/d/bulk_docs", JSON.stringify({ Commands: commands }))
  }

  const port = Number(new URL(node.url).port)
  const sockets = Array.from({ length: 1000 }, (_, n) => {
    const socket = connect(port, "127.0.0.1").pause()
    socket.on("error", () => {})
    socket.write(`GET /databases/d/${n % 2 ? "streams/docs" : "docs?startsWith=a/&pageSize=10000"} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    return socket
  })
  await new Promise(resolve => setTimeout(resolve, 8_000))
  assert.equal(node.end, undefined, `it ended:\n${node.log}`)
  sockets.forEach(socket => socket.destroy())
  await until(async () => (await node.request("GET", "/databases/d/docs?id=a/1").catch(() => ({}))).status === 200)
  assert.doesNotMatch(node.log, /OutOfMemory|Out of memory/)
  t.diagnostic(`peak ${peakMebibytes(node.child.pid)} MiB of 128`)
})

test("a node of 128 MiB starts with 1,000 index definitions", async t => {
  const data = temporaryDirectory(t)
  const options = ["--memory", "128M"]
  const node = await NodeProcess.serve({ data, options })
  await node.createDatabase("d")
  for (let first = 0; first < 1000; first += 100) {
    const Indexes = Array.from({ length: 100 }, (_, n) => ({ Name: `I/${first + n}`, Maps: [`from d in docs.C${first / 100} select new { d.x${n}, y = d.y + ${n} }`] }))
    await node.expect(201, "PUT", "/databases/d/admin/indexes", JSON.stringify({ Indexes }))
  }

  await node.expect(201, "PUT", "/databases/d/docs?id=c/1", JSON.stringify({ x1: 1, y: 2, "@metadata": { "@collection": "C0" } }))
  await node.kill()
  const again = await NodeProcess.serveDuring(t, { data, options })
  const { Results } = await again.expect(200, "GET", "/databases/d/indexes?namesOnly=true&pageSize=2000")
  assert.equal(Results.length, 1000)
  await again.expect(200, "GET", "/databases/d/docs?id=c/1")
  const runQuery = () => again.request("POST", "/databases/d/queries", JSON.stringify({ Query: "from index 'I/1' where x1 = 1", WaitForNonStaleResults: true }))
  await until(async () => {
    const { status, text } = await runQuery()
    return status === 200 && JSON.parse(text).TotalResults === 1
  })
  assert.doesNotMatch(again.log, /OutOfMemory|Out of memory/)
  const peak = peakMebibytes(again.child.pid)
  t.diagnostic(`ready after ${Math.round(again.startMilliseconds)} ms, peak ${peak} MiB of 128`)
  assert.ok(peak <= 128 + beyondBudget, `${peak} MiB resident`)
})

test("the kernel makes no huge pages of memory that a node uses sparsely", async t => {
  const node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  assert.match(status(node.child.pid), /^THP_enabled:\s+0$/m)
})

function peakMebibytes(pid) {
  return Math.round(Number(/VmHWM:\s+(\d+) kB/.exec(status(pid))[1]) / 1024)
}

const status = pid => readFileSync(`/proc/${pid}/status`, "utf8")

// A linear congruential generator (Numerical Recipes): returns a function that draws a number from 0 up to a limit.
function random(state) {
  return below => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

/** A JSON document of a size in bytes. Its text repeats every 13 letters, so it compresses well. */
function document(name, bytes) {
  const head = `{"name":"${name}","v":"`
  const tail = `","@metadata":{"@collection":"Large"}}`
  const word = Buffer.from(Array.from({ length: 4096 }, (_, i) => 97 + (i * i * 31 + i * 7) % 26))
  const body = Buffer.alloc(bytes, word)
  body.write(head, 0)
  body.write(tail, bytes - tail.length)
  return body
}

const readsLong = ["stream", "export", "query", "docs", "post", "multi"]
const brokenOff = /ECONNRESET|aborted|socket hang up/

/** Random requests. `answers` counts them by kind and status, `faults` lists what a node must not answer. */
class Load {
  answers = new Map()
  faults = []
  brokenOff = 0
  acknowledged = new Map()
  #turn = 0

  constructor(node, draw) {
    this.node = node
    this.draw = draw
    this.sizes = [200, 60_000, 300_000, MB, 4 * MB, 7 * MB]
    this.kinds = ["put", "put", "put", "get", "get", "docs", "query", "stream", "multi", "batch", "patch", "script", "bulk", "import", "post", "export"]
  }

  async run(deadline) {
    while (performance.now() < deadline && this.node.end === undefined) {
      const kind = this.kinds[this.draw(this.kinds.length)]
      try {
        const answer = await this[kind]()
        this.#note(kind, answer)
      } catch (failure) {
        if (readsLong.includes(kind) && brokenOff.test(failure.message)) {
          this.brokenOff++
        } else {
          this.faults.push(`${kind}: ${failure.message}`)
        }

        await new Promise(done => setTimeout(done, 100))
      }
    }
  }

  put() {
    // Some ids are written once, to check later that no acknowledged write is lost.
    const turn = this.#turn++
    const isKept = turn < 6
    const id = isKept ? `kept${turn}` : this.#id()
    const name = `${id}-${turn}`
    return this.#send("PUT", `/docs?id=${id}`, document(name, this.#size())).then(answer => {
      if (isKept && answer.status === 201) {
        this.acknowledged.set(id, name)
      }

      return answer
    })
  }

  get = () => this.#send("GET", `/docs?id=${this.#id()}`)
  docs = () => this.#send("GET", `/docs?id=${this.#id()}&id=${this.#id()}&id=${this.#id()}`)
  stream = () => this.#send("GET", "/streams/docs?startsWith=l")
  export = () => this.#send("GET", "/export")
  query = () => this.#send("POST", "/queries", `{"Query":"from Large limit 4"}`)
  post = () => this.#send("POST", "/docs", JSON.stringify({ Ids: Array.from({ length: 20_000 }, (_, i) => `n${i}`) }))
  multi = () => this.#send("POST", "/multi_get", JSON.stringify({ Requests: [1, 2].map(() => ({ Url: "/docs", Query: `?id=${this.#id()}`, Method: "GET" })) }))
  patch = () => this.#send("PATCH", `/docs?id=${this.#id()}`, `{"p":${this.draw(1000)}}`, "application/merge-patch+json")
  script = () => this.#send("POST", "/bulk_docs", JSON.stringify({
    Commands: [1, 2].map(() => ({ Id: this.#id(), ChangeVector: null, Type: "PATCH", Patch: { Script: "this.p = args.val_0;", Values: { val_0: this.draw(1000) } } })),
  }))

  batch() {
    const commands = Array.from({ length: 1 + this.draw(4) }, () => `{"Id":"${this.#id()}","ChangeVector":null,"Type":"PUT","Document":${document("b", this.#size())}}`)
    return this.#send("POST", "/bulk_docs", Buffer.from(`{"Commands":[${commands.join(",")}]}`))
  }

  bulk() {
    const elements = Array.from({ length: 4 }, () => `{"Id":"${this.#id()}","Type":"PUT","Document":${document("i", this.#size())}}`)
    return this.#send("POST", "/bulk_insert?id=0", Buffer.from(`[${elements.join(",")}]`))
  }

  import() {
    const lines = Array.from({ length: 4 }, () => document("n", this.#size()).toString().replace(`"@collection"`, `"@id":"${this.#id()}","@collection"`))
    return this.#send("POST", "/import", Buffer.from(lines.join("\n")))
  }

  #id = () => `l${this.draw(documents)}`
  #size = () => this.sizes[this.draw(this.sizes.length)]

  /** A request on a connection of its own: one that is refused early may close while the client still sends. */
  #send(method, path, body, type = "application/json") {
    return new Promise((done, failed) => {
      const headers = body === undefined ? {} : { "Content-Type": type, "Content-Length": Buffer.byteLength(body) }
      const request = http.request(`${this.node.url}/databases/d${path}`, { method, headers, agent: false }, response => {
        const parts = []
        response.on("data", part => parts.push(part))
        response.on("error", failed)
        response.on("end", () => done({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).subarray(0, 1000).toString() }))
      })
      request.on("error", failed)
      request.end(body)
    })
  }

  #note(kind, { status, headers, text }) {
    const key = `${kind} ${status}`
    this.answers.set(key, (this.answers.get(key) ?? 0) + 1)
    const isRefusal = (status === 429 && headers["retry-after"] !== undefined) || status === 413
    if (status === 503 && readsLong.includes(kind) && /took so long/.test(text)) {
      this.brokenOff++
    } else if (!(status >= 200 && status < 300) && status !== 404 && !isRefusal) {
      this.faults.push(`${key}: ${text.slice(0, 300)}`)
    } else if (isRefusal && !/\d+ bytes/.test(text)) {
      this.faults.push(`${key} names no bytes: ${text.slice(0, 300)}`)
    }
  }
}
