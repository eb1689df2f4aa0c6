// Clients of the members' Redis ports, which write and read a few keys at the same time.
import { Resp } from "../../../server/tests/redis/resp.mjs"
import { ContendedDocuments } from "./contended-documents.mjs"

const registers = 3
const timeoutMilliseconds = 8_000
/** The Redis port tells no etags, so these operations are only searched, not ordered by etags. */
const noEtag = -1
/** Values that are set are this far apart, so that increments of one do not reach the next. */
const step = 1_000

/** The database that a node serves to Redis clients without further configuration. */
export const redisDatabase = "redis"

/** Opens a connection; gives up after some seconds, because a frozen process completes no handshake. */
export async function connectToRedis(port, host, credentials, token) {
  const opening = Resp.connect(port, host, credentials)
  const late = new Promise((_, failed) => setTimeout(failed, timeoutMilliseconds, new Error("no connection came")).unref())
  const resp = await Promise.race([opening, late]).catch(failure => {
    opening.then(resp => resp.close(), () => {})
    throw failure
  })
  const [answer] = await within(resp, [["AUTH", token]])
  if (answer.error !== undefined) {
    resp.close()
    throw new Error(answer.error)
  }

  return resp
}

/** Sends commands, and ends the connection when no reply comes for some seconds. */
function within(resp, commands) {
  const timer = setTimeout(() => resp.close(), timeoutMilliseconds)
  return resp.call(commands).finally(() => clearTimeout(timer))
}

export class RedisRegisters {
  #cluster
  #requests
  #record
  #registers
  #connections = new Map()
  #version = 0

  /** @param record Receives the client, the answer with its times, and the operation in the format of Rookery.Histories. */
  constructor({ cluster, requests, round, record }) {
    this.#cluster = cluster
    this.#requests = requests
    this.#record = record
    this.#registers = new ContendedDocuments(`door:${round}`, registers, 150)
  }

  get keys() {
    return this.#registers.keys
  }

  /** Runs one command of a client at a member. */
  async turn(client, index, chance) {
    const key = this.#registers.key(chance.between(0, registers - 1))
    const value = ++this.#version * step
    const [command, operation] = chance.pick([
      [["GET", key], { kind: "Get", value: 0 }],
      [["GET", key], { kind: "Get", value: 0 }],
      [["SET", key, `${value}`], { kind: "Put", value }],
      [["SET", key, `${value}`, "NX"], { kind: "CompareAndSet", value, expected: 0 }],
      [["INCR", key], { kind: "Increment", value: 0 }],
      [["INCR", key], { kind: "Increment", value: 0 }],
      [["DEL", key], { kind: "Put", value: 0 }],
    ])
    const answer = await this.#ask(client, index, command)
    this.#take(client, answer, { ...operation, key })
  }

  /** Reads a key; null when no answer came. */
  async read(client, index, key) {
    const answer = await this.#ask(client, index, ["GET", key])
    return this.#take(client, answer, { kind: "Get", value: 0, key })
  }

  close() {
    this.#connections.forEach(resp => resp.close())
  }

  #take(client, answer, operation) {
    const { reply } = answer
    if (operation.kind === "Get") {
      return reply === undefined || reply?.error !== undefined ? null : this.#done(client, answer, { ...operation, outcome: "Done", value: Number(reply ?? 0) })
    }

    const outcome = outcomeOf(answer)
    if (outcome === "Done") {
      const isRefused = operation.kind === "CompareAndSet" && reply === null
      return this.#done(client, answer, { ...operation, outcome: isRefused ? "Refused" : "Done", value: operation.kind === "Increment" ? reply : operation.value })
    }

    // What was refused without a look at the key only must never be read.
    return this.#done(client, answer, { ...operation, outcome, kind: outcome === "Refused" ? "Put" : operation.kind })
  }

  #done(client, answer, operation) {
    this.#registers.count(operation.key, operation.outcome)
    this.#record(client, answer, { ...operation, etag: noEtag })
    return operation
  }

  #ask(client, index, command) {
    return this.#requests.askRedis(index, command, async member => {
      const place = `${client} ${member.address}`
      let resp = this.#connections.get(place)
      if (resp === undefined || resp.isClosed) {
        resp = await this.#cluster.connectToRedis(member).catch(failure => {
          throw Object.assign(failure, { wasSent: false })
        })
        this.#connections.set(place, resp)
      }

      const [reply] = await within(resp, [command])
      return reply
    })
  }
}

/** Returns the outcome of a write. */
export function outcomeOf({ reply, wasSent }) {
  return reply !== undefined && reply?.error === undefined ? "Done"
    : !wasSent || /^(LOADING|CLUSTERDOWN) |Nothing was stored/.test(reply?.error ?? "") ? "Refused"
      : "Unknown"
}
