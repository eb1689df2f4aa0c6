import { readable } from "../documents/document-text"
import { looksLikeId } from "../documents/id-links"
import { compact, memberOf, type Node, stringOf } from "../documents/json-text"
import { figure } from "../shell/format"

/** A result of a query as a row of a table. */
export interface ResultRow {
  /** Id of the document that the result is or is projected from; null for groups. */
  id: string | null
  cells: Map<string, Cell>
}

export interface Cell {
  /** The displayed text: a string without its quotes, other values as written. */
  text: string
  kind: Node["kind"]
  /** The sort key. */
  order: string | number | null
  /** Id of the document that the value refers to. */
  link: string | null
}

export function rowsOf(answer: string, results: readonly Node[]): ResultRow[] {
  return results.map((result) => {
    const id = memberOf(memberOf(result, "@metadata"), "@id")
    const cells = new Map<string, Cell>()
    for (const member of result.members ?? []) {
      if (member.name !== "@metadata") cells.set(member.name, cellOf(answer, member.value))
    }

    return { id: id?.kind === "string" ? stringOf(answer, id) : null, cells }
  })
}

function cellOf(answer: string, node: Node): Cell {
  const written = node.kind === "string" ? stringOf(answer, node) : readable(compact(answer, node))
  const text = node.kind === "number" ? figure(written) : written
  const order = node.kind === "number" ? Number(text) : node.kind === "null" ? null : text.toLowerCase()
  return { text, kind: node.kind, order, link: node.kind === "string" && looksLikeId(text) ? text : null }
}

/**
 * Returns the columns of results. Columns that more rows have come first; equal ones are in order of first occurrence.
 */
export function columnsOf(rows: readonly ResultRow[]): string[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    for (const name of row.cells.keys()) counts.set(name, (counts.get(name) ?? 0) + 1)
  }

  return [...counts].sort((left, right) => right[1] - left[1]).map(([name]) => name)
}

const DeepestPath = 4
const MostFields = 200

/** Returns the paths of fields in documents, for completion: `address.city`, `lines[].product`. */
export function fieldsOf(results: readonly Node[]): string[] {
  const fields = new Set<string>()
  for (const result of results) collect(result, "", 1, fields)
  return [...fields]
}

function collect(node: Node, path: string, depth: number, fields: Set<string>): void {
  if (node.items) {
    for (const item of node.items.slice(0, 10)) {
      if (item.members) collect(item, `${path}[]`, depth, fields)
    }

    return
  }

  for (const member of node.members ?? []) {
    if (fields.size >= MostFields || member.name === "@metadata") continue
    const inner = path === "" ? member.name : `${path}.${member.name}`
    fields.add(inner)
    if (depth < DeepestPath) collect(member.value, inner, depth + 1, fields)
  }
}
