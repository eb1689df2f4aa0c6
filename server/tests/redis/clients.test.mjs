// Clients of Redis from npm and Debian, unmodified, against one node.
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { after, before, describe, test } from "node:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redis } from "ioredis"
import { createClient } from "redis"
import { freePort, NodeProcess, until } from "../process/node-process.mjs"

const data = mkdtempSync(join(tmpdir(), "rookery-redis-"))
let node, port

before(async () => {
  port = await freePort()
  node = await NodeProcess.serve({ data, options: ["--redis", `${port}`] })
})

after(async () => {
  assert.equal(await node.terminate(), 0)
  rmSync(data, { recursive: true, force: true })
})

describe("ioredis", () => {
  test("values are the documents that HTTP reads", () => withClient(async redis => {
    assert.equal(await redis.set("light:hall", "on", "EX", 3600), "OK")
    assert.equal(await redis.get("light:hall"), "on")
    const { text } = await node.request("GET", "/databases/redis/docs?id=light:hall")
    const document = JSON.parse(text).Results[0]
    assert.equal(document.Value, "on")
    assert.equal(document["@metadata"]["@collection"], "@redis")
    const bytes = Buffer.from([0, 255, 10, 13])
    await redis.set(Buffer.from([255, 0]), bytes)
    assert.deepEqual(await redis.getBuffer(Buffer.from([255, 0])), bytes)
  }))

  test("a pipeline is answered in order", () => withClient(async redis => {
    const pipeline = redis.pipeline()
    for (let i = 0; i < 200; i++) {
      pipeline.incr("pipelined").get("pipelined")
    }

    const replies = await pipeline.exec()
    assert.deepEqual(replies.filter((_, at) => at % 2 === 1).map(([, value]) => Number(value)), Array.from({ length: 200 }, (_, i) => i + 1))
  }))

  test("a transaction is applied whole, and not after a watched key changed", () => withClient(async redis => {
    assert.deepEqual(await redis.multi().set("tx", "1").incr("tx").get("tx").exec(), [[null, "OK"], [null, 2], [null, "2"]])
    await redis.watch("tx")
    await withClient(other => other.set("tx", "7"))
    assert.equal(await redis.multi().set("tx", "lost").exec(), null)
    assert.equal(await redis.get("tx"), "7")
  }))

  test("messages reach subscribers", () => withClient(redis => withClient(async subscriber => {
    const received = new Promise(done => subscriber.once("message", (channel, message) => done([channel, message])))
    await subscriber.subscribe("news")
    assert.equal(await redis.publish("news", "hello"), 1)
    assert.deepEqual(await received, ["news", "hello"])
  })))

  test("a blocking pop waits for an element", () => withClient(redis => withClient(async blocked => {
    const popped = blocked.blpop("queue", "other", 0)
    await until(async () => (await redis.info("clients")).includes("blocked_clients:1"))
    await redis.rpush("queue", "first", "second")
    assert.deepEqual(await popped, ["queue", "first"])
    assert.deepEqual(await blocked.brpop("queue", 0), ["queue", "second"])
    assert.equal(await blocked.blpop("queue", 0.05), null)
  })))

  test("a scan finds all keys", () => withClient(async redis => {
    await redis.mset(Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`scan:${i}`, "x"])))
    const found = new Set()
    for await (const keys of redis.scanStream({ match: "scan:*", count: 10 })) {
      keys.forEach(key => found.add(key))
    }

    assert.equal(found.size, 50)
  }))
})

describe("redis (node-redis)", () => {
  for (const RESP of [2, 3]) {
    test(`strings, hashes, sets and lists with version ${RESP} of the protocol`, async () => {
      const redis = await createClient({ url: `redis://127.0.0.1:${port}`, RESP }).connect()
      assert.equal(await redis.set(`plain${RESP}`, "v"), "OK")
      assert.equal(await redis.get(`plain${RESP}`), "v")
      assert.equal(await redis.hSet(`hash${RESP}`, { a: "1", b: "2" }), 2)
      assert.deepEqual({ ...await redis.hGetAll(`hash${RESP}`) }, { a: "1", b: "2" })
      await redis.sAdd(`set${RESP}`, ["x", "y"])
      assert.deepEqual([...await redis.sMembers(`set${RESP}`)].sort(), ["x", "y"])
      await redis.rPush(`list${RESP}`, ["1", "2"])
      assert.deepEqual(await redis.lRange(`list${RESP}`, 0, -1), ["1", "2"])
      const [stored, read] = await redis.multi().set(`tx${RESP}`, "1").get(`tx${RESP}`).exec()
      assert.deepEqual([stored, read], ["OK", "1"])
      await redis.close()
    })
  }

  test("messages reach subscribers", async () => {
    const redis = await createClient({ url: `redis://127.0.0.1:${port}` }).connect()
    const subscriber = await redis.duplicate().connect()
    const received = new Promise(done => void subscriber.pSubscribe("n*", (message, channel) => done([channel, message])))
    await until(async () => (await redis.sendCommand(["PUBSUB", "NUMPAT"])) > 0)
    await redis.publish("nature", "rain")
    assert.deepEqual(await received, ["nature", "rain"])
    await subscriber.close()
    await redis.close()
  })
})

const cli = (...words) => spawnSync("redis-cli", ["-p", `${port}`, ...words], { encoding: "utf8", timeout: 30_000 })
const hasCli = spawnSync("redis-cli", ["--version"]).status === 0

test("redis-cli sets, reads and lists", { skip: hasCli ? false : "redis-cli is not installed" }, () => {
  assert.equal(cli("SET", "cli:a", "on", "EX", "3600").stdout, "OK\n")
  assert.equal(cli("GET", "cli:a").stdout, "on\n")
  assert.equal(cli("-3", "HSET", "cli:h", "f", "1").stdout, "1\n")
  assert.equal(cli("--scan", "--pattern", "cli:*").stdout.split("\n").filter(Boolean).sort().join(), "cli:a,cli:h")
  assert.match(cli("ZADD", "z", "1", "a").stdout, /is not served by Rookery/)
})

// Debian's package, which another Python on the machine does not see.
const python = "/usr/bin/python3"

test("a client of Python stores and reads", t => {
  const script = `
import redis
client = redis.Redis(port=${port}, decode_responses=True)
with client.pipeline(transaction=True) as pipeline:
    print(pipeline.set("py", "1").incr("py").execute())
print(client.get("py"))
`
  if (spawnSync(python, ["-c", "import redis"]).status !== 0) {
    t.skip("python3-redis is not installed")
    return
  }

  const { stdout, stderr } = spawnSync(python, ["-c", script], { encoding: "utf8" })
  assert.equal(stdout, "[True, 2]\n2\n", stderr)
})

async function withClient(use) {
  const redis = new Redis({ port, host: "127.0.0.1" })
  try {
    return await use(redis)
  } finally {
    redis.disconnect()
  }
}
