/** A query that was run in this browser. */
export interface PastQuery {
  text: string
  parameters: string
  /** Milliseconds since 1970. */
  at: number
  milliseconds: number | null
  total: number | null
  index: string | null
}

const MostKept = 50
const LongestKept = 20_000

/** The part of localStorage that is used. It may be full, or forbidden. */
export interface Store {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
}

const keyOf = (database: string) => `rookery.queries.${database.toLowerCase()}`

export function readHistory(store: Store, database: string): PastQuery[] {
  try {
    const read = JSON.parse(store.getItem(keyOf(database)) ?? "[]") as unknown
    return Array.isArray(read) ? read.filter((one): one is PastQuery => typeof (one as PastQuery | null)?.text === "string") : []
  } catch {
    return []
  }
}

/** Adds a query to the history as the newest. An equal earlier one is removed. */
export function remember(store: Store, database: string, query: PastQuery): PastQuery[] {
  const others = readHistory(store, database).filter((one) => one.text !== query.text || one.parameters !== query.parameters)
  const kept = query.text.length > LongestKept ? others : [query, ...others].slice(0, MostKept)
  write(store, database, kept)
  return kept
}

export function forgetHistory(store: Store, database: string): void {
  write(store, database, [])
}

function write(store: Store, database: string, queries: PastQuery[]): void {
  try {
    store.setItem(keyOf(database), JSON.stringify(queries))
  } catch {
    // The storage is full or forbidden. The page works without a history.
  }
}
