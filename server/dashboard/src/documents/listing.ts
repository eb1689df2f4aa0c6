import { nameInRql, textInRql } from "../query/rql-text"
import { Refusal, send } from "../shell/request"
import { documentOf, type StoredDocument } from "./document-text"
import { memberOf, type Node, parseJson } from "./json-text"
import { readOf } from "./store"

/** The filter of a list of documents. */
export interface Filter {
  /** Prefix of the ids. */
  prefix: string
  /** Conditions in RQL, as after `where`. */
  where: string
  /** The order. A list by id prefix only is always by id ({@link hasOrders}). */
  order: Order
}

/**
 * `newest`: by the time of the last change, newest first. `plain`: as the node stores them, by id or by creation.
 * Otherwise by a field of the documents of a collection, in RQL.
 */
export type Order = "newest" | "plain" | `by ${string}`

/** Returns the order by a field; null if RQL cannot name it. */
export function orderBy(path: readonly string[], isDescending: boolean): Order | null {
  const [only = ""] = path
  const isPlain = path.every((name) => /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && nameInRql(name) === name)
  if (path.length > 1 && !isPlain) return null
  return `by ${path.length > 1 ? path.join(".") : nameInRql(only)}${isDescending ? " desc" : ""} nulls last`
}

/** Says an order by a field in words. */
export function orderWords(order: Order): string {
  const [, field = "", descending] = /^by (.*?)( desc)? nulls last$/.exec(order) ?? []
  return `By ${field}, ${descending ? "largest" : "smallest"} first`
}

/**
 * Whether the user can choose the order. A list by id prefix only is by id. Other lists are read with a query, or
 * without a filter in the node's order of changes.
 */
export function hasOrders(collection: string | null, { prefix, where }: Pick<Filter, "prefix" | "where">): boolean {
  return collection !== null || where.trim() !== "" || prefix === ""
}

/** Where a page begins: after an id, or after a number of results. */
export interface Cursor {
  after: string
  start: number
}

export interface Page {
  documents: StoredDocument[]
  /** The answer, and the places of the documents in it. */
  answer: string
  nodes: Node[]
  /** Number of documents; null if the node does not count them. */
  total: number | null
  next: Cursor | null
}

export const FirstPage: Cursor = { after: "", start: 0 }

/** Returns the query that lists these documents; null if they are listed by id prefix, without a query. */
export function queryOf(collection: string | null, { prefix, where, order }: Filter): string | null {
  if (collection === null && where.trim() === "") return null
  const conditions = [
    ...(prefix === "" ? [] : [`startsWith(id(), ${textInRql(prefix)})`]),
    ...(where.trim() === "" ? [] : [prefix === "" ? where.trim() : `(${where.trim()})`]),
  ]
  return `from ${collection === null ? "@all_docs" : nameInRql(collection)}${conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`}${orderClause(collection, order)}`
}

function orderClause(collection: string | null, order: Order): string {
  if (order === "newest") return " order by @metadata.@last-modified desc"
  return order === "plain" || collection === null ? "" : ` order ${order}`
}

/** Returns the page size: smaller for large documents, so that a page has a few megabytes. */
export function pageSizeFor(documents: number, bytes: number): number {
  const mean = documents > 0 ? bytes / documents : 0
  return Math.max(5, Math.min(50, Math.floor((4 << 20) / Math.max(mean, 1))))
}

const PatienceMilliseconds = 5000

/** Requests a page. After a change by the user, waits for the index, so that the page shows the change. */
async function askPage(database: string, body: object, signal: AbortSignal, isAfterChange: boolean): Promise<Response> {
  const ask = (wait: object) => send(readOf(database, "queries"), { method: "POST", body: { ...body, ...wait }, signal })
  if (!isAfterChange) return ask({})
  try {
    return await ask({ WaitForNonStaleResults: true, WaitForNonStaleResultsTimeout: PatienceMilliseconds })
  } catch (failure) {
    if (failure instanceof Refusal && failure.status === 500) return ask({})
    throw failure
  }
}

export async function readPage(
  database: string,
  collection: string | null,
  filter: Filter,
  cursor: Cursor,
  size: number,
  signal: AbortSignal,
  isAfterChange = false,
): Promise<Page> {
  const query = queryOf(collection, filter)
  // Without a prefix the node lists all documents, the newest first.
  const isNewest = filter.order === "newest" && filter.prefix === ""
  const answer = await (
    await (query === null
      ? send(
          readOf(
            database,
            "docs",
            isNewest
              ? { start: cursor.start, pageSize: size + 1 }
              : {
                  startsWith: filter.prefix,
                  pageSize: size + 1,
                  startAfter: cursor.after === "" ? undefined : cursor.after,
                },
          ),
          { signal },
        )
      : askPage(database, { Query: query, Start: cursor.start, PageSize: size }, signal, isAfterChange))
  ).text()
  const { node } = parseJson(answer)
  const nodes = (memberOf(node ?? undefined, "Results")?.items ?? []).filter((result) => result.kind === "object")
  const found = nodes.map((result) => documentOf(answer, result))
  if (query === null) {
    const documents = found.slice(0, size)
    return {
      documents,
      answer,
      nodes,
      total: null,
      next: found.length > size ? { after: documents.at(-1)?.id ?? "", start: cursor.start + size } : null,
    }
  }

  const counted = memberOf(node ?? undefined, "TotalResults")
  const total = counted ? Number(answer.slice(counted.start, counted.end)) : null
  const start = cursor.start + size
  return { documents: found, answer, nodes, total, next: total !== null && start < total ? { after: "", start } : null }
}
