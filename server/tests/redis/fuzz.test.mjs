// Redis' own answers are the oracle: random sequences of the served commands are sent to both, as pipelines, and every
// reply is compared. The oracle of the commands on JSON is a model. A difference is shrunk to the shortest sequence that
// shows it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { freePort, NodeProcess, temporaryDirectory } from "../process/node-process.mjs"
import { JsonModel, jsonSequence } from "./json-model.mjs"
import { comparable, keys, sequence } from "./random-commands.mjs"
import { hasRedis, startRedis } from "./redis-oracle.mjs"
import { Resp } from "./resp.mjs"

const count = Number(process.env.ROOKERY_REDIS_SEQUENCES ?? 250)
const firstSeed = Number(process.env.ROOKERY_REDIS_SEED ?? 1)
const timeout = 3_600_000

test(`${count} sequences of commands have the replies of Redis`, { skip: hasRedis ? false : "redis-server is not installed", timeout }, async t => {
  const both = [await startNode(t), await Resp.connect(await startRedis(t))]
  let runs = 0
  await compareAll(sequence, async commands => {
    // Each run has keys of its own, and deletes them, so that no run sees another one's.
    const prefix = `r${runs++}:`
    const named = [...commands.map(command => withPrefix(command, prefix)), ["DEL", ...keys.map(key => prefix + key)]]
    const [ours, theirs] = await Promise.all(both.map(async server => shown(commands, (await server.call(named)).slice(0, -1), prefix)))
    return firstDifference(ours, theirs)
  })
  both.forEach(server => server.close())
})

test(`${count} sequences of commands on JSON have the replies of a model`, { timeout }, async t => {
  const node = await startNode(t)
  let runs = 0
  await compareAll(jsonSequence, async commands => {
    const prefix = `j${runs++}:`
    const model = new JsonModel()
    const replies = await node.call(commands.map(command => withPrefix(command, prefix)))
    return firstDifference(replies.map(withFirstWord), commands.map(command => model.run(command)))
  })
  node.close()
})

async function startNode(t) {
  const port = await freePort()
  await NodeProcess.serveDuring(t, { data: temporaryDirectory(t), options: ["--redis", `${port}`, "--memory", "256M"] })
  return Resp.connect(port)
}

/** Runs sequences; fails with the shortest part of the first one whose replies differ. */
async function compareAll(make, differs) {
  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    let commands = make(seed)
    let difference = await differs(commands)
    if (difference === null) {
      continue
    }

    for (let at = commands.length - 1; at >= 0; at--) {
      const shorter = commands.toSpliced(at, 1)
      const still = shorter.length === 0 || isOpen(shorter) ? null : await differs(shorter)
      if (still !== null) {
        [commands, difference] = [shorter, still]
      }
    }

    assert.fail(`seed ${seed}: ${JSON.stringify(commands)}: reply ${difference.at} is ${JSON.stringify(difference.ours)}, and the oracle answers ${JSON.stringify(difference.theirs)}`)
  }
}

function firstDifference(ours, theirs) {
  const at = ours.findIndex((reply, index) => JSON.stringify(reply) !== JSON.stringify(theirs[index]))
  return at < 0 ? null : { at, ours: ours[at], theirs: theirs[at] }
}

/** Whether a transaction would stay open, and swallow the next sequence. */
const isOpen = commands => commands.findLastIndex(([name]) => name === "MULTI") > commands.findLastIndex(([name]) => name === "EXEC" || name === "DISCARD")

const manyKeys = new Set([
  "MGET", "DEL", "UNLINK", "EXISTS", "TOUCH", "RENAME", "RENAMENX", "SINTER", "SUNION", "SDIFF",
  "SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"
])
const twoKeys = new Set(["COPY", "LMOVE", "RPOPLPUSH", "SMOVE"])
const pairs = new Set(["MSET", "MSETNX"])

function withPrefix([name, ...rest], prefix) {
  const isKey = at => name === "SCAN" ? rest[at - 1] === "MATCH"
    : name === "BLPOP" || name === "BRPOP" || name === "JSON.MGET" ? at < rest.length - 1
      : name === "OBJECT" ? at === 1
      : at === 0 || (twoKeys.has(name) && at === 1) || manyKeys.has(name) || (pairs.has(name) && at % 2 === 0)
  return [name, ...rest.map((part, at) => isKey(at) ? prefix + part : part)]
}

/** The replies in comparable form. Those of EXEC belong to the commands since MULTI. */
function shown(commands, replies, prefix) {
  const withoutPrefix = text => JSON.parse(JSON.stringify(text).replaceAll(prefix, ""))
  let queued = []
  return replies.map((reply, at) => {
    const [name] = commands[at]
    if (name === "EXEC" && Array.isArray(reply)) {
      return reply.map((part, index) => withoutPrefix(comparable(queued[index], part) ?? null))
    }

    queued = name === "MULTI" ? [] : reply?.simple === "QUEUED" ? [...queued, commands[at]] : queued
    return withoutPrefix(comparable(commands[at], reply) ?? null)
  })
}

/** The sentences of errors are this server's own. */
const withFirstWord = reply => reply?.error === undefined ? reply : { error: reply.error.split(" ")[0] }
