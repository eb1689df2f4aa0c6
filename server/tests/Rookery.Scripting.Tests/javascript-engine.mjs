// Runs scripts in Node's own engine. Reads a JSON array of [kind, text, document] from standard input and prints an
// array of the same length: the JSON that each script leaves, or null where the engine throws.
import { readFileSync } from "node:fs"

/** The text of a value as a document stores it: undefined is null where it stands alone. */
const stored = (value) => JSON.stringify(value) ?? "null"

const run = (kind, text, document) => {
  try {
    if (kind === "expression") {
      return stored(new Function("u", `return (${text})`)(document))
    }
    new Function(text).call(document)
    return stored(document)
  } catch {
    return null
  }
}

const scripts = JSON.parse(readFileSync(0, "utf8"))
const results = scripts.map(([kind, text, document]) => run(kind, text, JSON.parse(document)))
process.stdout.write(JSON.stringify(results))
