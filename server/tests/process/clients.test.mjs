// Clients that are slow, stop sending or disconnect, on real sockets.
import assert from "node:assert/strict"
import { once } from "node:events"
import { connect } from "node:net"
import { before, test } from "node:test"
import { afterwards, NodeProcess, temporaryDirectory } from "./node-process.mjs"

const limit = { timeout: 60_000 }
let node

before(async t => {
  node = await NodeProcess.serve({ data: temporaryDirectory(t) })
  afterwards(t, () => node.kill())
  await node.createDatabase("slow")
})

/** Returns all that the server sends until it closes the connection. */
async function readAll(socket) {
  const parts = []
  socket.on("data", part => parts.push(part))
  socket.on("error", () => {}) // A client that still writes gets a reset. What it received before is kept.
  await new Promise(done => socket.on("close", done))
  return Buffer.concat(parts).toString()
}

/** Opens a connection and sends `text`. */
async function open(text) {
  const socket = connect(node.port, "127.0.0.1")
  await once(socket, "connect")
  socket.write(text)
  return socket
}

const head = "PUT /databases/slow/docs?id=one HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n"

test("Silent and trickling clients are cut off while other clients are served", limit, async () => {
  const silentHead = readAll(await open(head))
  const silentBody = readAll(await open(`${head}\r\n{"a":`))
  const trickling = await open(`${head}\r\n{"a":"`)
  const trickle = setInterval(() => trickling.write("x"), 500)
  const trickled = readAll(trickling)
  assert.equal((await node.request("PUT", "/databases/slow/docs?id=two", "{}")).status, 201)
  assert.match(await silentHead, /^HTTP\/1\.1 408 /)
  assert.match(await silentBody, /^HTTP\/1\.1 408 [^]*came too slowly/)
  assert.match(await trickled, /^HTTP\/1\.1 408 [^]*came too slowly/)
  clearInterval(trickle)
  assert.equal((await node.request("GET", "/databases/slow/docs?id=one")).status, 404, "the unfinished document was not stored")
})

test("A document whose client disconnects inside the body is not stored", limit, async () => {
  for (let i = 0; i < 200; i++) {
    const socket = await open(`${head}\r\n{"a":"${"x".repeat(i * 40)}`)
    socket.on("error", () => {})
    i % 2 === 0 ? socket.resetAndDestroy() : socket.end()
  }

  assert.equal((await node.request("GET", "/databases/slow/docs?id=one")).status, 404)
  assert.equal((await node.request("PUT", "/databases/slow/docs?id=one", "{}")).status, 201)
})

test("A bulk insert whose client disconnects is not logged as an error", limit, async () => {
  for (let i = 0; i < 20; i++) {
    const length = i % 2 === 0 ? "Content-Length: 100000" : "Transfer-Encoding: chunked"
    const socket = await open(`POST /databases/slow/bulk_insert HTTP/1.1\r\nHost: 127.0.0.1\r\n${length}\r\n\r\n`)
    socket.on("error", () => {})
    i % 4 < 2 ? socket.resetAndDestroy() : socket.end()
  }

  assert.equal((await node.request("GET", "/databases/slow/docs?id=one")).status, 200)
  assert.doesNotMatch(node.log, /error/)
})

test("The node serves on after clients disconnected without reading a long answer", limit, async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => JSON.stringify({ text: "rook".repeat(100), "@metadata": { "@id": `long/${n}` } })).join("\n")
  assert.equal((await node.request("POST", "/databases/slow/import", lines)).status, 200)
  const query = '{"Query":"from @all_docs"}'
  const requests = [
    ["GET", "export"], ["GET", "docs?startsWith=long/"], ["GET", "streams/docs?startsWith=long/"], ["GET", "changes/stream?since=0"], ["POST", "queries"], ["POST", "streams/queries"],
  ].map(([method, path]) => `${method} /databases/slow/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${method === "POST" ? query.length : 0}\r\n\r\n${method === "POST" ? query : ""}`)
  for (let i = 0; i < 60; i++) {
    const socket = await open(requests[i % requests.length])
    await once(socket, "data")
    i % 4 < 2 ? socket.resetAndDestroy() : socket.destroy()
  }

  const all = await node.request("GET", "/databases/slow/export")
  assert.ok(all.text.trim().split("\n").length >= 5_000)
  assert.doesNotMatch(node.log, /error/, "a client that disconnects causes no error in the log")
})
