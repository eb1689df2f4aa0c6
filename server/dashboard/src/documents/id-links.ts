import { type Node, parseJson, stringOf } from "./json-text"

/** A value in a document that may be the id of another document. */
export interface IdLink {
  /** Path of the value: `lines[0].product`. */
  path: string
  id: string
}

// Matches `users/1-A`, `orders/2026/11/7` and `products/rook`: a word, a slash, and no space. Excludes dates, media
// types and paths of URLs.
const IdShape = /^(?!\d+\/)(?!(?:text|image|audio|video|application|font)\/)[\p{L}_$@][\p{L}\p{N}_$@.-]*(?:\/[\p{L}\p{N}_$@.:|~+-]+)+$/u
const LongestId = 512

export function looksLikeId(value: string): boolean {
  return value.length <= LongestId && IdShape.test(value)
}

/** Returns the values of a document that look like ids, each once, in order. Ignores `@metadata`. */
export function linksOf(text: string, most = 50): IdLink[] {
  const { node } = parseJson(text)
  const links = new Map<string, IdLink>()
  if (node) collect(text, node, "", links, most)
  return [...links.values()]
}

function collect(text: string, node: Node, path: string, links: Map<string, IdLink>, most: number): void {
  if (links.size >= most) return
  if (node.kind === "string") {
    const id = stringOf(text, node)
    if (looksLikeId(id) && !links.has(id.toLowerCase())) links.set(id.toLowerCase(), { path, id })
    return
  }

  for (const member of node.members ?? []) {
    if (path === "" && member.name === "@metadata") continue
    collect(text, member.value, path === "" ? member.name : `${path}.${member.name}`, links, most)
  }

  node.items?.forEach((item, at) => collect(text, item, `${path}[${at}]`, links, most))
}
