// Attachments in a cluster of three: from before the others join, through every node, and with the leader killed.
import assert from "node:assert/strict"
import { createHash, randomBytes } from "node:crypto"
import { test } from "node:test"
import { until } from "../../../server/tests/process/node-process.mjs"
import { ThreeNodes } from "./three-nodes.mjs"

const sizes = [0, 1, 70_000, 262_144, 5_000_000]

function addressOf(node, name) {
  return `${node.url}/databases/files/attachments?id=a&name=${name}`
}

/** Stores an attachment; returns the status, or 0 if the connection broke. */
async function attach(node, name, bytes) {
  try {
    const answer = await fetch(addressOf(node, name), { method: "PUT", body: bytes })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

async function digestAt(node, name) {
  const answer = await fetch(addressOf(node, name))
  const bytes = Buffer.from(await answer.arrayBuffer())
  return answer.status === 200 ? digestOf(bytes) : `status ${answer.status}: ${bytes}`
}

function digestOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex")
}

test("Acknowledged attachments are read from every member after the leader was killed", { timeout: 240_000 }, async t => {
  const acknowledged = new Map()
  let uploads = 0
  const store = async (node, name) => {
    const bytes = randomBytes(sizes[uploads++ % sizes.length])
    const status = await attach(node, name, bytes)
    if (status === 201) {
      acknowledged.set(name, digestOf(bytes))
    }

    return status
  }

  const cluster = await ThreeNodes.form(t, {
    beforeJoins: async ({ nodes }) => {
      await nodes[0].createDatabase("files")
      await nodes[0].expect(201, "PUT", "/databases/files/docs?id=a", "{}")
      for (let n = 0; n < 5; n++) {
        assert.equal(await store(nodes[0], `alone-${n}`), 201)
      }
    },
  })
  await cluster.settled("files")
  for (const [index, node] of cluster.nodes.entries()) {
    for (let n = 0; n < 5; n++) {
      assert.equal(await store(node, `through-${index}-${n}`), 201)
    }
  }

  const leader = await cluster.leader()
  const inFlight = Array.from({ length: 24 }, (_, n) => store(cluster.nodes[n % 3], `killed-${n}`))
  await Promise.race(inFlight)
  await cluster.nodes[leader].kill()
  const statuses = await Promise.all(inFlight)
  for (const status of statuses) {
    assert.ok([0, 201, 500, 503, 504].includes(status), `an upload was answered with ${status}`)
  }

  await cluster.restart()
  await cluster.settled("files")
  t.diagnostic(`${acknowledged.size} attachments were acknowledged, of the last ${statuses.filter(status => status === 201).length}`)
  assert.ok(acknowledged.size >= 20)
  for (const node of cluster.nodes) {
    for (const [name, digest] of acknowledged) {
      await until(async () => await digestAt(node, name) === digest)
    }
  }

  const [name] = acknowledged.keys()
  await cluster.nodes[1].expect(204, "DELETE", `/databases/files/attachments?id=a&name=${name}`)
  for (const node of cluster.nodes) {
    await until(async () => (await digestAt(node, name)).startsWith("status 404"))
  }
})
