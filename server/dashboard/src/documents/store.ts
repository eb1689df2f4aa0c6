import { live } from "../shell/live"
import { ask, Refusal, send } from "../shell/request"
import { documentsOf, type StoredDocument } from "./document-text"

/** Returns the path of a route of a database. */
export function pathOf(database: string, rest: string, parameters: Record<string, string | number | undefined> = {}): string {
  // Not by URLSearchParams, which writes a space as +: in a parameter of a node a + is a plus sign.
  const query = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  )
  return `/databases/${encodeURIComponent(database)}/${rest}${query.length > 0 ? `?${query.join("&")}` : ""}`
}

/** Whether reads use this node's own state, because there is no leader. */
export function readsAreLocal(): boolean {
  return live.value?.Cluster?.ReadsAreLocal ?? false
}

/** Returns the path of a read. Without a leader it reads this node's own state, which the page's banner reports. */
export function readOf(database: string, rest: string, parameters: Record<string, string | number | undefined> = {}): string {
  return pathOf(database, rest, { ...parameters, consistency: readsAreLocal() ? "local" : undefined })
}

/** Returns the path of the list of databases. */
export function databasesPath(): string {
  return `/databases${readsAreLocal() ? "?consistency=local" : ""}`
}

export interface DatabaseList {
  Databases: { Name: string; DocumentsCount?: number }[]
}

export interface CollectionStatistics {
  CountOfDocuments: number
  Collections: Record<string, { Name: string; CountOfDocuments: number; Size: { SizeInBytes: number } }>
}

/** Fetches the current version of a document; null if there is none. */
export async function fetchDocument(database: string, id: string, signal?: AbortSignal): Promise<StoredDocument | null> {
  try {
    const response = await send(readOf(database, "docs", { id }), signal ? { signal } : {})
    return documentsOf(await response.text())[0] ?? null
  } catch (failure) {
    if (failure instanceof Refusal && failure.status === 404) return null
    throw failure
  }
}

/** Fetches documents, in the order of the ids. */
export async function fetchDocuments(database: string, ids: string[]): Promise<StoredDocument[]> {
  if (ids.length === 0) return []
  const response = await send(readOf(database, "docs"), { method: "POST", body: { Ids: ids } })
  return documentsOf(await response.text()).filter((document) => document !== null)
}

/** Returns the ids that exist as documents, in lower case, because ids are case-insensitive. */
export async function existing(database: string, ids: string[], signal: AbortSignal): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  // A single missing id gets 404, which browsers log as an error. So send the id twice.
  const { Results } = await ask<{ Results: ({ "@metadata": { "@id": string } } | null)[] }>(
    readOf(database, "docs", { metadataOnly: "true" }),
    { method: "POST", body: { Ids: ids.length === 1 ? [...ids, ...ids] : ids }, signal },
  )
  return new Set(Results.flatMap((result) => result?.["@metadata"]["@id"].toLowerCase() ?? []))
}

/** Condition of a write: an expected change vector, `""` if the document must not exist, `null` for no condition. */
export type Expected = string | null

const conditionOf = (expected: Expected): Record<string, string> => (expected === null ? {} : { "If-Match": `"${expected}"` })

export async function putDocument(
  database: string,
  id: string,
  text: string,
  expected: Expected,
): Promise<{ Id: string; ChangeVector: string }> {
  // Without an id the node generates one.
  return ask(pathOf(database, "docs", { id: id === "" ? undefined : id }), {
    method: "PUT",
    body: text,
    headers: { "Content-Type": "application/json", ...conditionOf(expected) },
  })
}

export async function deleteDocument(database: string, id: string, expected: Expected): Promise<void> {
  await send(pathOf(database, "docs", { id }), { method: "DELETE", headers: conditionOf(expected) })
}

/** Deletes all documents, or none if one of them has changed since it was read. */
export async function deleteDocuments(database: string, documents: StoredDocument[]): Promise<void> {
  await send(pathOf(database, "bulk_docs"), {
    method: "POST",
    body: { Commands: documents.map(({ id, changeVector }) => ({ Id: id, ChangeVector: changeVector, Type: "DELETE" })) },
  })
}

/** Whether a failed write may have changed something: the node or a proxy did not answer, or does not know. */
export function isOutcomeUnknown(failure: unknown): boolean {
  return !(failure instanceof Refusal) || [0, 500, 502, 504].includes(failure.status)
}

/** Stores deleted documents again, except those whose id exists, which the error says with `why`. */
export async function putBack(database: string, documents: StoredDocument[], why = "was written again meanwhile"): Promise<void> {
  const kept: string[] = []
  for (const { id, text } of documents) {
    try {
      await putDocument(database, id, text, "")
    } catch (failure) {
      if (failure instanceof Refusal && failure.status === 409) kept.push(id)
      else throw failure
    }
  }

  if (kept.length === 0) return
  const rest = kept.length > 1 ? ` and ${kept.length - 1} more` : ""
  throw new Error(`${kept[0]}${rest} ${why}, and stays as it is now.`)
}

export function isConflict(failure: unknown): boolean {
  return failure instanceof Refusal && failure.status === 409
}

/** Returns why a database name is invalid, by the node's rules; null if it is valid. */
export function databaseNameProblem(name: string): string | null {
  if (name === "") return null
  if (name.length > 128) return "A name has at most 128 characters."
  if (name.startsWith(".") || name.endsWith(".")) return "A name neither begins nor ends with a dot."
  const wrong = /[^\p{L}\p{Nd}_.-]/u.exec(name)?.[0]
  return wrong === undefined
    ? null
    : wrong === " "
      ? "A name has no spaces; use - or _."
      : `A name has letters, digits, _, - and dots only; '${wrong}' is none of them.`
}
