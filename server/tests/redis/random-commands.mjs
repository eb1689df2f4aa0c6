// Random sequences of the served data commands. The same seed makes the same sequence.

/** A generator of random numbers (mulberry32). */
export function generator(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  return { below: count => Math.floor(next() * count), of: items => items[Math.floor(next() * items.length)] }
}

const values = ["", "a", "on", "Hello", "10", "-3", "0", "007", "3.5", "1e3", "9223372036854775807", "-9223372036854775808", "abc def", "\r\n", "\0", "\xff\xfe", "caf\xc3\xa9", "x".repeat(100)]
const fields = ["f", "F", "g", "", "@metadata", "Value", "h i", "\xff"]
const numbers = ["0", "1", "-1", "2", "5", "-100", "100", "x", "", "1.5", "9223372036854775807"]
const floats = ["0", "1.5", "-2.25", "10", "x", "3e2", "0x10", "-0x.8p1"]
const patterns = ["*", "a", "?", "[aA]", "[^a]", "[a-c]*", "*:*", "c\\:d", "~*", "\xff*", "", "**d"]

/** All keys. */
export const keys = ["a", "b", "B", "c:d", "A", "\xff\x00k", "~x", "caf\xc3\xa9", "e/"]

const pieces = random => ({
  key: () => random.of(keys),
  pattern: () => random.of(patterns),
  value: () => random.of(values),
  field: () => random.of(fields),
  number: () => random.of(numbers),
  float: () => random.of(floats),
  seconds: () => random.of(["100", "1000", "0", "-1", "x"]),
})

const some = (random, least, most, make) => Array.from({ length: least + random.below(most - least + 1) }, make).flat()

/** The forms of commands; each function returns one command. */
const forms = [
  (r, p) => ["SET", p.key(), p.value()],
  (r, p) => ["SET", p.key(), p.value(), ...r.of([["NX"], ["XX"], ["GET"], ["KEEPTTL"], ["EX", p.seconds()], ["PX", "100000"], ["NX", "GET"], ["NX", "XX"], ["EX", "10", "KEEPTTL"], ["BAD"]])],
  (r, p) => ["GET", p.key()],
  (r, p) => ["GET", p.key()],
  (r, p) => ["SETNX", p.key(), p.value()],
  (r, p) => ["SETEX", p.key(), p.seconds(), p.value()],
  (r, p) => ["MGET", ...some(r, 1, 3, p.key)],
  (r, p) => ["MSET", ...some(r, 1, 3, () => [p.key(), p.value()])],
  (r, p) => ["MSETNX", ...some(r, 1, 2, () => [p.key(), p.value()])],
  (r, p) => ["GETSET", p.key(), p.value()],
  (r, p) => ["GETDEL", p.key()],
  (r, p) => ["GETEX", p.key(), ...r.of([[], ["EX", p.seconds()], ["PERSIST"], ["BAD"]])],
  (r, p) => ["APPEND", p.key(), p.value()],
  (r, p) => ["STRLEN", p.key()],
  (r, p) => ["GETRANGE", p.key(), p.number(), p.number()],
  (r, p) => ["SETRANGE", p.key(), r.of(["0", "1", "5", "-1", "x"]), p.value()],
  (r, p) => [r.of(["INCR", "DECR"]), p.key()],
  (r, p) => [r.of(["INCRBY", "DECRBY"]), p.key(), p.number()],
  (r, p) => ["INCRBYFLOAT", p.key(), p.float()],
  (r, p) => [r.of(["DEL", "UNLINK", "EXISTS", "TOUCH"]), ...some(r, 1, 3, p.key)],
  (r, p) => ["TYPE", p.key()],
  (r, p) => [r.of(["RENAME", "RENAMENX"]), p.key(), p.key()],
  (r, p) => [r.of(["EXPIRE", "PEXPIRE"]), p.key(), r.of(["100000", "-1", "0", "x"])],
  (r, p) => ["EXPIREAT", p.key(), r.of(["1", "4102444800", "x"])],
  (r, p) => [r.of(["TTL", "PERSIST"]), p.key()],
  (r, p) => ["HSET", p.key(), ...some(r, 1, 3, () => [p.field(), p.value()])],
  (r, p) => ["HSETNX", p.key(), p.field(), p.value()],
  (r, p) => ["HGET", p.key(), p.field()],
  (r, p) => ["HMGET", p.key(), ...some(r, 1, 3, p.field)],
  (r, p) => [r.of(["HGETALL", "HKEYS", "HVALS", "HLEN"]), p.key()],
  (r, p) => ["HDEL", p.key(), ...some(r, 1, 2, p.field)],
  (r, p) => ["HEXISTS", p.key(), p.field()],
  (r, p) => ["HINCRBY", p.key(), p.field(), p.number()],
  (r, p) => ["HINCRBYFLOAT", p.key(), p.field(), p.float()],
  (r, p) => [r.of(["SADD", "SREM"]), p.key(), ...some(r, 1, 3, p.value)],
  (r, p) => [r.of(["SMEMBERS", "SCARD"]), p.key()],
  (r, p) => ["SISMEMBER", p.key(), p.value()],
  (r, p) => [r.of(["LPUSH", "RPUSH"]), p.key(), ...some(r, 1, 3, p.value)],
  (r, p) => [r.of(["LPOP", "RPOP"]), p.key(), ...r.of([[], [], ["2"], ["0"], ["-1"], ["x"]])],
  (r, p) => ["LLEN", p.key()],
  (r, p) => ["LRANGE", p.key(), p.number(), p.number()],
  (r, p) => ["LINDEX", p.key(), p.number()],
  (r, p) => ["LSET", p.key(), r.of(["0", "1", "-1", "9", "x"]), p.value()],
  (r, p) => ["LREM", p.key(), r.of(["0", "1", "-1", "2", "x"]), p.value()],
  (r, p) => ["LTRIM", p.key(), p.number(), p.number()],
  (r, p) => [r.of(["LPUSHX", "RPUSHX"]), p.key(), ...some(r, 1, 2, p.value)],
  (r, p) => ["LINSERT", p.key(), r.of(["BEFORE", "after", "x"]), p.value(), p.value()],
  (r, p) => {
    const options = () => r.of([["RANK", p.number()], ["COUNT", p.number()], ["MAXLEN", p.number()], ["BAD"]])
    return ["LPOS", p.key(), p.value(), ...some(r, 0, 3, options)]
  },
  (r, p) => ["LMOVE", p.key(), p.key(), r.of(["LEFT", "right"]), r.of(["LEFT", "RIGHT", "x"])],
  (r, p) => ["RPOPLPUSH", p.key(), p.key()],
  (r, p) => [r.of(["SINTER", "SUNION", "SDIFF"]), ...some(r, 1, 3, p.key)],
  (r, p) => [r.of(["SINTERSTORE", "SUNIONSTORE", "SDIFFSTORE"]), ...some(r, 2, 4, p.key)],
  (r, p) => ["SMOVE", p.key(), p.key(), p.value()],
  (r, p) => [r.of(["SRANDMEMBER", "SPOP"]), p.key(), r.of(["0", "100", "x"])],
  (r, p) => ["SRANDMEMBER", p.key(), ...r.of([[], ["2"], ["-3"], ["1", "2"]])],
  (r, p) => ["COPY", p.key(), p.key(), ...r.of([[], [], ["REPLACE"], ["DB", "0"], ["DB", "x"], ["BAD"]])],
  (r, p) => ["OBJECT", "FREQ", p.key()],
  (r, p) => ["SMISMEMBER", p.key(), ...some(r, 1, 3, p.value)],
  (r, p) => ["HSTRLEN", p.key(), p.field()],
  (r, p) => ["HMSET", p.key(), ...some(r, 1, 2, () => [p.field(), p.value()])],
  (r, p) => ["PSETEX", p.key(), r.of(["100000", "0", "-1", "x"]), p.value()],
  (r, p) => ["SUBSTR", p.key(), p.number(), p.number()],
  (r, p) => ["PEXPIREAT", p.key(), r.of(["1", "4102444800000", "x"])],
  r => [r.of(["GET", "SET", "HSET", "MSET", "NOSUCH", "INCR"])],
  (r, p) => ["KEYS", p.pattern()],
  (r, p) => ["SCAN", "0", "COUNT", "1000", ...r.of([[], ["MATCH", p.pattern()], ["TYPE", r.of(["string", "hash", "list", "set", "zset"])]])],
  r => ["SCAN", ...r.of([["x"], ["0", "COUNT", "0"], ["0", "COUNT", "x"], ["0", "MATCH"], ["0", "BAD", "1"]])],
]

