/** Parses "shop:rw, birds" to `{ shop: "rw", birds: "ro" }`. Does not validate: the node refuses invalid rights. */
export function rightsOf(text: string): Record<string, string> {
  return Object.fromEntries(
    text
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean)
      .map((one) => {
        const at = one.lastIndexOf(":")
        return at < 0 ? [one, "ro"] : [one.slice(0, at).trim(), one.slice(at + 1).trim()]
      }),
  )
}
