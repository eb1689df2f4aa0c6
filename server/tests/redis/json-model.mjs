// The commands on JSON, on values of JavaScript: redis-server has no such commands that could be the oracle.
import { generator } from "./random-commands.mjs"

const names = ["a", "a", "b", "b", "l", "l", "Json", "h i", "@metadata", "caf\xc3\xa9"]
const values = [
  "1", "-3", "2.5", "\"x\"", "true", "null", "{}", "[]", " [ 1 , \"b\" ] ", "{\"a\":{\"b\":[1,2]},\"l\":[1,\"x\",{\"a\":3}]}",
  "{\"Json\":1}", "{\"Json\":{\"Json\":2}}", "{\"Value\":\"v\"}", "{\"List\":[\"q\"],\"a\":7}", "{\"@metadata\":{\"a\":1}}", "\"caf\xc3\xa9\"",
]
const invalid = ["", "{", "{\"a\":1,\"a\":2}", "01", "1 2", "\"\xff\""]
const unservedPaths = ["$..a", "$.*", "$.l[*]", "$.l[0:1]", "$.a[", "$x"]

const filled = ["{\"a\":{\"b\":[1,2,{\"a\":-1}],\"l\":0},\"l\":[1,\"x\",{\"a\":3}],\"b\":4}", "[{\"a\":1},[2,[3]]]", "7"]

/** A sequence of at most 12 commands on JSON, the first of which stores a value. */
export function jsonSequence(seed) {
  const random = generator(seed)
  const key = () => random.of(["j", "j", "j", "k", "S"])
  const value = () => random.of(random.below(8) === 0 ? invalid : values)
  const path = () => random.below(20) === 0 ? random.of(unservedPaths) : pathOf(random)
  const forms = [
    () => ["JSON.SET", key(), random.of(["$", "."]), value()],
    () => ["JSON.SET", key(), path(), value()],
    () => ["JSON.SET", key(), path(), value(), random.of(["NX", "XX", "xx", "BAD"])],
    () => ["JSON.GET", key()],
    () => ["JSON.GET", key(), path()],
    () => ["JSON.GET", key(), path(), path()],
    () => ["JSON.MGET", key(), key(), path()],
    () => [random.of(["JSON.DEL", "JSON.FORGET"]), key(), ...random.of([[], [path()], [path()]])],
    () => ["JSON.TYPE", key(), ...random.of([[], [path()], [path()]])],
    () => ["JSON.NUMINCRBY", key(), path(), random.of(["1", "-2", "0.5", "x"])],
    () => ["JSON.NUMINCRBY", key(), path(), random.of(["1", "-2", "0.5", "x"])],
    () => random.of([["SET", random.of(["k", "S"]), "text"], ["DEL", key()], ["EXISTS", key()], ["TYPE", key()]]),
  ]
  return [["JSON.SET", "j", "$", random.of(filled)], ...Array.from({ length: 1 + random.below(11) }, () => random.of(forms)())]
}

function pathOf(random) {
  const steps = Array.from({ length: random.below(4) }, () => random.of(["name", "name", "index"]))
  const isList = random.below(3) > 0
  const text = steps.map(step => {
    const name = random.of(names)
    return step === "index" ? `[${random.of(["0", "1", "-1", "-5", "9"])}]`
      : /^[a-zA-Z]+$/.test(name) && random.below(3) > 0 ? `.${name}` : `["${name}"]`
  }).join("")
  return isList ? `$${text}` : text === "" ? "." : text
}

/** The steps of a path: names and indexes; null if it is not served. */
function stepsOf(path) {
  const isList = path.startsWith("$")
  if (unservedPaths.includes(path)) {
    return null
  }

  const steps = [...path.matchAll(/\["([^"]*)"\]|\[(-?\d+)\]|\.?([a-zA-Z]+)/g)].map(([, quoted, index, plain]) => index === undefined ? quoted ?? plain : Number(index))
  return { isList, steps }
}

const failed = { error: "ERR" }
const wrongType = { error: "WRONGTYPE" }
const ok = { simple: "OK" }
const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value)

/** Keys with values of JSON or strings. */
export class JsonModel {
  #values = new Map()

