/**
 * Parses "shop:rw, birds" to `{ shop: "rw", birds: "ro" }`. The node refuses invalid rights, but would not see that a
 * database is named twice, so this throws an error then.
 */
export function rightsOf(text: string): Record<string, string> {
  const rights = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part): [string, string] => {
      const at = part.lastIndexOf(":")
      return at < 0 ? [part, "ro"] : [part.slice(0, at).trim(), part.slice(at + 1).trim()]
    })
  const names = rights.map(([name]) => name.toLowerCase())
  const twice = rights.find((_, at) => names.indexOf(names[at] ?? "") < at)
  if (twice) throw new Error(`The database ${twice[0]} is named twice. Name it once, with its right.`)
  return Object.fromEntries(rights)
}

/**
 * The scopes of a token that its databases limit, and the others. Databases limit `read` and `write` only, and nothing
 * beside `admin`, which allows everything: an earlier version stored them beside it too.
 */
export function scopesOf({ Scopes, Databases }: { Scopes: string[]; Databases: string[] | null }) {
  const isLimited = Databases !== null && !Scopes.includes("admin")
  const limited = Scopes.filter((scope) => isLimited && (scope === "read" || scope === "write"))
  return { limited, unlimited: Scopes.filter((scope) => !limited.includes(scope)) }
}
