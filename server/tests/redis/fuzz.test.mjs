// Redis' own answers are the oracle: random sequences of the served commands are sent to both, as pipelines, and every
// reply is compared. A difference is shrunk to the shortest sequence that shows it.
import assert from "node:assert/strict"
import { test } from "node:test"
import { freePort, NodeProcess, temporaryDirectory } from "../process/node-process.mjs"
import { comparable, sequence } from "./random-commands.mjs"
import { hasRedis, startRedis } from "./redis-oracle.mjs"
import { Resp } from "./resp.mjs"

const count = Number(process.env.ROOKERY_REDIS_SEQUENCES ?? 300)
const firstSeed = Number(process.env.ROOKERY_REDIS_SEED ?? 1)

test(`${count} sequences of commands have the replies of Redis`, { skip: hasRedis ? false : "redis-server is not installed", timeout: 3_600_000 }, async t => {
  const port = await freePort()
  await NodeProcess.serveDuring(t, { data: temporaryDirectory(t), options: ["--redis", `${port}`, "--memory", "256M"] })
  const both = [await Resp.connect(port), await Resp.connect(await startRedis(t))]
  let runs = 0
  // Each run has keys of its own, so that no run sees another one's.
  const differs = async commands => {
    const prefix = `r${runs++}:`
    const named = commands.map(command => withPrefix(command, prefix))
    const [ours, theirs] = await Promise.all(both.map(async server => shown(commands, await server.call(named), prefix)))
    const at = ours.findIndex((reply, index) => JSON.stringify(reply) !== JSON.stringify(theirs[index]))
    return at < 0 ? null : { at, ours: ours[at], theirs: theirs[at] }
  }

  for (let seed = firstSeed; seed < firstSeed + count; seed++) {
    let commands = sequence(seed)
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

    both.forEach(server => server.close())
    assert.fail(`seed ${seed}: ${JSON.stringify(commands)}: reply ${difference.at} is ${JSON.stringify(difference.ours)}, and Redis answers ${JSON.stringify(difference.theirs)}`)
  }

  both.forEach(server => server.close())
})

/** Whether a transaction would stay open, and swallow the next sequence. */
const isOpen = commands => commands.findLastIndex(([name]) => name === "MULTI") > commands.findLastIndex(([name]) => name === "EXEC" || name === "DISCARD")

const manyKeys = new Set(["MGET", "DEL", "UNLINK", "EXISTS", "TOUCH", "RENAME", "RENAMENX"])
const pairs = new Set(["MSET", "MSETNX"])

function withPrefix([name, ...rest], prefix) {
  return [name, ...rest.map((part, at) => at === 0 || manyKeys.has(name) || (pairs.has(name) && at % 2 === 0) ? prefix + part : part)]
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