/** These walk over all keys, and are refused in transactions. */
const walks = new Set(["KEYS", "SCAN"])

/** These wait for another client, unless they are in a transaction. */
const queuedForms = [
  (r, p) => [r.of(["BLPOP", "BRPOP"]), ...some(r, 1, 3, p.key), r.of(["0", "0.5", "-1", "x"])],
]

/** A sequence of at most 12 commands, some of them within MULTI and EXEC. */
export function sequence(seed) {
  const random = generator(seed)
  const make = pieces(random)
  const commands = Array.from({ length: 1 + random.below(12) }, () => random.of(forms)(random, make))
  if (random.below(4) > 0) {
    return commands
  }

  const first = random.below(commands.length)
  const queued = commands.splice(first).filter(([name]) => !walks.has(name))
  queued.splice(random.below(queued.length + 1), 0, random.of(queuedForms)(random, make))
  return [...commands, ["MULTI"], ...queued, [random.of(["EXEC", "EXEC", "DISCARD"])]]
}

const unordered = new Set(["SMEMBERS", "SINTER", "SUNION", "SDIFF", "SPOP", "HKEYS", "HVALS", "KEYS"])

/** A reply in the form in which both servers must agree: sets and hashes have no order, and a time to live may pass a second. */
export function comparable([name, , count], reply) {
  if (Array.isArray(reply) && unordered.has(name)) {
    return [...reply].sort()
  }

  if (name === "SRANDMEMBER" && typeof reply === "string") {
    return "a member"
  }

  if (name === "SRANDMEMBER" && Array.isArray(reply)) {
    return count === "100" ? [...reply].sort() : reply.length
  }

  if (Array.isArray(reply) && name === "SCAN") {
    return [reply[0], [...reply[1]].sort()]
  }

  if (Array.isArray(reply) && name === "HGETALL") {
    return reply.flatMap((field, at) => at % 2 === 0 ? [[field, reply[at + 1]]] : []).sort()
  }

  return name === "TTL" && reply > 0 ? Math.round(reply / 1000) : reply
}