  /** Returns the reply of a command, an error only with its first word. */
  run([command, key, ...rest]) {
    const stored = this.#values.get(key)
    if (command === "SET") {
      this.#values.set(key, { text: true })
      return ok
    }

    if (command === "DEL" || command === "EXISTS") {
      const isThere = stored !== undefined
      return command === "DEL" ? Number(this.#values.delete(key)) : Number(isThere)
    }

    if (command === "TYPE") {
      return { simple: stored === undefined ? "none" : stored.text ? "string" : "ReJSON-RL" }
    }

    return command === "JSON.MGET" ? this.#getMany([key, ...rest]) : this.#run(command, key, stored, rest)
  }

  #getMany(words) {
    const path = stepsOf(words.at(-1))
    return path === null ? failed : words.slice(0, -1).map(key => {
      const stored = this.#values.get(key)
      if (stored === undefined || stored.text) {
        return null
      }

      const found = find(stored, path.steps)
      return found === undefined ? path.isList ? "[]" : null : shown(found.value, path)
    })
  }

  #run(command, key, stored, rest) {
    switch (command) {
      case "JSON.SET": return this.#set(key, stored, rest)
      case "JSON.GET": return get(stored, rest.length === 0 ? ["."] : rest)
      case "JSON.NUMINCRBY": return increment(stored, rest)
      default: {
        const path = stepsOf(rest[0] ?? ".")
        if (path === null) {
          return failed
        }

        if (stored?.text) {
          return wrongType
        }

        const found = stored && find(stored, path.steps)
        return command === "JSON.TYPE" ? typeReply(stored, found, path) : this.#delete(key, found)
      }
    }
  }

  #set(key, stored, [text, json, option]) {
    const path = stepsOf(text)
    const word = option?.toUpperCase()
    if ((word !== undefined && word !== "NX" && word !== "XX") || path === null || invalid.includes(json)) {
      return failed
    }

    const isRoot = path.steps.length === 0
    if (stored === undefined && !isRoot) {
      return failed
    }

    if (stored?.text) {
      return wrongType
    }

    const found = stored && find(stored, path.steps)
    const parent = stored && find(stored, path.steps.slice(0, -1))?.value
    const canBeAdded = isRoot || (isObject(parent) && typeof path.steps.at(-1) === "string")
    if (found ? word === "NX" : word === "XX" || !canBeAdded) {
      return null
    }

    const value = JSON.parse(json)
    if (isRoot) {
      this.#values.set(key, { root: value })
    } else if (found) {
      found.put(value)
    } else {
      parent[path.steps.at(-1)] = value
    }

    return ok
  }

  #delete(key, found) {
    if (found === undefined) {
      return 0
    }

    if (found.remove === undefined) {
      this.#values.delete(key)
    } else {
      found.remove()
    }

    return 1
  }
}

/** Finds the place of a path, with functions that change it. */
function find(stored, steps) {
  let place = { value: stored.root, put: value => { stored.root = value } }
  for (const step of steps) {
    const container = place.value
    const at = typeof step === "number" && step < 0 && Array.isArray(container) ? container.length + step : step
    const isThere = typeof step === "number" ? Array.isArray(container) && at >= 0 && at < container.length : isObject(container) && Object.hasOwn(container, at)
    if (!isThere) {
      return undefined
    }

    place = {
      value: container[at],
      put: value => { container[at] = value },
      remove: () => Array.isArray(container) ? container.splice(at, 1) : delete container[at],
    }
  }

  return place
}

const shown = (value, { isList }) => isList ? `[${JSON.stringify(value)}]` : JSON.stringify(value)

function get(stored, texts) {
  if (stored === undefined) {
    return null
  }

  if (stored.text) {
    return wrongType
  }

  const parts = texts.map(text => {
    const path = stepsOf(text)
    const found = path === null ? undefined : find(stored, path.steps)
    return found !== undefined ? shown(found.value, path) : path?.isList ? "[]" : null
  })
  if (parts.includes(null)) {
    return failed
  }

  return texts.length === 1 ? parts[0] : `{${texts.map((text, at) => `${JSON.stringify(text)}:${parts[at]}`).join()}}`
}

function increment(stored, [text, by]) {
  const path = stepsOf(text)
  if (path === null || by === "x") {
    return failed
  }

  if (stored?.text) {
    return wrongType
  }

  const found = stored && find(stored, path.steps)
  if (typeof found?.value !== "number") {
    return stored === undefined || !path.isList ? failed : found ? "[null]" : "[]"
  }

  found.put(found.value + Number(by))
  return shown(found.value + Number(by), path)
}

function typeReply(stored, found, { isList }) {
  const name = found && typeName(found.value)
  return isList && stored ? found ? [name] : [] : name ?? null
}

const typeName = value => value === null ? "null"
  : Array.isArray(value) ? "array"
    : typeof value === "number" ? Number.isInteger(value) ? "integer" : "number"
      : typeof value
