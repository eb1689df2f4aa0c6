import { figure } from "../shell/format"
import { readable } from "./document-text"
import { looksLikeId } from "./id-links"
import { compact, memberOf, type Node, stringOf } from "./json-text"

const MostFields = 60

/** Names of a field, from the outermost: `address`, `city`. */
export type Path = readonly string[]

/** Writes a path for people and as a key. */
export const pathText = (path: Path): string => path.join(".")

/**
 * Returns the fields that documents of a page have, and those of objects in them, as columns to choose. Fields that more
 * documents have come first.
 */
export function fieldsOf(documents: readonly Node[]): Path[] {
  const counts = new Map<string, { path: Path; count: number }>()
  const add = (path: Path) => {
    const known = counts.get(JSON.stringify(path))
    if (known) known.count++
    else counts.set(JSON.stringify(path), { path, count: 1 })
  }
  for (const document of documents) {
    for (const { name, value } of document.members ?? []) {
      if (name === "@metadata") continue
      if (value.members && value.members.length > 0) for (const inner of value.members) add([name, inner.name])
      else add([name])
    }
  }

  return [...counts.values()]
    .sort((left, right) => right.count - left.count)
    .slice(0, MostFields)
    .map(({ path }) => path)
}

/** The value of a field of a document, for a cell. */
export interface FieldCell {
  text: string
  isNumber: boolean
  /** Id of the document that the value refers to. */
  link: string | null
}

const LongestText = 120

/** Returns the value of a field; null if the document does not have it. */
export function cellAt(answer: string, document: Node, path: Path): FieldCell | null {
  let node: Node | undefined = document
  for (const name of path) node = memberOf(node, name)
  if (!node || node.kind === "null") return null
  if (node.items) return { text: `[${node.items.length}]`, isNumber: false, link: null }
  const written = node.kind === "string" ? stringOf(answer, node) : readable(compact(answer, node))
  const text = node.kind === "number" ? figure(written) : written
  const isCut = text.length > LongestText
  return {
    text: isCut ? `${text.slice(0, LongestText).replace(/[\ud800-\udbff]$/, "")}…` : text,
    isNumber: node.kind === "number",
    link: node.kind === "string" && !isCut && looksLikeId(text) ? text : null,
  }
}

type Memory = Pick<Storage, "getItem" | "setItem">

const keyOf = (database: string, collection: string) => `rookery.columns ${JSON.stringify([database, collection.toLowerCase()])}`

/** Returns the fields that were chosen last as columns of a collection. */
export function columnsOf(storage: Memory, database: string, collection: string): Path[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(keyOf(database, collection)) ?? "[]")
    const isPath = (one: unknown): one is Path => Array.isArray(one) && one.length > 0 && one.every((name) => typeof name === "string")
    return Array.isArray(stored) ? stored.filter(isPath).slice(0, MostFields) : []
  } catch {
    return []
  }
}

export function rememberColumns(storage: Memory, database: string, collection: string, columns: readonly Path[]): void {
  storage.setItem(keyOf(database, collection), JSON.stringify(columns))
}
