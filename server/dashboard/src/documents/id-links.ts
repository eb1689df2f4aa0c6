import { type Node, parseJson, stringOf } from "./json-text"

/** A value of a document that may be the id of another one. */
export interface IdLink {
  /** Where it stands: `lines[0].product`. */
  path: string
  id: string
}

// `users/1-A`, `orders/2026/11/7`, `products/rook`: a word, a slash, and no space anywhere. Not a date, a media type or the path of a URL.
const IdShape = /^(?!\d+\/)(?!(?:text|image|audio|video|application|font)\/)[\p{L}_$@][\p{L}\p{N}_$@.-]*(?:\/[\p{L}\p{N}_$@.:|~+-]+)+$/u
const LongestId = 512

export function looksLikeId(value: string): boolean {
  return value.length <= LongestId && IdShape.test(value)
}

/** What looks like ids in a document, each once, in its order; those of `@metadata` are none. */
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
